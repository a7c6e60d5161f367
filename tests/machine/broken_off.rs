//! Connections that are cut in the middle of a transfer: whoever goes, nothing stays behind.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use fumehood::{PolicyChoice, Request};
use fumehood_tests::{Case, Condition, NEAR, Scene, assert_printed, python};
use rustix::process::{Pid, Signal, kill_process};

use crate::{
    residue::{assert_as_before, at_rest},
    tool::Tool,
};

pub fn cases() -> Vec<Case> {
    let all = [
        Case::steps("broken_off::by_the_box", by_the_box),
        Case::steps("broken_off::by_the_peer", by_the_peer),
        Case::steps("broken_off::by_the_supervisor", by_the_supervisor),
    ];
    all.into_iter().map(|case| case.only(Condition::GATE)).collect()
}

/// Sends without end to whoever connects, until it is cut.
struct Source {
    address: SocketAddr,
    sent: Arc<AtomicU64>,
    cut: Arc<AtomicBool>,
    /// Connections that have ended.
    ended: Arc<AtomicU64>,
}

impl Source {
    fn start(address: std::net::IpAddr) -> Source {
        let listener = TcpListener::bind((address, 0)).expect("a listener");
        let address = listener.local_addr().expect("its address");
        let source =
            Source { address, sent: Arc::default(), cut: Arc::default(), ended: Arc::default() };
        let (sent, cut, ended) = (source.sent.clone(), source.cut.clone(), source.ended.clone());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if cut.load(Ordering::SeqCst) {
                    return;
                }
                let (sent, cut, ended) = (sent.clone(), cut.clone(), ended.clone());
                thread::spawn(move || {
                    flow(stream, &sent, &cut);
                    ended.fetch_add(1, Ordering::SeqCst);
                });
            }
        });
        source
    }

    fn wait_for_flow(&self) {
        let begun = self.sent.load(Ordering::SeqCst);
        wait_until("bytes flow", || self.sent.load(Ordering::SeqCst) > begun + (4 << 20));
        assert!(sockets(self.address.port()) >= 2, "both ends are seen while bytes flow");
    }

    fn wait_for_end(&self, count: u64) {
        wait_until("the peer sees the end", || self.ended.load(Ordering::SeqCst) >= count);
    }

    fn cut(&self) {
        self.cut.store(true, Ordering::SeqCst);
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        self.cut();
        let _ = TcpStream::connect(self.address);
    }
}

/// Both directions at once, as fast as they go.
fn flow(mut stream: TcpStream, sent: &AtomicU64, cut: &AtomicBool) {
    let piece = vec![7; 64 << 10];
    let mut reader = stream.try_clone().expect("the same connection");
    let reading = thread::spawn(move || {
        let mut piece = vec![0; 64 << 10];
        while let Ok(1..) = reader.read(&mut piece) {}
    });
    while !cut.load(Ordering::SeqCst) && stream.write_all(&piece).is_ok() {
        sent.fetch_add(piece.len() as u64, Ordering::SeqCst);
    }
    let _ = stream.shutdown(Shutdown::Both);
    let _ = reading.join();
}

/// A program that reads and writes until it cannot.
fn endless(host: &str, port: u16) -> String {
    format!(
        "import socket, threading\n\
         s = socket.create_connection(('{host}', {port}), 20)\n\
         def send():\n\
         \x20try:\n\
         \x20\x20while True: s.sendall(b'x' * 65536)\n\
         \x20except OSError: pass\n\
         threading.Thread(target=send, daemon=True).start()\n\
         try:\n\
         \x20while s.recv(65536): pass\n\
         except OSError: pass\n\
         print('over')"
    )
}

fn request(port: u16) -> Request {
    let text = format!(
        "version: 1\nnet:\n  mode: allow\n  allow: ['near.test:{port}', '{NEAR}:{port}']\n"
    );
    python(&endless("near.test", port)).policy(PolicyChoice::Text { name: "policy".into(), text })
}

/// The run is given up, and the box with it.
fn by_the_box(scene: &Scene) {
    let source = Source::start(NEAR);
    let port = source.address.port();
    let attempt = || {
        let run = scene.start(request(port));
        source.wait_for_flow();
        drop(run);
    };
    attempt();
    source.wait_for_end(1);
    let before = (at_rest(scene.path()), tasks());
    for number in 2..5 {
        attempt();
        source.wait_for_end(number);
    }
    assert_as_before(&before.0, scene.path());
    wait_until("no task is left", || tasks() <= before.1);
    wait_until("no socket is left", || sockets(port) == 0);
}

/// The server goes away, and the program goes on.
fn by_the_peer(scene: &Scene) {
    let attempt = || {
        let source = Source::start(NEAR);
        let run = scene.start(request(source.address.port()));
        source.wait_for_flow();
        source.cut();
        let outcome = scene.block_on(run.outcome()).expect("an outcome");
        assert_printed(&outcome, "over\n");
        assert_eq!(outcome.network.len(), 1);
        source.wait_for_end(1);
        wait_until("no socket is left", || sockets(source.address.port()) == 0);
    };
    attempt();
    let before = (at_rest(scene.path()), tasks());
    for _ in 0..3 {
        attempt();
    }
    assert_as_before(&before.0, scene.path());
    wait_until("no task is left", || tasks() <= before.1);
}

/// Whoever holds the gate is killed: the box ends, and so does the connection.
fn by_the_supervisor(scene: &Scene) {
    let tool = Tool::find(scene);
    assert!(tool.exec(scene, &["/bin/true"]).status().expect("it starts").success());
    let source = Source::start("127.0.0.1".parse().expect("an address"));
    let port = source.address.port();
    let before = at_rest(scene.path());
    let allow = format!("host:{port}");
    let program = endless("host", port);
    let words = ["python3", "-c", &program];
    let mut command = tool.exec_with(scene, &["--allow", &allow], &words);
    let mut fumehood = command.spawn().expect("it starts");
    source.wait_for_flow();
    let pid = Pid::from_raw(fumehood.id().cast_signed()).expect("a process id");
    kill_process(pid, Signal::KILL).expect("the signal is sent");
    fumehood.wait().expect("its status");
    source.wait_for_end(1);
    assert_as_before(&before, scene.path());
    wait_until("no socket is left", || sockets(port) == 0);
}

/// Threads of this process that are not the tests' own; the runtime's are as many as before.
fn tasks() -> usize {
    fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}

/// Sockets of TCP to or from this port that somebody still has; one that nobody has needs no inode.
fn sockets(port: u16) -> usize {
    let end = format!(":{port:04X}");
    let is_held = |line: &&str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, near, far, state, ..] = words[..] else { return false };
        let is_ours = near.ends_with(&end) || far.ends_with(&end);
        is_ours && state != LISTENS && words.get(9).is_some_and(|inode| *inode != "0")
    };
    let count =
        |file: &str| fs::read_to_string(file).unwrap_or_default().lines().filter(is_held).count();
    count("/proc/self/net/tcp") + count("/proc/self/net/tcp6")
}

/// How the kernel writes that a socket takes connections in.
const LISTENS: &str = "0A";

fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(Instant::now() < deadline, "after 30 s: not yet: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}
