//! Bytes on their way: ends, limits, floods, proxies, and a gate that goes away.

mod support;

use std::{
    sync::Arc,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use fumehood_core::egress::Reason;
use fumehood_gate::{MOST_RECORDS, Proxies};
use support::{SERVER, Setup, all, echo, server, soon};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
    time::Instant,
};

/// Says how many bytes it got once the other side has ended, and not before.
async fn counting() -> u16 {
    server(|mut stream| async move {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).await?;
        stream.write_all(format!("{}", bytes.len()).as_bytes()).await?;
        stream.shutdown().await
    })
    .await
}

#[tokio::test]
async fn one_direction_may_end_before_the_other() {
    let port = counting().await;
    let stand = Setup::new(&["a.test"]).with_sockets().open();
    assert_eq!(stand.say("a.test", port, &[0; 5000]).await.0, b"5000");
    let mut client = stand.connect("a.test", port).await;
    client.write_all(&[0; 7000]).await.unwrap();
    client.shutdown().await.unwrap();
    assert_eq!(all(&mut client).await, b"7000");

    // The server ends first; the box may still speak.
    let (told, mut tells) = tokio::sync::mpsc::unbounded_channel();
    let port = server(move |mut stream| {
        let told = told.clone();
        async move {
            stream.shutdown().await?;
            let mut bytes = Vec::new();
            stream.read_to_end(&mut bytes).await?;
            let _ = told.send(bytes.len());
            Ok(())
        }
    })
    .await;
    let mut client = stand.connect("a.test", port).await;
    assert!(all(&mut client).await.is_empty());
    client.write_all(&[0; 3000]).await.unwrap();
    drop(client);
    assert_eq!(soon(tells.recv()).await, Some(3000));
}

#[tokio::test]
async fn a_broken_connection_does_not_look_like_one_that_ended() {
    let stand = Setup::new(&["a.test"]).with_sockets().open();
    for breaks in [true, false] {
        let port = server(move |mut stream| async move {
            stream.write_all(&[1; 10]).await?;
            // Until the box has read it.
            stream.read_u8().await?;
            if breaks {
                stream.set_zero_linger()?;
            }
            Ok(())
        })
        .await;
        let mut client = stand.connect("a.test", port).await;
        soon(client.read_exact(&mut [0; 10])).await.unwrap();
        client.write_all(&[0x80]).await.unwrap();
        let end = soon(client.read(&mut [0; 10])).await;
        assert_eq!(end.is_err(), breaks, "{end:?}");
    }
}

/// Bytes that differ from place to place.
fn pattern(size: usize) -> Vec<u8> {
    (0..size).map(|at| (at / 251 * 7 + at) as u8 & 0x7f | 0x80).collect()
}

#[tokio::test]
async fn much_arrives_whole_and_in_order() {
    let port = echo().await;
    let stand = Setup::new(&["a.test"]).with_sockets().open();
    let bytes = Arc::new(pattern(6_000_000));
    for by_socket in [true, false] {
        let number = stand.records().len();
        let (mut read, mut write): (
            Box<dyn tokio::io::AsyncRead + Unpin>,
            Box<dyn tokio::io::AsyncWrite + Unpin + Send>,
        ) = if by_socket {
            let (read, write) = stand.connect("a.test", port).await.into_split();
            (Box::new(read), Box::new(write))
        } else {
            let (read, write) = tokio::io::split(stand.dial("a.test", port).unwrap());
            (Box::new(read), Box::new(write))
        };
        let given = bytes.clone();
        let writer = tokio::spawn(async move {
            write.write_all(&given).await.unwrap();
            write.shutdown().await.unwrap();
        });
        let got = all(&mut read).await;
        writer.await.unwrap();
        assert!(got == *bytes, "{} bytes", got.len());
        let record = stand.record(number).await;
        assert_eq!((record.sent, record.received), (6_000_000, 6_000_000));
    }
}

#[tokio::test]
async fn a_thousand_connections_at_once() {
    let port = echo().await;
    let mut setup = Setup::new(&["a.test"]);
    setup.egress.limits.connections = 1000;
    let stand = setup.open();
    let mut streams = Vec::new();
    for number in 0..1000u32 {
        let mut stream = stand.dial("a.test", port).unwrap();
        stream.write_all(&[[0xff; 4], number.to_be_bytes()].concat()).await.unwrap();
        streams.push(stream);
    }
    let mut refused = stand.dial("a.test", port).unwrap();
    assert!(all(&mut refused).await.is_empty());
    for (number, stream) in streams.iter_mut().enumerate() {
        let mut answer = [0; 8];
        soon(stream.read_exact(&mut answer)).await.unwrap();
        assert_eq!(answer[4..], (number as u32).to_be_bytes());
    }
    assert_eq!(stand.records().len(), 1);
    assert_eq!(stand.record(0).await.reason, Reason::TooManyConnections);
    drop(streams);
    let (answer, _) = loop {
        // There is room again once the others are gone.
        let said = stand.say("a.test", port, b"\0again").await;
        if !said.0.is_empty() {
            break said;
        }
    };
    assert_eq!(answer, b"\0again");
}

#[tokio::test]
async fn too_many_connections_are_recorded_once() {
    let port = echo().await;
    let mut setup = Setup::new(&["a.test"]);
    setup.egress.limits.connections = 2;
    let stand = setup.open();
    let mut held = [stand.dial("a.test", port).unwrap(), stand.dial("a.test", port).unwrap()];
    for _ in 0..5 {
        assert!(all(&mut stand.dial("a.test", port).unwrap()).await.is_empty());
    }
    for stream in &mut held {
        stream.write_all(&[0xff]).await.unwrap();
        assert_eq!(soon(stream.read_u8()).await.unwrap(), 0xff, "others are unaffected");
    }
    assert_eq!(stand.records().len(), 1);
    assert_eq!(stand.record(0).await.reason, Reason::TooManyConnections);
}

#[tokio::test]
async fn bytes_have_a_limit() {
    let port = counting().await;
    let mut setup = Setup::new(&["a.test"]);
    setup.egress.limits.total_bytes = Some(100_000);
    let stand = setup.open();
    assert_eq!(stand.say("a.test", port, &[0x80; 60_000]).await.0, b"60000");
    let (answer, record) = stand.say("a.test", port, &[0x80; 60_000]).await;
    assert!(answer.is_empty());
    assert_eq!((record.allowed, record.reason), (false, Reason::ByteLimit));
    assert!(record.sent <= 40_000, "{record:?}");
}

#[tokio::test]
async fn bytes_have_a_rate() {
    let port = counting().await;
    let mut setup = Setup::new(&["a.test"]);
    setup.egress.limits.bytes_per_second = Some(200_000);
    let stand = setup.open();
    let begun = Instant::now();
    assert_eq!(stand.say("a.test", port, &[0x80; 100_000]).await.0, b"100000");
    let slow = begun.elapsed();
    assert!(slow >= Duration::from_millis(350), "{slow:?}");
    let free = Setup::new(&["a.test"]).open();
    let begun = Instant::now();
    assert_eq!(free.say("a.test", port, &[0x80; 100_000]).await.0, b"100000");
    assert!(begun.elapsed() < slow);
}

#[tokio::test]
async fn a_flood_of_refusals_is_counted() {
    let stand = Setup::new(&["a.test"]).open();
    for number in 0..MOST_RECORDS + 500 {
        assert_eq!(stand.lookup(&format!("n{number}.evil")), None);
    }
    assert_eq!(stand.records().len() as u64, MOST_RECORDS);
    assert_eq!(stand.gate.left_out(), 500);
    // What is allowed is recorded all the same.
    let port = echo().await;
    let mut stream = stand.dial("a.test", port).unwrap();
    stream.shutdown().await.unwrap();
    all(&mut stream).await;
    assert!(stand.record(MOST_RECORDS as usize).await.allowed);
}

/// A proxy that connects everybody to one port of the servers and counts.
async fn proxy(to: u16, accepts: bool) -> (u16, Arc<AtomicU64>, Arc<std::sync::Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (asked, head) = (Arc::new(AtomicU64::new(0)), Arc::default());
    let (count, last): (_, Arc<std::sync::Mutex<String>>) = (asked.clone(), Arc::clone(&head));
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::Relaxed);
            let mut bytes = Vec::new();
            while !bytes.ends_with(b"\r\n\r\n") {
                bytes.push(client.read_u8().await.unwrap());
            }
            *last.lock().unwrap() = String::from_utf8(bytes).unwrap();
            if !accepts {
                let _ = client.write_all(b"HTTP/1.1 403 Forbidden\r\n\r\n").await;
                continue;
            }
            client.write_all(b"HTTP/1.1 200 OK\r\nX: y\r\n\r\n").await.unwrap();
            let mut server = tokio::net::TcpStream::connect((SERVER, to)).await.unwrap();
            tokio::spawn(async move {
                let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
            });
        }
    });
    (port, asked, head)
}

#[tokio::test]
async fn the_proxy_of_this_machine_is_used() {
    let port = echo().await;
    let (at, asked, head) = proxy(port, true).await;
    let open = |except: &str| {
        let mut setup = Setup::new(&["*"]);
        let variables = [
            ("HTTPS_PROXY".to_owned(), format!("http://user:pw@127.0.0.1:{at}")),
            ("NO_PROXY".to_owned(), except.to_owned()),
        ];
        setup.proxies = Proxies::from_variables(variables).unwrap();
        setup.open()
    };
    let stand = open("");
    // Names are looked up by the proxy, so this one needs no address here.
    let (answer, record) = stand.say("far.test", port, b"\0x").await;
    assert_eq!((answer.as_slice(), record.via_proxy, record.address), (&b"\0x"[..], true, None));
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    let text = head.lock().unwrap().clone();
    assert!(text.starts_with(&format!("CONNECT far.test:{port} HTTP/1.1\r\n")), "{text}");
    assert!(text.contains("Proxy-Authorization: Basic dXNlcjpwdw==\r\n"), "{text}");
    // Private addresses and what is said first are refused as ever.
    stand.refused(stand.say("10.0.0.1", port, b"x").await, Reason::PrivateAddress);
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    let wrong = support::hello(Some("evil.com"));
    stand.refused(stand.say("far.test", port, &wrong).await, Reason::SniMismatch);

    let before = asked.load(Ordering::Relaxed);
    let (answer, record) = open("a.test").say("a.test", port, b"\0x").await;
    assert_eq!((answer.as_slice(), record.via_proxy), (&b"\0x"[..], false));
    assert_eq!(asked.load(Ordering::Relaxed), before);

    let (at, ..) = proxy(port, false).await;
    let mut setup = Setup::new(&["*"]);
    let variables = [("all_proxy".to_owned(), format!("127.0.0.1:{at}"))];
    setup.proxies = Proxies::from_variables(variables).unwrap();
    let stand = setup.open();
    let refused = stand.say("far.test", port, b"\0x").await;
    assert!(refused.1.via_proxy);
    stand.refused(refused, Reason::ProxyFailed);
}

#[tokio::test]
async fn a_gate_that_is_dropped_ends_everything() {
    let (told, mut tells) = tokio::sync::mpsc::unbounded_channel();
    let port = server(move |mut stream| {
        let told = told.clone();
        async move {
            stream.write_all(&[1; 1000]).await?;
            let mut rest = Vec::new();
            let _ = stream.read_to_end(&mut rest).await;
            let _ = told.send(());
            Ok(())
        }
    })
    .await;
    let stand = Setup::new(&["a.test"]).with_sockets().open();
    let list = stand.list();
    let mut by_stream = stand.dial("a.test", port).unwrap();
    let mut by_socket = stand.connect("a.test", port).await;
    let at = by_socket.peer_addr().unwrap();
    let mut answer = [0; 1000];
    soon(by_stream.read_exact(&mut answer)).await.unwrap();
    soon(by_socket.read_exact(&mut answer)).await.unwrap();
    assert!(list.lock().unwrap().is_empty());
    drop(stand);
    assert!(all(&mut by_stream).await.is_empty());
    assert!(all(&mut by_socket).await.is_empty());
    soon(tells.recv()).await.unwrap();
    soon(tells.recv()).await.unwrap();
    let records = list.lock().unwrap().clone();
    assert_eq!(records.len(), 2);
    assert!(records.iter().all(|record| record.received == 1000 && record.allowed));
    assert!(tokio::net::TcpStream::connect(at).await.is_err(), "nobody listens any more");
}
