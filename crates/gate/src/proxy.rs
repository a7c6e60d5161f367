//! The proxy that this machine goes through, if it has one, and asking it for a connection.

use std::{io, net::IpAddr};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use fumehood_core::{egress::Target, policy::HostPattern};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// The longest answer to a request for a connection.
const MOST_ANSWER: usize = 16 * 1024;

/// Which proxy leads where, as `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` say.
#[derive(Clone, Debug, Default)]
pub struct Proxies {
    /// For port 80.
    http: Option<Proxy>,
    /// For all other ports.
    other: Option<Proxy>,
    except: Vec<Exception>,
}

/// One proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Proxy {
    pub(crate) host: String,
    pub(crate) port: u16,
    /// `user:password`, for basic authentication.
    credentials: Option<Vec<u8>>,
}

#[derive(Clone, Debug, PartialEq)]
enum Exception {
    Everything,
    Name { name: String, port: Option<u16> },
    Address(HostPattern),
}

/// A proxy that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProxyError {
    /// Only plain HTTP is spoken to proxies.
    #[error(
        "{variable} names a proxy of the kind `{scheme}`; only http:// is supported, for example http://proxy:3128"
    )]
    Scheme {
        /// The variable.
        variable: String,
        /// What stands before `://`.
        scheme: String,
    },
    /// No host, or a wrong port.
    #[error("{variable} is not the address of a proxy; write for example http://proxy:3128")]
    Address {
        /// The variable. Its value may hold a password and is not shown.
        variable: String,
    },
}

impl Proxies {
    /// No proxy.
    pub fn none() -> Proxies {
        Proxies::default()
    }

    /// Reads variables of a process. Names in lower case win, as everywhere.
    pub fn from_variables(
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Proxies, ProxyError> {
        let known = ["http_proxy", "https_proxy", "all_proxy", "no_proxy"];
        let mut values: [Option<(String, String)>; 4] = Default::default();
        for (name, value) in variables {
            let at = known.iter().position(|own| name.eq_ignore_ascii_case(own));
            if let Some(at) = at.filter(|_| !value.is_empty())
                && (values[at].is_none() || name == known[at])
            {
                values[at] = Some((name, value));
            }
        }
        let [http, https, all, except] = values;
        let read = |one: Option<(String, String)>| {
            one.or_else(|| all.clone()).map(|(name, value)| Proxy::parse(&name, &value)).transpose()
        };
        let except = except.map_or_else(Vec::new, |(_, list)| {
            list.split([',', ' ']).filter_map(|entry| Exception::parse(entry.trim())).collect()
        });
        Ok(Proxies { http: read(http)?, other: read(https)?, except })
    }

    /// The proxy that leads to a target.
    pub(crate) fn leading_to(&self, target: &Target, port: u16) -> Option<&Proxy> {
        let proxy = if port == 80 { &self.http } else { &self.other };
        let direct = target.is_host() || self.except.iter().any(|one| one.means(target, port));
        proxy.as_ref().filter(|_| !direct)
    }
}

impl Exception {
    fn parse(entry: &str) -> Option<Exception> {
        if entry.is_empty() {
            return None;
        }
        if entry == "*" {
            return Some(Exception::Everything);
        }
        if let Ok(pattern) = entry.parse::<HostPattern>()
            && pattern.names_addresses()
        {
            return Some(Exception::Address(pattern));
        }
        let (name, port) = match entry.split_once(':') {
            Some((name, port)) => (name, Some(port.parse().ok()?)),
            None => (entry, None),
        };
        let name = name.strip_prefix('*').unwrap_or(name);
        let name = name.trim_start_matches('.').to_ascii_lowercase();
        (!name.is_empty()).then_some(Exception::Name { name, port })
    }

    fn means(&self, target: &Target, port: u16) -> bool {
        match (self, target) {
            (Exception::Everything, _) => true,
            (Exception::Name { name, port: only }, Target::Name(dialled)) => {
                let below = dialled.strip_suffix(name.as_str());
                let same = below.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
                same && only.is_none_or(|only| only == port)
            }
            (Exception::Address(pattern), Target::Address(address)) => {
                pattern.matches_address(*address, port)
            }
            _ => false,
        }
    }
}

impl Proxy {
    fn parse(variable: &str, value: &str) -> Result<Proxy, ProxyError> {
        let refused = || ProxyError::Address { variable: variable.to_owned() };
        let rest = match value.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => rest,
            Some((scheme, _)) => {
                let (variable, scheme) = (variable.to_owned(), scheme.escape_debug().to_string());
                return Err(ProxyError::Scheme { variable, scheme });
            }
            None => value,
        };
        let rest = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let (credentials, place) = match rest.rsplit_once('@') {
            Some((credentials, place)) => (Some(percent_decoded(credentials)), place),
            None => (None, rest),
        };
        let (host, port) = match place.rsplit_once(':') {
            Some((host, port)) if !host.is_empty() && !port.contains(']') => {
                (host, port.parse().map_err(|_| refused())?)
            }
            _ => (place, 80),
        };
        let host = match Target::parse(host).map_err(|_| refused())? {
            Target::Name(name) => name,
            Target::Address(address) => address.to_string(),
        };
        Ok(Proxy { host, port, credentials })
    }

    /// Asks for a connection to a target on a connection to the proxy.
    pub(crate) async fn ask(
        &self,
        stream: &mut TcpStream,
        target: &Target,
        port: u16,
    ) -> io::Result<()> {
        let place = match target {
            Target::Name(name) => format!("{name}:{port}"),
            Target::Address(IpAddr::V4(address)) => format!("{address}:{port}"),
            Target::Address(IpAddr::V6(address)) => format!("[{address}]:{port}"),
        };
        let mut request = format!("CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n");
        if let Some(credentials) = &self.credentials {
            let encoded = STANDARD.encode(credentials);
            request.push_str(&format!("Proxy-Authorization: Basic {encoded}\r\n"));
        }
        request.push_str("\r\n");
        stream.write_all(request.as_bytes()).await?;
        // Byte by byte: what follows the answer belongs to the program.
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            if answer.len() == MOST_ANSWER {
                return Err(io::Error::other("the proxy's answer is too long"));
            }
            answer.push(stream.read_u8().await?);
        }
        let accepted = matches!(
            answer.as_slice(),
            [b'H', b'T', b'T', b'P', b'/', b'1', b'.', _, b' ', b'2', _, _, ..]
        );
        if accepted { Ok(()) } else { Err(io::Error::other("the proxy refuses the connection")) }
    }
}

fn percent_decoded(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let decoded = (first == b'%')
            .then(|| std::str::from_utf8(behind.get(..2)?).ok())
            .flatten()
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        out.push(decoded.unwrap_or(first));
        rest = if decoded.is_some() { &behind[2..] } else { behind };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(variables: &[(&str, &str)]) -> Result<Proxies, ProxyError> {
        Proxies::from_variables(variables.iter().map(|(n, v)| (n.to_string(), v.to_string())))
    }

    fn through(proxies: &Proxies, host: &str, port: u16) -> Option<(String, u16)> {
        let proxy = proxies.leading_to(&Target::parse(host).unwrap(), port)?;
        Some((proxy.host.clone(), proxy.port))
    }

    #[test]
    fn each_port_has_its_proxy() {
        let set = proxies(&[("HTTPS_PROXY", "http://s:1"), ("http_proxy", "p:2/")]).unwrap();
        assert_eq!(through(&set, "a.com", 443), Some(("s".into(), 1)));
        assert_eq!(through(&set, "a.com", 22), Some(("s".into(), 1)));
        assert_eq!(through(&set, "a.com", 80), Some(("p".into(), 2)));
        assert_eq!(through(&set, "host", 80), None);
        let all = proxies(&[("ALL_PROXY", "http://[::1]:3"), ("https_proxy", "")]).unwrap();
        assert_eq!(through(&all, "a.com", 443), Some(("::1".into(), 3)));
        let lower = proxies(&[("https_proxy", "a:1"), ("HTTPS_PROXY", "b:1")]).unwrap();
        assert_eq!(through(&lower, "x.com", 443), Some(("a".into(), 1)));
        assert_eq!(through(&Proxies::none(), "a.com", 443), None);
    }

    #[test]
    fn exceptions_go_directly() {
        let list = ".corp.com, example.org:443,10.0.0.0/8 ::1,*.x.net";
        let set = proxies(&[("ALL_PROXY", "p:1"), ("NO_PROXY", list)]).unwrap();
        for (host, port, direct) in [
            ("corp.com", 1, true),
            ("a.corp.com", 1, true),
            ("acorp.com", 1, false),
            ("example.org", 443, true),
            ("example.org", 80, false),
            ("10.1.1.1", 1, true),
            ("11.1.1.1", 1, false),
            ("::1", 1, true),
            ("a.x.net", 1, true),
        ] {
            assert_eq!(through(&set, host, port).is_none(), direct, "{host}:{port}");
        }
        let none = proxies(&[("ALL_PROXY", "p:1"), ("no_proxy", "*")]).unwrap();
        assert_eq!(through(&none, "a.com", 443), None);
    }

    #[test]
    fn others_are_refused_without_showing_a_password() {
        let error = proxies(&[("ALL_PROXY", "socks5://u:secret@p:1")]).unwrap_err();
        assert!(matches!(&error, ProxyError::Scheme { scheme, .. } if scheme == "socks5"));
        for value in ["http://", "http://a b:1", "http://u:secret@p:x", "http://p:99999"] {
            let error = proxies(&[("ALL_PROXY", value)]).unwrap_err();
            assert!(!error.to_string().contains("secret"), "{error}");
        }
        let proxy = Proxy::parse("X", "http://us%40er:p%3a:w@p").unwrap();
        assert_eq!(proxy.credentials.as_deref(), Some(&b"us@er:p::w"[..]));
    }
}
