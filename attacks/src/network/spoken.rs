//! What is said on a connection, where it is not what was dialled.

use super::{
    names::address_of,
    reach::{answer, converse, dial, say},
};
use crate::{Words, answer::tell};

/// `HOST PORT NAME`: dials one and greets another.
pub(crate) fn another_name(words: Words<'_>) {
    let [host, port, name] = words else { return };
    let Ok(port) = port.parse() else { return };
    tell("tls", say(host, port, &client_hello(Some(name))));
    let request = format!("GET / HTTP/1.1\r\nHost: {name}\r\n\r\n");
    tell("http", say(host, port, request.as_bytes()));
}

/// `HOST PORT`: whatever is not a greeting with a name.
pub(crate) fn not_tls(words: Words<'_>) {
    let [host, port] = words else { return };
    let Ok(port) = port.parse() else { return };
    tell("no_name", say(host, port, &client_hello(None)));
    tell("plain", say(host, port, b"EHLO evil.test\r\n"));
    tell("http", say(host, port, format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()));
}

/// `HOST PORT`: requests that two readers would read differently, and names that are none.
pub(crate) fn malformed(words: Words<'_>) {
    let [host, port] = words else { return };
    let Ok(port) = port.parse::<u16>() else { return };
    let own = format!("{host}:{port}");
    let long = "a".repeat(70_000);
    for (label, head) in [
        ("two_hosts", format!("Host: {own}\r\nHost: evil.test\r\n")),
        ("carriage_return", format!("Host: {own}\rX: y\r\n")),
        ("nul", format!("Host: {host}\0.evil.test\r\n")),
        ("oversized", format!("Host: {long}\r\n")),
    ] {
        let request = format!("GET / HTTP/1.1\r\n{head}\r\n");
        let said = address_of(host).map(|address| {
            dial(address, port).and_then(|stream| converse(stream, request.as_bytes()))
        });
        tell(label, said.map_or_else(|| "no_name".to_owned(), answer));
    }
    for (label, name) in [
        ("nul_in_name", "near\0.test".to_owned()),
        ("long_name", format!("{}.test", "b".repeat(200))),
    ] {
        tell(
            label,
            match address_of(&name) {
                Some(_) => "found",
                None => "no_name",
            },
        );
    }
}

/// A greeting of TLS, with or without the name of a server.
fn client_hello(name: Option<&str>) -> Vec<u8> {
    let prefixed = |bytes: &[u8]| [&(bytes.len() as u16).to_be_bytes()[..], bytes].concat();
    let mut extensions = Vec::new();
    if let Some(name) = name {
        let entry = [&[0][..], &prefixed(name.as_bytes())].concat();
        extensions = [&[0, 0][..], &prefixed(&prefixed(&entry))].concat();
    }
    extensions.extend([&[0, 10][..], &prefixed(&prefixed(&[0, 29, 0, 23]))].concat());
    let suites = prefixed(&[0xc0, 0x2b, 0xc0, 0x2f]);
    let body = [&[3, 3][..], &[7; 32], &[0], &suites, &[1, 0], &prefixed(&extensions)].concat();
    let handshake = [&[1, 0][..], &prefixed(&body)].concat();
    [&[22, 3, 1][..], &prefixed(&handshake)].concat()
}
