//! No box has a network: no way to the host, to other boxes, to the world.

use std::net::TcpListener;

use fumehood::{Network, Outcome, Request};
use fumehood_tests::{Case, Condition, Scene, assert_printed, lines, printed, python};

pub fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    all.push(
        Case::new(
            "network::localhost::host_loopback",
            |scene| host_listener(scene).network(Network::Localhost),
            not_connected,
        )
        .only(Condition::ISOLATED),
    );
    let boxed = [
        Case::new(
            "network::none::world",
            |_| world(),
            |_, outcome| {
                let answers = lines(outcome);
                assert_eq!(answers[..2], ["ENETUNREACH", "ENETUNREACH"]);
                // Without an address of its own the box has nothing to come from either.
                assert!(["ENETUNREACH", "EADDRNOTAVAIL"].contains(&answers[2].as_str()));
                assert_eq!(answers[3], "no name");
            },
        ),
        Case::new(
            "network::none::interfaces",
            |_| interfaces(),
            |_, outcome| {
                assert_printed(outcome, "lo\n");
            },
        ),
        Case::new(
            "network::localhost::world",
            |_| world().network(Network::Localhost),
            |_, outcome| {
                for answer in lines(outcome) {
                    assert_ne!(answer, "connected");
                }
            },
        ),
        Case::new(
            "network::localhost::inside",
            |_| talk_to_itself().network(Network::Localhost),
            |_, outcome| assert_printed(outcome, "heard hello\nheard hello\n"),
        ),
    ];
    all.extend(boxed.into_iter().map(|case| case.only(Condition::ISOLATED)));
    all.push(Case::steps("network::localhost::boxes_apart", boxes_apart).only(Condition::ISOLATED));
    all
}

/// A function that connects and says how that went.
const CONNECT: &str = "import errno, socket\n\
    def connect(family, kind, address):\n\
    \x20s = socket.socket(family, kind)\n\
    \x20s.settimeout(5)\n\
    \x20try: s.connect(address); s.send(b'x'); return 'connected'\n\
    \x20except OSError as e: return errno.errorcode.get(e.errno, str(e))\n\
    T, U = socket.SOCK_STREAM, socket.SOCK_DGRAM\n";

fn host_listener(scene: &Scene) -> Request {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener on the host");
    let port = listener.local_addr().expect("its address").port();
    scene.keep(listener);
    python(&format!(
        "{CONNECT}\
         print(connect(socket.AF_INET, T, ('127.0.0.1', {port})))\n\
         print(connect(socket.AF_INET6, T, ('::ffff:127.0.0.1', {port})))"
    ))
}

fn not_connected(_: &Scene, outcome: &Outcome) {
    for answer in lines(outcome) {
        let expected = ["ENETUNREACH", "ECONNREFUSED", "EADDRNOTAVAIL"];
        assert!(expected.contains(&answer.as_str()), "{answer}");
    }
}

/// Addresses that are set aside for documentation, so that nothing is reached if this fails.
fn world() -> Request {
    python(&format!(
        "{CONNECT}\
         print(connect(socket.AF_INET, T, ('203.0.113.1', 80)))\n\
         print(connect(socket.AF_INET, U, ('203.0.113.1', 53)))\n\
         print(connect(socket.AF_INET6, T, ('2001:db8::1', 80)))\n\
         try: socket.getaddrinfo('example.invalid', 80); print('a name')\n\
         except OSError: print('no name')"
    ))
}

fn interfaces() -> Request {
    python("import socket\nfor _, name in socket.if_nameindex(): print(name)")
}

/// A server and its client, over both kinds of addresses.
fn talk_to_itself() -> Request {
    python(
        "import socket, threading\n\
         for family, host in ((socket.AF_INET, '127.0.0.1'), (socket.AF_INET6, '::1')):\n\
         \x20server = socket.create_server((host, 0), family=family)\n\
         \x20def answer():\n\
         \x20\x20peer, _ = server.accept()\n\
         \x20\x20peer.sendall(b'heard ' + peer.recv(99))\n\
         \x20thread = threading.Thread(target=answer); thread.start()\n\
         \x20client = socket.create_connection(server.getsockname()[:2], 5)\n\
         \x20client.sendall(b'hello'); print(client.recv(99).decode()); thread.join()",
    )
}

/// Two boxes that both have their own loopback do not have the same one.
fn boxes_apart(scene: &Scene) {
    const PORT: u16 = 47123;
    let serve = format!(
        "import socket, time\n\
         s = socket.create_server(('127.0.0.1', {PORT})); print('listening'); time.sleep(30)"
    );
    let mut server = scene.start(python(&serve).network(Network::Localhost));
    scene.block_on(async {
        while let Some(event) = server.next_event().await {
            if matches!(event, fumehood::Event::Output { .. }) {
                break;
            }
        }
    });
    let source = format!("{CONNECT}print(connect(socket.AF_INET, T, ('127.0.0.1', {PORT})))");
    let outcome = scene.run(python(&source).network(Network::Localhost));
    drop(server);
    assert_eq!(printed(&outcome), "ECONNREFUSED\n");
}
