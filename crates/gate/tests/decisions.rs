//! Who may be reached. Each refusal stands beside one that passes.

mod support;

use std::net::IpAddr;

use fumehood_core::egress::Reason;
use support::{SERVER, Setup, echo, get, soon};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

#[tokio::test]
async fn allowed_names_are_reached_and_others_do_not_exist() {
    let port = echo().await;
    let stand = Setup::new(&["a.test"]).open();
    let (answer, record) = stand.say("a.test", port, b"\0hello").await;
    assert_eq!(answer, b"\0hello");
    assert_eq!((record.name.as_deref(), record.port), (Some("a.test"), Some(port)));
    assert_eq!((record.allowed, record.reason), (true, Reason::Allowed));
    assert_eq!(record.rule.as_deref(), Some("policy.yaml:1"));
    assert_eq!((record.sent, record.received), (6, 6));
    assert_eq!(record.address, Some(SERVER));
    assert!(!record.via_proxy);

    for _ in 0..3 {
        assert_eq!(stand.lookup("b.test"), None);
    }
    let record = stand.record(1).await;
    assert_eq!((record.name.as_deref(), record.reason), (Some("b.test"), Reason::NoRule));
    assert_eq!(record.port, None);
    assert_eq!(stand.records().len(), 2, "a name is recorded once");
}

#[tokio::test]
async fn denied_ports_are_refused_and_others_pass() {
    let port = echo().await;
    let stand = Setup::new(&["a.test"]).deny("a.test:1-1023").open();
    let refused = stand.say("a.test", 22, b"x").await;
    assert_eq!(refused.1.rule.as_deref(), Some("policy.yaml:99"));
    stand.refused(refused, Reason::DeniedByRule);
    assert_eq!(stand.say("a.test", port, b"\0x").await.0, b"\0x");
}

#[tokio::test]
async fn literal_addresses_need_a_rule() {
    let port = echo().await;
    let stand = Setup::new(&["*"]).open();
    assert_eq!(stand.say(&SERVER.to_string(), port, b"\0x").await.0, b"\0x");
    for (host, reason) in [
        ("127.0.0.1", Reason::LoopbackAddress),
        ("10.0.0.1", Reason::PrivateAddress),
        ("169.254.169.254", Reason::SensitiveService),
        ("::ffff:169.254.169.254", Reason::SensitiveService),
        ("64:ff9b::a9fe:a9fe", Reason::SensitiveService),
        ("0.0.0.0", Reason::LoopbackAddress),
        ("::1", Reason::LoopbackAddress),
        // An address that stands for no name.
        ("198.18.200.1", Reason::PrivateAddress),
    ] {
        stand.refused(stand.say(host, port, b"\0x").await, reason);
    }
}

#[tokio::test]
async fn a_name_that_moves_to_a_private_address_is_refused() {
    let port = echo().await;
    let inside: IpAddr = "127.0.0.1".parse().unwrap();
    let stand = Setup::new(&["*.test"])
        .knows("moving.test", &[SERVER])
        .knows("moving.test", &[inside])
        .knows("mixed.test", &[inside, "10.0.0.1".parse().unwrap(), SERVER])
        .open();
    assert_eq!(stand.say("moving.test", port, b"\0x").await.0, b"\0x");
    let again = stand.say("moving.test", port, b"\0x").await;
    assert_eq!(again.1.address, Some(inside));
    stand.refused(again, Reason::LoopbackAddress);
    // Of several addresses only the checked one is dialled.
    let (answer, record) = stand.say("mixed.test", port, b"\0x").await;
    assert_eq!((answer.as_slice(), record.address), (&b"\0x"[..], Some(SERVER)));
}

#[tokio::test]
async fn the_developers_machine_is_reached_by_its_name_only() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.write_all(b"hi").await;
        }
    });
    let stand = Setup::new(&["*", &format!("host:{port}")]).open();
    assert_eq!(stand.say("host", port, b"").await.0, b"hi");
    stand.refused(stand.say("127.0.0.1", port, b"").await, Reason::LoopbackAddress);
    let other = port.checked_sub(1).unwrap();
    stand.refused(stand.say("host", other, b"").await, Reason::HostNotNamed);
    let closed = Setup::new(&["*"]).open();
    assert_eq!(closed.lookup("host"), None);
}

#[tokio::test]
async fn what_cannot_be_reached_says_why() {
    let free = echo().await;
    let gone = {
        let listener = std::net::TcpListener::bind((SERVER, 0)).unwrap();
        listener.local_addr().unwrap().port()
    };
    let stand = Setup::new(&["*.test"]).open();
    stand.refused(stand.say("nowhere.test", free, b"x").await, Reason::Unresolved);
    stand.refused(stand.say("a.test", gone, b"x").await, Reason::Unreachable);
}

#[tokio::test]
async fn sockets_are_served_too() {
    let port = echo().await;
    let stand = Setup::new(&["a.test"]).open();

    let names = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let at = names.local_addr().unwrap();
    stand.gate.serve_dns_udp(names).unwrap();
    let client = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let mut answer = [0; 512];
    for (name, code) in [("a.test", 0), ("b.test", 3)] {
        client.send_to(&support::question(name), at).await.unwrap();
        soon(client.recv_from(&mut answer)).await.unwrap();
        assert_eq!(answer[3] & 15, code, "{name}");
    }

    let names = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = names.local_addr().unwrap();
    stand.gate.serve_dns_tcp(names).unwrap();
    let mut client = tokio::net::TcpStream::connect(at).await.unwrap();
    for _ in 0..2 {
        let question = support::question("a.test");
        client.write_u16(question.len() as u16).await.unwrap();
        client.write_all(&question).await.unwrap();
        let size = soon(client.read_u16()).await.unwrap();
        let mut answer = vec![0; size.into()];
        soon(client.read_exact(&mut answer)).await.unwrap();
        assert_eq!(answer[3] & 15, 0);
        assert_eq!(answer[answer.len() - 4..], [198, 18, 0, 1]);
    }

    // Connections, to an address that stands for a name and to one that does not.
    let stand = Setup::new(&["a.test"]).with_sockets().open();
    let mut client = stand.connect("a.test", port).await;
    client.write_all(b"\0hello").await.unwrap();
    client.shutdown().await.unwrap();
    assert_eq!(support::all(&mut client).await, b"\0hello");
    assert_eq!(stand.record(0).await.name.as_deref(), Some("a.test"));

    let mut client = stand.connect("127.64.9.9", port).await;
    client.write_all(&get("a.test")).await.unwrap();
    assert!(soon(client.read(&mut answer)).await.is_err(), "it is reset");
    assert_eq!(stand.record(1).await.reason, Reason::NoRule);
}
