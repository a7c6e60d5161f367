//! What may be said to whom: TLS and HTTP for the name that was dialled, everything else as it is.

mod support;

use std::time::Duration;

use fumehood_core::egress::{Inject, Reason, SecretSource};
use support::{Setup, all, echo, get, hello, server, soon};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

#[tokio::test]
async fn tls_is_for_the_name_that_was_dialled() {
    let port = echo().await;
    for stand in [Setup::new(&["*.test"]).open(), Setup::new(&["*.test"]).tls_required().open()] {
        let good = hello(Some("a.test"));
        let (answer, record) = stand.say("a.test", port, &good).await;
        assert_eq!((answer, record.allowed), (good, true));
        // Another name, even one that could have been dialled.
        for other in ["b.test", "evil.com", "a.test.evil.com", "127.0.0.77"] {
            let refused = stand.say("a.test", port, &hello(Some(other))).await;
            assert_eq!(refused.1.sent, 0, "nothing got out");
            stand.refused(refused, Reason::SniMismatch);
        }
        let mut broken = good_but_broken();
        stand.refused(stand.say("a.test", port, &broken).await, Reason::TlsMalformed);
        broken.truncate(20);
        let cut = stand.say("a.test", port, &broken).await;
        assert!(!cut.1.allowed && cut.0.is_empty());
    }
}

fn good_but_broken() -> Vec<u8> {
    let mut bytes = hello(Some("a.test"));
    bytes[5] = 2;
    bytes
}

#[tokio::test]
async fn a_rule_for_tls_wants_tls_with_a_name() {
    let port = echo().await;
    let strict = Setup::new(&["*.test"]).tls_required().open();
    let loose = Setup::new(&["*.test"]).open();
    let nameless = hello(None);
    strict.refused(strict.say("a.test", port, &nameless).await, Reason::SniMissing);
    assert_eq!(loose.say("a.test", port, &nameless).await.0, nameless);
    strict.refused(strict.say("a.test", port, &get("a.test")).await, Reason::NotTls);
    assert_eq!(loose.say("a.test", port, &get("a.test")).await.0, get("a.test"));
    strict.refused(strict.say("a.test", port, b"").await, Reason::NotTls);
    // An address has no name that could be said.
    let address = support::SERVER.to_string();
    assert_eq!(strict.say(&address, port, &nameless).await.0, nameless);
}

#[tokio::test(start_paused = true)]
async fn a_rule_for_tls_does_not_wait_for_ever() {
    let stand = Setup::new(&["a.test"]).tls_required().open();
    for first in [&b""[..], &hello(Some("a.test"))[..30]] {
        let number = stand.records().len();
        let mut stream = stand.dial("a.test", 9).unwrap();
        stream.write_all(first).await.unwrap();
        assert!(all(&mut stream).await.is_empty());
        let record = stand.record(number).await;
        assert_eq!(record.reason, Reason::FirstBytesTimeout);
        assert!((9_000..12_000).contains(&record.duration_ms), "{record:?}");
    }
}

#[tokio::test]
async fn http_is_for_the_name_that_was_dialled() {
    let port = echo().await;
    let stand = Setup::new(&["*.test"]).open();
    for good in [get("a.test"), get(&format!("A.test:{port}")), get("a.test").repeat(3)] {
        let (answer, record) = stand.say("a.test", port, &good).await;
        assert_eq!((answer, record.reason), (good, Reason::Allowed));
    }
    for (bad, reason) in [
        (get("b.test"), Reason::HttpHostMismatch),
        (b"GET / HTTP/1.1\r\n\r\n".to_vec(), Reason::HttpHostMissing),
        (get("a.test\r\nHost: a.test"), Reason::HttpHostDuplicate),
        (get("a.test\nHost: b.test"), Reason::HttpMalformed),
        (get("a.test\0"), Reason::HttpMalformed),
        (get(&"a".repeat(70_000)), Reason::HttpTooLarge),
        (b"GET http://b.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n".to_vec(), Reason::HttpHostMismatch),
        (b"CONNECT b.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\n".to_vec(), Reason::HttpConnect),
        (b"GET / HTTP/1.1\r\nHost: a.te".to_vec(), Reason::HttpMalformed),
    ] {
        stand.refused(stand.say("a.test", port, &bad).await, reason);
    }
}

#[tokio::test]
async fn a_later_request_is_looked_at_too() {
    let port = echo().await;
    let stand = Setup::new(&["*.test"]).open();
    let mut stream = stand.dial("a.test", port).unwrap();
    let mut answer = vec![0; get("a.test").len()];
    stream.write_all(&get("a.test")).await.unwrap();
    soon(stream.read_exact(&mut answer)).await.unwrap();
    stream.write_all(&get("b.test")).await.unwrap();
    assert!(all(&mut stream).await.is_empty());
    let record = stand.record(0).await;
    assert_eq!((record.reason, record.sent), (Reason::HttpHostMismatch, answer.len() as u64));
}

#[tokio::test]
async fn servers_may_speak_first_and_clients_in_any_language() {
    let port = server(|mut stream| async move {
        stream.write_all(b"220 ready\r\n").await?;
        let mut word = [0; 4];
        stream.read_exact(&mut word).await?;
        stream.write_all(b"got ").await?;
        stream.write_all(&word).await
    })
    .await;
    let stand = Setup::new(&["*.test"]).open();
    let mut stream = stand.dial("a.test", port).unwrap();
    let mut banner = [0; 11];
    soon(stream.read_exact(&mut banner)).await.unwrap();
    assert_eq!(&banner, b"220 ready\r\n");
    // A word that could be the beginning of a request, and then silence.
    stream.write_all(b"PING").await.unwrap();
    assert_eq!(all(&mut stream).await, b"got PING");
    drop(stream);
    assert!(stand.record(0).await.allowed);

    // The first words are looked at however late they come.
    let mut late = stand.dial("a.test", port).unwrap();
    soon(late.read_exact(&mut banner)).await.unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    late.write_all(&hello(Some("evil.com"))).await.unwrap();
    assert!(all(&mut late).await.is_empty());
    assert_eq!(stand.record(1).await.reason, Reason::SniMismatch);
}

#[tokio::test]
async fn an_upgraded_connection_is_no_longer_http() {
    let upgrade = b"GET / HTTP/1.1\r\nHost: a.test\r\nUpgrade: websocket\r\n\r\n";
    for (status, passes) in [("101", true), ("200", false)] {
        let port = server(move |mut stream| async move {
            let mut head = vec![0; upgrade.len()];
            stream.read_exact(&mut head).await?;
            stream.write_all(format!("HTTP/1.1 {status} x\r\n\r\n").as_bytes()).await?;
            let (mut read, mut write) = stream.split();
            tokio::io::copy(&mut read, &mut write).await?;
            write.shutdown().await
        })
        .await;
        let stand = Setup::new(&["*.test"]).open();
        let said = [&upgrade[..], &get("b.test")].concat();
        let (answer, record) = stand.say("a.test", port, &said).await;
        assert_eq!(answer.ends_with(&get("b.test")), passes);
        assert_eq!(record.allowed, passes, "{record:?}");
    }
}

#[tokio::test]
async fn secrets_are_added_on_the_way() {
    let port = echo().await;
    let mut setup = Setup::new(&["*.test", "a.test"]);
    let from = SecretSource::Env("TOKEN".into());
    setup.egress.allow[1].inject = Some(Inject { header: "X-Key".into(), from: from.clone() });
    setup.secrets = [("TOKEN".to_owned(), "s3cret".to_owned())].into_iter().collect();
    let stand = setup.open();
    let given = b"GET / HTTP/1.1\r\nx-key: mine\r\nHost: a.test\r\n\r\n".repeat(2);
    let (answer, record) = stand.say("a.test", port, &given).await;
    let expected = b"GET / HTTP/1.1\r\nHost: a.test\r\nX-Key: s3cret\r\n\r\n".repeat(2);
    assert_eq!(String::from_utf8(answer).unwrap(), String::from_utf8(expected).unwrap());
    assert!(!format!("{record:?}").contains("s3cret"));
    assert_eq!(stand.say("b.test", port, &get("b.test")).await.0, get("b.test"));

    let mut setup = Setup::new(&["a.test"]);
    setup.egress.allow[0].inject = Some(Inject { header: "X-Key".into(), from });
    let without = setup.open();
    let refused = without.say("a.test", port, &get("a.test")).await;
    without.refused(refused, Reason::SecretMissing);
}
