//! More connections than one box may have, and connections on which nothing happens.

use std::{io::Write as _, net::TcpStream};

use super::{
    names::address_of,
    reach::{dial, say},
};
use crate::{Words, answer::tell};

/// `HOST PORT COUNT`: as many at once as that; how many of them were answered.
pub(crate) fn many(words: Words<'_>) {
    let [host, port, count] = words else { return };
    let (Ok(port), Ok(count)) = (port.parse(), count.parse::<usize>()) else { return };
    let Some(address) = address_of(host) else { return tell("served", "no_name") };
    let mut open: Vec<TcpStream> = Vec::new();
    for _ in 0..count {
        if let Ok(mut stream) = dial(address, port) {
            // Slowly: a request that never ends.
            let _ = stream.write_all(b"GET /");
            open.push(stream);
        }
    }
    tell("dialled", open.len());
    drop(open);
    // There is room again.
    let again = (0..40).map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        say(host, port, b"hello")
    });
    let mut again = again.skip_while(|answer| answer != "heard");
    tell("afterwards", again.next().unwrap_or_else(|| "closed".to_owned()));
}
