//! What is allowed is reached, by programs that know nothing of a gate.

use std::net::UdpSocket;

use fumehood::{Error, Event, Request};
use fumehood_tests::{Case, Condition, NEAR, Scene, Server, assert_printed, lines, python, shell};

use super::{TRY, assert_refused, decisions, lent, under};

pub fn cases() -> Vec<Case> {
    let mut all = vec![
        by_name("python", |port| {
            python(&format!(
                "import urllib.request as r\n\
                 print(r.urlopen('http://near.test:{port}/', timeout=10).read().decode(), end='')"
            ))
        }),
        by_name("node", |port| {
            Request::code(
                "javascript",
                format!(
                    "fetch('http://near.test:{port}/').then(async r => process.stdout.write(await r.text()))"
                ),
            )
        }),
        Case::steps("egress::other_port", other_port),
        Case::steps("egress::literal_address", literal_address),
        Case::steps("egress::box_loopback", box_loopback),
        Case::steps("egress::host", host),
        Case::steps("egress::datagrams", datagrams),
        Case::steps("egress::ipv6", ipv6),
        Case::steps("egress::last_words", last_words),
        Case::steps("egress::large_transfer", large_transfer),
        Case::steps("egress::events", events),
    ];
    all = all.into_iter().map(|case| case.only(Condition::GATE)).collect();
    all.push(
        Case::steps("egress::no_gate", |scene| match scene.try_run(lent(shell("true"), &["*"])) {
            Err(Error::Unavailable { remedy, .. }) => assert!(remedy.contains("another backend")),
            other => panic!("not refused: {other:?}"),
        })
        .only(Condition::NO_GATE),
    );
    all
}

/// A program gets what the server says, and without the rule it gets nothing.
fn by_name(program: &str, request: fn(u16) -> Request) -> Case {
    Case::steps(format!("egress::by_name::{program}"), move |scene| {
        let server = Server::start(NEAR);
        let port = server.port();
        let rules = [format!("near.test:{port}"), format!("{NEAR}:{port}")];
        let outcome = scene.run(lent(request(port), &[&rules[0], &rules[1]]));
        assert_printed(&outcome, "hello\n");
        assert_eq!(decisions(&outcome), ["near.test allowed"]);
        assert_eq!(server.connections(), 1);
        assert!(outcome.violations.is_empty(), "{:?}", outcome.violations);
    })
}

/// Rules for everything on the server, and for nothing else.
fn rules(server: &Server) -> [String; 2] {
    [format!("near.test:{}", server.port()), format!("{NEAR}:{}", server.port())]
}

fn other_port(scene: &Scene) {
    let (server, other) = (Server::start(NEAR), Server::start(NEAR));
    let (port, closed) = (server.port(), other.port());
    let source =
        format!("{TRY}print(talk('near.test', {port}))\nprint(talk('near.test', {closed}))");
    let [name, address] = rules(&server);
    let outcome = scene.run(lent(python(&source), &[&name, &address]));
    let answers = lines(&outcome);
    assert_eq!(answers[0], "heard hello");
    assert_refused(&answers[1]);
    assert_eq!((server.connections(), other.connections()), (1, 0));
    let refused = outcome.network.iter().find(|record| !record.allowed).expect("a refusal");
    assert_eq!((refused.port, refused.reason.code()), (Some(closed), "no_rule"));
    assert_eq!(outcome.violations.len(), 1);
}

/// An address of this machine that is not loopback; nothing is sent to find it.
pub(super) fn own_address() -> std::net::IpAddr {
    let socket = UdpSocket::bind("0.0.0.0:0").expect("a socket");
    socket.connect("192.0.2.1:9").expect("a machine with a network");
    socket.local_addr().expect("its address").ip()
}

fn literal_address(scene: &Scene) {
    let own = own_address();
    let server = Server::start(own);
    let port = server.port();
    let source = format!("{TRY}print(talk('{own}', {port}))\nprint(talk('203.0.113.1', 80))");
    let outcome = scene.run(lent(python(&source), &["near.test"]));
    lines(&outcome).iter().for_each(|answer| assert_refused(answer));
    assert_eq!(server.connections(), 0);
    assert_eq!(decisions(&outcome), {
        let mut expected = [format!("{own} no_rule"), "203.0.113.1 no_rule".into()];
        expected.sort();
        expected
    });
    let outcome = scene.run(lent(python(&source), &[&format!("{own}:{port}")]));
    assert_eq!(lines(&outcome)[0], "heard hello");
    assert_refused(&lines(&outcome)[1]);
}

/// A box has its own loopback, and only that.
fn box_loopback(scene: &Scene) {
    let server = Server::start("127.0.0.1".parse().expect("an address"));
    let port = server.port();
    let source = format!(
        "{TRY}\
         for host in '127.0.0.1', 'localhost', '::1', '::ffff:127.0.0.1', '0.0.0.0':\n\
         \x20print(talk(host, {port}))\n\
         s = socket.create_server(('127.0.0.1', 0)); own = s.getsockname()[1]\n\
         c = socket.create_connection(('127.0.0.1', own)); s.accept()[0].sendall(b'inside')\n\
         print(c.recv(9).decode())"
    );
    let allow = ["*".to_owned(), format!("127.0.0.1:{port}")];
    let outcome = scene.run(lent(python(&source), &[&allow[0], &allow[1]]));
    let answers = lines(&outcome);
    answers[..5].iter().for_each(|answer| assert_refused(answer));
    assert_eq!(answers[5], "inside");
    assert_eq!(server.connections(), 0);
}

/// The machine itself is reached only by a rule with its name.
fn host(scene: &Scene) {
    let server = Server::start("127.0.0.1".parse().expect("an address"));
    let port = server.port();
    let source = format!("{TRY}print(talk('host', {port}))");
    let outcome = scene.run(lent(python(&source), &["*"]));
    assert_eq!(lines(&outcome), ["no name"]);
    assert_eq!(decisions(&outcome), ["host host_not_named"]);
    let outcome = scene.run(lent(python(&source), &[&format!("host:{port}")]));
    assert_eq!(lines(&outcome), ["heard hello"]);
}

/// Whatever is not TCP is refused by the box's own kernel.
fn datagrams(scene: &Scene) {
    let heard = UdpSocket::bind((NEAR, 0)).expect("a socket on this machine");
    heard.set_nonblocking(true).expect("a socket that does not wait");
    let port = heard.local_addr().expect("its address").port();
    let source = format!(
        "{TRY}\
         for place in ('near.test', {port}), ('203.0.113.1', 443), ('203.0.113.1', 53):\n\
         \x20print(say(*place, b'hello'))\n\
         for kind in (socket.SOCK_RAW, socket.SOCK_DGRAM):\n\
         \x20print(attempt(lambda: socket.socket(socket.AF_INET, kind, 1) and 'ping'))"
    );
    let outcome = scene.run(lent(python(&source), &["*", &format!("{NEAR}:{port}")]));
    let answers = lines(&outcome);
    assert_eq!(answers[..3], ["ECONNREFUSED"; 3]);
    assert!(["EPERM", "EACCES"].contains(&answers[3].as_str()), "{}", answers[3]);
    assert!(heard.recv(&mut [0; 9]).is_err(), "a datagram left the box");
}

/// Names have no IPv6 addresses here, and such an address is refused at once.
fn ipv6(scene: &Scene) {
    let server = Server::start(NEAR);
    let [name, address] = rules(&server);
    let source = format!(
        "{TRY}\
         print(attempt(lambda: str(socket.getaddrinfo('near.test', 80, socket.AF_INET6))))\n\
         print(talk('2001:db8::1', 80))"
    );
    let outcome = scene.run(lent(python(&source), &[&name, &address]));
    let answers = lines(&outcome);
    assert!(!answers[0].contains("::"), "{}", answers[0]);
    assert!(!answers[0].starts_with("late"), "{}", answers[0]);
    assert!(answers[1] == "ENETUNREACH" || super::REFUSED.contains(&answers[1].as_str()));
}

/// What a program sends before it ends arrives.
fn last_words(scene: &Scene) {
    let server = Server::start(NEAR);
    let [name, address] = rules(&server);
    let source = format!(
        "import os, socket\n\
         s = socket.create_connection(('near.test', {})); s.sendall(b'x' * 3000); os._exit(0)",
        server.port()
    );
    let outcome = scene.run(lent(python(&source), &[&name, &address]));
    assert!(outcome.success);
    assert_eq!(server.bytes(), 3000);
}

fn large_transfer(scene: &Scene) {
    let server = Server::start(NEAR);
    let [name, address] = rules(&server);
    let source = format!(
        "import socket, threading\n\
         s = socket.create_connection(('near.test', {})); most = 8 << 20\n\
         def send():\n\
         \x20s.sendall(b'x' * most); s.shutdown(socket.SHUT_WR)\n\
         threading.Thread(target=send).start()\n\
         count = 0\n\
         while piece := s.recv(1 << 16): count += piece.count(b'x')\n\
         print(count == most)",
        server.port()
    );
    let outcome = scene.run(lent(python(&source), &[&name, &address]));
    assert_eq!(lines(&outcome), ["True"]);
    let record = outcome.network.last().expect("a decision");
    assert_eq!(record.sent, 8 << 20);
    assert!(record.received > 8 << 20);
}

/// Decisions are told as they are made, and names that are not answered too.
fn events(scene: &Scene) {
    let source = format!("{TRY}print(talk('nowhere.test', 80))");
    let mut run = scene.start(under(python(&source), "allow: [near.test]"));
    let told = scene.block_on(async {
        let mut told = Vec::new();
        while let Some(event) = run.next_event().await {
            match event {
                Event::Network { record } => told.push(record),
                Event::Finished { outcome } => assert_eq!(outcome.network, told),
                _ => {}
            }
        }
        told
    });
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].name.as_deref(), Some("nowhere.test"));
}
