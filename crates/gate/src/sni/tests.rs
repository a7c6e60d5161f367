//! Greetings, whole, in pieces and broken.

use proptest::prelude::*;

use super::*;

/// A greeting with these server names, in records of at most this size.
fn hello_bytes(names: &[&str], record: usize) -> Vec<u8> {
    let mut extensions = vec![0, 10, 0, 4, 0, 2, 0, 29];
    for name in names {
        let size = name.len() as u16;
        extensions.extend([0, 0]);
        extensions.extend((size + 5).to_be_bytes());
        extensions.extend((size + 3).to_be_bytes());
        extensions.push(0);
        extensions.extend(size.to_be_bytes());
        extensions.extend(name.as_bytes());
    }
    let mut body = vec![3, 3];
    body.extend([7; 32]);
    body.extend([0, 0, 2, 0x13, 1, 1, 0]);
    body.extend((extensions.len() as u16).to_be_bytes());
    body.extend(extensions);
    let mut message = vec![1];
    message.extend(&(body.len() as u32).to_be_bytes()[1..]);
    message.extend(body);
    let mut out = Vec::new();
    for piece in message.chunks(record) {
        out.extend([22, 3, 1]);
        out.extend((piece.len() as u16).to_be_bytes());
        out.extend(piece);
    }
    out
}

fn named(name: &str) -> Greeting {
    Greeting::Hello { sni: Some(name.into()) }
}

#[test]
fn the_name_is_found() {
    assert_eq!(greeting(&hello_bytes(&["Example.com"], 9999)), named("example.com"));
    assert_eq!(greeting(&hello_bytes(&[], 9999)), Greeting::Hello { sni: None });
    // What follows the greeting does not matter.
    let more = [hello_bytes(&["a.com"], 9999), vec![20, 3, 3, 0, 1, 1]].concat();
    assert_eq!(greeting(&more), named("a.com"));
}

#[test]
fn other_protocols_are_not_tls() {
    for bytes in [&b"GET / HTTP/1.1\r\n"[..], b"SSH-2.0-x\r\n", &[22, 2], &[23, 3, 3], &[0x80]] {
        assert_eq!(greeting(bytes), Greeting::NotTls, "{bytes:?}");
    }
    assert_eq!(greeting(&[]), Greeting::NeedMore);
}

#[test]
fn broken_greetings_are_refused() {
    assert_eq!(greeting(&hello_bytes(&["a.com", "b.com"], 9999)), Greeting::Malformed);
    assert_eq!(greeting(&hello_bytes(&["a\0.com"], 9999)), Greeting::Malformed);
    assert_eq!(greeting(&hello_bytes(&[""], 9999)), Greeting::Malformed);
    let mut other_record = hello_bytes(&["a.com"], 20);
    other_record[25] = 23;
    assert_eq!(greeting(&other_record), Greeting::Malformed);
    let mut other_message = hello_bytes(&["a.com"], 9999);
    other_message[5] = 2;
    assert_eq!(greeting(&other_message), Greeting::Malformed);
    assert_eq!(greeting(&[22, 3, 1, 0, 0]), Greeting::Malformed);
    // A greeting that says that it is endless.
    assert_eq!(greeting(&[22, 3, 1, 0x40, 0, 1, 0xff, 0xff, 0xff]), Greeting::Malformed);
    let endless = [vec![22, 3, 1, 0x40, 0, 1, 0, 0x3f, 0xff], vec![0; MOST_HELLO]].concat();
    assert_eq!(greeting(&endless), Greeting::Malformed);
}

proptest! {
    #[test]
    fn pieces_of_any_size_say_the_same(record in 1usize..300, at in 0usize..2000) {
        let bytes = hello_bytes(&["a.example.com"], record);
        prop_assert_eq!(greeting(&bytes), named("a.example.com"));
        let part = &bytes[..at.min(bytes.len() - 1)];
        prop_assert_eq!(greeting(part), Greeting::NeedMore);
    }

    #[test]
    fn no_bytes_break_it(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        greeting(&bytes);
        greeting(&[&[22, 3, 1, 1, 0, 1, 0, 0, 0xfc][..], &bytes].concat());
    }

    #[test]
    fn no_changed_byte_breaks_it(at in 0usize..90, value: u8) {
        let mut bytes = hello_bytes(&["a.example.com"], 9999);
        let at = at.min(bytes.len() - 1);
        bytes[at] = value;
        greeting(&bytes);
    }
}
