//! One connection: dialled, spoken to where the other side waits for that, and listened to. A gate
//! takes a connection before it decides, so a connection alone says nothing.

use std::{
    fmt,
    io::{self, ErrorKind, Read as _, Write as _},
    net::{IpAddr, SocketAddr, TcpStream},
    time::Duration,
};

use crate::{hello::client_hello, names};

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(5);
/// How long somebody who was greeted may take to answer.
const ANSWER: Duration = Duration::from_secs(5);
/// How long a connection must stay open in silence to count. A gate that refuses ends it sooner.
const SILENCE: Duration = Duration::from_secs(2);

/// What is tried.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Attempt {
    host: String,
    port: u16,
    /// Whether to greet as TLS does.
    tls: bool,
}

/// What became of it. The words are read by whoever started this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Somebody answered, or stayed.
    Connected,
    /// The name has no address.
    UnknownName,
    /// Nobody takes connections there.
    Refused,
    /// The connection was broken off.
    Reset,
    /// Nothing happened in time.
    Timeout,
    /// There is no way there.
    Unreachable,
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Seen::Connected => "connected",
            Seen::UnknownName => "unknown_name",
            Seen::Refused => "refused",
            Seen::Reset => "reset",
            Seen::Timeout => "timeout",
            Seen::Unreachable => "unreachable",
        })
    }
}

impl Attempt {
    /// Reads `HOST PORT tls|plain`.
    pub(crate) fn parse(words: &[String]) -> Option<Attempt> {
        let [host, port, kind] = words else { return None };
        let tls = match kind.as_str() {
            "tls" => true,
            "plain" => false,
            _ => return None,
        };
        Some(Attempt { host: host.clone(), port: port.parse().ok()?, tls })
    }

    /// Makes it.
    pub(crate) fn make(&self) -> Seen {
        let Some(address) = names::address_of(&self.host) else { return Seen::UnknownName };
        match self.speak(address) {
            Ok(seen) => seen,
            Err(error) => judge(&error),
        }
    }

    fn speak(&self, address: IpAddr) -> io::Result<Seen> {
        let mut stream = TcpStream::connect_timeout(&SocketAddr::new(address, self.port), CONNECT)?;
        stream.set_read_timeout(Some(if self.tls { ANSWER } else { SILENCE }))?;
        if self.tls {
            let name = self.host.parse::<IpAddr>().is_err().then_some(self.host.as_str());
            stream.write_all(&client_hello(name))?;
        }
        match stream.read(&mut [0; 64]) {
            Ok(_) => Ok(Seen::Connected),
            Err(error) if is_timeout(&error) && !self.tls => Ok(Seen::Connected),
            Err(error) => Err(error),
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

fn judge(error: &io::Error) -> Seen {
    match error.kind() {
        ErrorKind::ConnectionRefused => Seen::Refused,
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe => {
            Seen::Reset
        }
        _ if is_timeout(error) => Seen::Timeout,
        _ => Seen::Unreachable,
    }
}

#[cfg(test)]
mod tests {
    use std::{net::TcpListener, thread};

    use super::*;

    fn attempt(port: u16, kind: &str) -> Seen {
        let words = ["127.0.0.1", &port.to_string(), kind].map(str::to_owned);
        Attempt::parse(&words).unwrap().make()
    }

    /// A server that does this with its first connection.
    fn served(act: impl FnOnce(TcpStream) + Send + 'static, kind: &str) -> Seen {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = thread::spawn(move || act(listener.accept().unwrap().0));
        let seen = attempt(port, kind);
        server.join().unwrap();
        seen
    }

    #[test]
    fn what_happens_is_told_apart() {
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        assert_eq!(attempt(closed, "plain"), Seen::Refused);
        assert_eq!(
            served(|mut stream| stream.write_all(b"220 hi").unwrap(), "plain"),
            Seen::Connected
        );
        // Silence that lasts is a connection.
        let silent = |mut stream: TcpStream| assert_eq!(stream.read(&mut [0]).unwrap(), 0);
        assert_eq!(served(silent, "plain"), Seen::Connected);
        // Closing with something unread breaks the connection off, as a gate does that refuses.
        let breaks = |stream: TcpStream| {
            stream.peek(&mut [0]).unwrap();
        };
        assert_eq!(served(breaks, "tls"), Seen::Reset);
        let answers = |mut stream: TcpStream| {
            let mut hello = [0; 5];
            stream.read_exact(&mut hello).unwrap();
            assert_eq!(hello[0], 22);
            let mut rest = vec![0; usize::from(u16::from_be_bytes([hello[3], hello[4]]))];
            stream.read_exact(&mut rest).unwrap();
            stream.write_all(&[21, 3, 3, 0, 2, 2, 40]).unwrap();
        };
        assert_eq!(served(answers, "tls"), Seen::Connected);
    }

    #[test]
    fn arguments_come_in_threes() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(Attempt::parse(&words("a.com 443 tls")).is_some());
        for wrong in ["a.com 443", "a.com x tls", "a.com 70000 tls", "a.com 443 ssl"] {
            assert!(Attempt::parse(&words(wrong)).is_none(), "{wrong}");
        }
    }
}
