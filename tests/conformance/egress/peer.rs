//! A server of this machine that real clients talk to: HTTP, WebSocket and the beginning of
//! PostgreSQL, plain or in TLS under a certificate made for the case.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, PoisonError},
    thread,
};

use fumehood_tests::{FAR, NEAR, Scene};

/// Listens on one port of [`NEAR`] and [`FAR`], and on a second port of [`NEAR`]. Ends with this.
pub struct Peer {
    process: Child,
    /// The certificate, which is its own authority.
    pub authority: Vec<u8>,
    /// The port on both addresses.
    pub port: u16,
    /// The port that nothing allows.
    pub other_port: u16,
    connections: Arc<Mutex<Vec<String>>>,
}

impl Peer {
    pub fn start(scene: &Scene) -> Peer {
        let directory = scene.directory("peer");
        let (certificate, key) = (directory.join("certificate"), directory.join("key"));
        let made = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
            .args(["-nodes", "-days", "2", "-subj", "/CN=fumehood tests"])
            .args(["-addext", "subjectAltName=DNS:allowed.test,DNS:far.test,IP:203.0.113.1"])
            .args(["-addext", "keyUsage=critical,digitalSignature,keyCertSign"])
            .arg("-keyout")
            .arg(&key)
            .arg("-out")
            .arg(&certificate)
            .output()
            .expect("openssl is needed: see `cargo xtask test`");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let mut process = Command::new("python3")
            .args(["-c", include_str!("clients/peer.py")])
            .args([&certificate, &key])
            .args([NEAR.to_string(), FAR.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 is needed: see `cargo xtask test`");
        let mut lines = BufReader::new(process.stdout.take().expect("its output")).lines();
        let first = lines.next().expect("a first line").expect("a line");
        let (port, other_port) = first.split_once(' ').expect("two ports");
        let connections: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = connections.clone();
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                seen.lock().unwrap_or_else(PoisonError::into_inner).push(line);
            }
        });
        Peer {
            process,
            authority: fs::read(certificate).expect("the certificate"),
            port: port.parse().expect("a port"),
            other_port: other_port.parse().expect("a port"),
            connections,
        }
    }

    /// The address and port of every connection that came.
    pub fn connections(&self) -> Vec<String> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It ends with its input; this is for the case that it does not.
        drop(self.process.stdin.take());
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
