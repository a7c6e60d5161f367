//! A gate on loopback: servers on addresses of 127/8, a table in place of DNS, records in a list.

#![allow(dead_code)]

use std::{
    future::Future,
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex},
    time::Duration,
};

use fumehood_core::{
    egress::{AllowRule, DenyRule, Egress, Reason, Record, Target, TlsRule},
    policy::NetMode,
};
use fumehood_gate::{Gate, Proxies, Secrets, TableResolver};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream},
    net::{TcpListener, TcpStream},
    time::timeout,
};

/// Long enough for a busy machine; nothing waits for it unless something is broken.
pub const PATIENCE: Duration = Duration::from_secs(30);

pub const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 77));

/// What a test sets up.
pub struct Setup {
    pub egress: Egress,
    pub resolver: TableResolver,
    pub proxies: Proxies,
    pub secrets: Secrets,
}

/// A gate and what it said.
pub struct Stand {
    pub gate: Gate,
    records: Arc<Mutex<Vec<Record>>>,
}

impl Setup {
    /// Allows these patterns, and the address of the servers.
    pub fn new(allow: &[&str]) -> Setup {
        let server = SERVER.to_string();
        let allow = allow.iter().copied().chain([server.as_str()]);
        let rule = |(line, pattern): (usize, &str)| {
            AllowRule::new(pattern.parse().unwrap(), format!("policy.yaml:{}", line + 1))
        };
        let egress = Egress {
            mode: NetMode::Allow,
            allow: allow.enumerate().map(rule).collect(),
            dns: true,
            ..Egress::none()
        };
        let resolver = TableResolver::new().with("a.test", &[SERVER]).with("b.test", &[SERVER]);
        Setup { egress, resolver, proxies: Proxies::none(), secrets: Secrets::none() }
    }

    pub fn tls_required(mut self) -> Setup {
        self.egress.allow.iter_mut().for_each(|rule| rule.tls = TlsRule::Required);
        self
    }

    /// Names get addresses of loopback, so that real sockets can stand where a box's would.
    pub fn with_sockets(mut self) -> Setup {
        self.egress.synthetic = "127.64.0.0/16".parse().unwrap();
        self
    }

    pub fn deny(mut self, pattern: &str) -> Setup {
        self.egress.deny.push(DenyRule::new(pattern.parse().unwrap(), "policy.yaml:99"));
        self
    }

    pub fn knows(mut self, name: &str, addresses: &[IpAddr]) -> Setup {
        self.resolver = self.resolver.with(name, addresses);
        self
    }

    pub fn open(self) -> Stand {
        let records = Arc::new(Mutex::new(Vec::new()));
        let kept = records.clone();
        let sink = Arc::new(move |record| kept.lock().unwrap().push(record));
        let gate =
            Gate::new(self.egress, Arc::new(self.resolver), self.proxies, self.secrets, sink);
        Stand { gate, records }
    }
}

impl Stand {
    pub fn records(&self) -> Vec<Record> {
        self.records.lock().unwrap().clone()
    }

    /// The list itself, which outlives the gate.
    pub fn list(&self) -> Arc<Mutex<Vec<Record>>> {
        self.records.clone()
    }

    /// Asks for a name as a program does.
    pub fn lookup(&self, name: &str) -> Option<IpAddr> {
        let answer = self.gate.dns_query(&question(name)).expect("an answer");
        (answer[7] == 1).then(|| {
            let end: [u8; 4] = answer[answer.len() - 4..].try_into().unwrap();
            IpAddr::V4(end.into())
        })
    }

    /// Dials as a program does: looks the name up, then connects to what it got.
    pub fn dial(&self, host: &str, port: u16) -> Option<DuplexStream> {
        let address = match Target::parse(host).unwrap() {
            Target::Name(name) => self.lookup(&name)?,
            Target::Address(address) => address,
        };
        let (inside, outside) = tokio::io::duplex(64 * 1024);
        self.gate.connection(SocketAddr::new(address, port), outside);
        Some(inside)
    }

    /// Dials through a listener of the gate at the address that stands for the host.
    pub async fn connect(&self, host: &str, port: u16) -> TcpStream {
        let address = match Target::parse(host).unwrap() {
            Target::Name(name) => self.lookup(&name).expect("the name is answered"),
            Target::Address(address) => address,
        };
        // The listener is there from the second connection on.
        if let Ok(listener) = std::net::TcpListener::bind((address, port)) {
            self.gate.serve_tcp_listener(listener).unwrap();
        }
        TcpStream::connect((address, port)).await.unwrap()
    }

    /// The next record that is there, waiting for it.
    pub async fn record(&self, number: usize) -> Record {
        soon(async {
            loop {
                if let Some(record) = self.records.lock().unwrap().get(number) {
                    return record.clone();
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        })
        .await
    }

    /// Says something to a host and gives back all that comes, and the record.
    pub async fn say(&self, host: &str, port: u16, bytes: &[u8]) -> (Vec<u8>, Record) {
        let number = self.records().len();
        let mut stream = self.dial(host, port).expect("the name is answered");
        // A connection that is refused may end while this is said.
        let _ = stream.write_all(bytes).await;
        let _ = stream.shutdown().await;
        let answer = all(&mut stream).await;
        drop(stream);
        (answer, self.record(number).await)
    }

    #[track_caller]
    pub fn refused(&self, (answer, record): (Vec<u8>, Record), reason: Reason) {
        assert_eq!((record.allowed, record.reason), (false, reason), "{record:?}");
        assert!(answer.is_empty(), "{answer:?}");
    }
}

pub fn question(name: &str) -> Vec<u8> {
    let mut out = vec![1, 2, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in name.split('.') {
        out.push(label.len() as u8);
        out.extend(label.as_bytes());
    }
    out.extend([0, 0, 1, 0, 1]);
    out
}

/// Fails rather than hangs.
pub async fn soon<T>(future: impl Future<Output = T>) -> T {
    timeout(PATIENCE, future).await.expect("it takes too long")
}

pub async fn all(stream: &mut (impl AsyncReadExt + Unpin)) -> Vec<u8> {
    let mut answer = Vec::new();
    let _ = soon(stream.read_to_end(&mut answer)).await;
    answer
}

/// Starts a server that treats every connection in the same way, and gives its port.
pub async fn server<F>(serve: impl Fn(TcpStream) -> F + Send + 'static) -> u16
where
    F: Future<Output = io::Result<()>> + Send + 'static,
{
    let listener = TcpListener::bind((SERVER, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream));
        }
    });
    port
}

/// Sends back what it gets, and ends when the other side does.
pub async fn echo() -> u16 {
    server(|mut stream| async move {
        let (mut read, mut write) = stream.split();
        tokio::io::copy(&mut read, &mut write).await?;
        write.shutdown().await
    })
    .await
}

/// A greeting of TLS, with or without a name.
pub fn hello(name: Option<&str>) -> Vec<u8> {
    let mut extensions = vec![0, 10, 0, 4, 0, 2, 0, 29];
    if let Some(name) = name {
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
    let mut out = vec![22, 3, 1];
    out.extend((body.len() as u16 + 4).to_be_bytes());
    out.push(1);
    out.extend(&(body.len() as u32).to_be_bytes()[1..]);
    out.extend(body);
    out
}

/// A request of HTTP with this Host.
pub fn get(host: &str) -> Vec<u8> {
    format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n").into_bytes()
}
