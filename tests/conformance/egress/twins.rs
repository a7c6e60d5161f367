//! The same program twice: a whole gate stops it, and a gate that does not look at one thing lets it
//! through. A refusal proves something only if the program can tell when nothing refuses it.

use std::net::UdpSocket;

use fumehood::{Check, Layer, Network, Outcome, Request};
use fumehood_tests::{
    Attack, Case, Condition, FAR, NEAR, SENSITIVE, Scene, Server, Weaker, assert_printed, lines,
    python,
};

use super::{TRY, assert_refused, decisions, lent, reach::own_address, under};

pub fn cases() -> Vec<Case> {
    let twins = [
        Case::steps("egress::twins::literal_address", literal_address),
        Case::steps("egress::twins::spellings", spellings),
        Case::steps("egress::twins::sensitive_names", sensitive_names),
        Case::steps("egress::twins::denied", denied),
        Case::steps("egress::twins::private_addresses", private_addresses),
        Case::steps("egress::twins::names_that_leave", names_that_leave),
        Case::steps("egress::twins::server_name", server_name),
        Case::steps("egress::twins::tls_required", tls_required),
        Case::steps("egress::twins::http_host", http_host),
        Case::steps("egress::twins::flood", flood),
        Case::steps("egress::twins::relay_inside", relay_inside),
    ];
    let mut all: Vec<Case> = twins.into_iter().map(|case| case.only(Condition::GATE)).collect();
    all.push(Case::steps("egress::twins::boxes_apart", boxes_apart).only(Condition::ISOLATED));
    all.extend(
        Attack::new("egress::twins::own_way_out", own_way_out, |_, outcome| {
            assert_printed(outcome, "ENETUNREACH\nENETUNREACH\n");
        })
        .twin(Weaker::Without(&[Layer::NetNamespace]), |_, outcome| {
            assert_printed(outcome, "heard hello\nheard hello\n");
        })
        .cases(),
    );
    all
}

/// The rules for one port of [`NEAR`].
fn near_only(port: u16) -> [String; 2] {
    [format!("near.test:{port}"), format!("{NEAR}:{port}")]
}

/// Every answer of a whole gate is a refusal, and without the checks each is what the server says.
fn twice(scene: &Scene, request: impl Fn() -> Request, checks: &[Check], heard: &str) -> Outcome {
    let whole = scene.run(request());
    assert!(!lines(&whole).is_empty(), "{}", whole.stderr.text());
    for answer in lines(&whole) {
        assert!(answer == "no name" || super::REFUSED.contains(&answer.as_str()), "{answer}");
    }
    let lenient = scene.run_unchecked(request(), checks);
    assert_eq!(lines(&lenient), vec![heard; lines(&whole).len()], "{}", lenient.stderr.text());
    whole
}

/// An address that no rule names.
fn literal_address(scene: &Scene) {
    let own = own_address();
    let server = Server::start(own);
    let source = format!("{TRY}print(talk('{own}', {}))", server.port());
    let request = || lent(python(&source), &["near.test"]);
    let whole = twice(scene, request, &[Check::Rules, Check::Addresses], "heard hello");
    assert_eq!(decisions(&whole), [format!("{own} no_rule")]);
    assert_eq!(server.connections(), 1);
}

/// The same address in every spelling that a C library knows.
fn spellings(scene: &Scene) {
    let std::net::IpAddr::V4(own) = own_address() else { return };
    let server = Server::start(own.into());
    let [a, b, c, d] = own.octets();
    let number = own.to_bits();
    let source = format!(
        "{TRY}for host in '{number}', '{number:#x}', '0{a:o}.0{b:o}.0{c:o}.0{d:o}', \
         '{a}.{b}.{}', '::ffff:{own}':\n\
         \x20print(talk(host, {}))",
        u16::from_be_bytes([c, d]),
        server.port()
    );
    let request = || lent(python(&source), &["near.test"]);
    let whole = twice(scene, request, &[Check::Rules, Check::Addresses], "heard hello");
    assert_eq!(decisions(&whole), vec![format!("{own} no_rule"); 5]);
}

/// Names of services that act for whoever asks, under the widest rule.
fn sensitive_names(scene: &Scene) {
    let server = Server::start(NEAR);
    let port = server.port();
    let source = format!("{TRY}for name in {SENSITIVE:?}: print(talk(name, {port}))");
    let request = || lent(python(&source), &["*", &format!("{NEAR}:{port}")]);
    // Two walls: the name is no better when its address is looked at.
    let whole = twice(scene, request, &[Check::Rules, Check::Addresses], "heard hello");
    assert_eq!(decisions(&whole), SENSITIVE.map(|name| format!("{name} sensitive_service")));
}

fn denied(scene: &Scene) {
    let server = Server::start(NEAR);
    let port = server.port();
    let source = format!("{TRY}print(talk('near.test', {port}))");
    let net = format!("allow: ['*', '{NEAR}:{port}']\n  deny: [near.test]");
    let request = || under(python(&source), &net);
    let whole = twice(scene, request, &[Check::Rules, Check::Addresses], "heard hello");
    assert_eq!(decisions(&whole), ["near.test denied_by_rule"]);
}

/// Names that are allowed and turn out to have addresses that are not, in two spellings.
fn private_addresses(scene: &Scene) {
    let server = Server::start(NEAR);
    let port = server.port();
    let source = format!("{TRY}for n in 'near.test', 'mapped.test': print(talk(n, {port}))");
    let request = || lent(python(&source), &["*.test"]);
    let whole = twice(scene, request, &[Check::Addresses], "heard hello");
    assert_eq!(decisions(&whole), ["mapped.test loopback_address", "near.test loopback_address"]);
    assert_eq!(server.connections(), 2);
}

/// A name that carries something out, if anybody outside is ever asked for it.
fn names_that_leave(scene: &Scene) {
    let secret = format!("{}.far.test", scene.path().display().to_string().len() + 7);
    let secret = format!("secret-{}-{secret}", scene.place.name.replace('_', "-"));
    let source = format!("{TRY}print(talk('{secret}', 80))");
    let request = || lent(python(&source), &["near.test"]);
    let whole = scene.run(request());
    assert_eq!(lines(&whole), ["no name"]);
    assert!(!scene.asked().contains(&secret));
    let lenient = scene.run_unchecked(request(), &[Check::Rules]);
    assert_eq!(decisions(&lenient), [format!("{secret} unresolved")]);
    assert!(scene.asked().contains(&secret));
}

/// A function that makes the first words of TLS for a name, or for none.
const GREETING: &str = "import ssl\n\
    def greeting(name):\n\
    \x20context = ssl.create_default_context(); out = ssl.MemoryBIO()\n\
    \x20context.check_hostname = name is not None\n\
    \x20tls = context.wrap_bio(ssl.MemoryBIO(), out, server_hostname=name)\n\
    \x20try: tls.do_handshake()\n\
    \x20except ssl.SSLWantReadError: return out.read()\n\
    def greet(host, port, words):\n\
    \x20def go():\n\
    \x20\x20s = socket.create_connection((host, port), 10)\n\
    \x20\x20s.sendall(words); return s.recv(5).decode() or 'closed'\n\
    \x20return attempt(go)\n";

fn server_name(scene: &Scene) {
    let server = Server::start(NEAR);
    let port = server.port();
    let source = format!("{TRY}{GREETING}print(greet('near.test', {port}, greeting('far.test')))");
    let [name, address] = near_only(port);
    let request = || lent(python(&source), &[&name, &address]);
    let whole = twice(scene, request, &[Check::Speech], "heard");
    assert_eq!(decisions(&whole), ["near.test sni_mismatch"]);
}

/// Where a rule wants TLS: other words, TLS without a name, and what gets through.
fn tls_required(scene: &Scene) {
    let server = Server::start(NEAR);
    let port = server.port();
    let net = format!("allow: [{{host: 'near.test:{port}', tls: required}}, '{NEAR}:{port}']");
    let source = format!(
        "{TRY}{GREETING}\
         for words in b'hello', b'GET / HTTP/1.1\\r\\nHost: near.test\\r\\n\\r\\n', greeting(None):\n\
         \x20print(greet('near.test', {port}, words).replace('HTTP/', 'heard'))"
    );
    let request = || under(python(&source), &net);
    let whole = scene.run(request());
    assert_eq!(lines(&whole).len(), 3, "{}", whole.stderr.text());
    lines(&whole).iter().for_each(|answer| assert_refused(answer));
    assert_eq!(
        decisions(&whole),
        ["near.test not_tls", "near.test not_tls", "near.test sni_missing"]
    );
    // Nobody was even dialled.
    assert_eq!((server.connections(), server.bytes()), (0, 0));
    let lenient = scene.run_unchecked(request(), &[Check::Speech]);
    assert_eq!(lines(&lenient), ["heard"; 3]);
    let good = format!("{TRY}{GREETING}print(greet('near.test', {port}, greeting('near.test')))");
    assert_eq!(lines(&scene.run(under(python(&good), &net))), ["heard"]);
}

/// Requests for another host, for two hosts, with a bare line end, a zero, and far too long.
fn http_host(scene: &Scene) {
    let server = Server::start(NEAR);
    let port = server.port();
    let source = format!(
        "{TRY}\
         for hosts in ('far.test',), ('near.test:{port}', 'far.test'), ('near.test:{port}\\rX: y',), \
         ('near\\0.test',), ('n' * 3000,):\n\
         \x20head = 'GET / HTTP/1.1\\r\\n' + ''.join(f'Host: {{h}}\\r\\n' for h in hosts) + '\\r\\n'\n\
         \x20print(talk('near.test', {port}, head.encode())[:15])"
    );
    let [name, address] = near_only(port);
    let request = || lent(python(&source), &[&name, &address]);
    twice(scene, request, &[Check::Speech], "HTTP/1.1 200 OK");
    assert_eq!(server.connections(), 5 * 2);
}

/// More connections than a box may have.
fn flood(scene: &Scene) {
    let server = Server::start(NEAR);
    let port = server.port();
    let source = format!(
        "{TRY}\
         many = []\n\
         def open():\n\
         \x20s = socket.create_connection(('near.test', {port}), 10); many.append(s)\n\
         \x20s.sendall(b'hello'); return s.recv(99).decode() or 'closed'\n\
         answers = [attempt(open) for _ in range(12)]\n\
         print(answers.count('heard hello'))"
    );
    let net = format!("allow: ['near.test:{port}', '{NEAR}:{port}']\n  limits: {{connections: 4}}");
    assert_eq!(lines(&scene.run(under(python(&source), &net))), ["4"]);
    let lenient = scene.run_unchecked(under(python(&source), &net), &[Check::Room]);
    assert_eq!(lines(&lenient), ["12"]);
}

/// A helper inside that passes connections on.
fn relay_inside(scene: &Scene) {
    let far = Server::start(FAR);
    let source = format!(
        "{TRY}\
         import subprocess, sys\n\
         relay = '''\n\
         import socket, sys\n\
         s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True)\n\
         peer, _ = s.accept()\n\
         out = socket.create_connection((sys.argv[1], int(sys.argv[2])), 5)\n\
         out.sendall(peer.recv(99)); peer.sendall(out.recv(99))\n\
         '''\n\
         helper = subprocess.Popen([sys.executable, '-c', relay, 'far.test', '{}'], \
         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)\n\
         print(talk('127.0.0.1', int(helper.stdout.readline())))",
        far.port()
    );
    let request = || lent(python(&source), &["near.test"]);
    twice(scene, request, &[Check::Rules, Check::Addresses], "heard hello");
    assert_eq!(far.connections(), 1);
}

/// Straight to the machine itself, with a connection and with a datagram, past every gate.
fn own_way_out(scene: &Scene) -> Request {
    let own = own_address();
    let server = Server::start(own);
    let datagrams = UdpSocket::bind((own, 0)).expect("a socket on this machine");
    let port = datagrams.local_addr().expect("its address").port();
    let ends = datagrams.try_clone().expect("the same socket");
    std::thread::spawn(move || {
        let mut word = [0; 99];
        while let Ok((count, from)) = datagrams.recv_from(&mut word) {
            if count == 0 {
                return;
            }
            let _ = datagrams.send_to(&[b"heard ", &word[..count]].concat(), from);
        }
    });
    let source = format!(
        "{TRY}print(talk('{own}', {}))\nprint(say('{own}', {port}, b'hello'))",
        server.port()
    );
    scene.keep((server, Ended(ends)));
    python(&source).network(Network::None)
}

/// Ends who waits for datagrams, with an empty one.
struct Ended(UdpSocket);

impl Drop for Ended {
    fn drop(&mut self) {
        if let Ok(own) = self.0.local_addr() {
            let _ = self.0.send_to(&[], own);
        }
    }
}

/// What one box serves, another reaches only if neither has a namespace of its own.
fn boxes_apart(scene: &Scene) {
    let port = {
        let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
        free.local_addr().expect("its address").port()
    };
    let serve = format!(
        "import socket\n\
         s = socket.create_server(('127.0.0.1', {port})); s.settimeout(4)\n\
         try: s.accept()[0].sendall(b'heard'); print('met')\n\
         except TimeoutError: print('alone')"
    );
    let seek = format!(
        "{TRY}\
         answer, end = '', time.monotonic() + 4\n\
         while answer != 'heard' and time.monotonic() < end:\n\
         \x20answer = talk('127.0.0.1', {port}); time.sleep(.05)\n\
         print(answer)"
    );
    // Without a namespace there is no loopback of its own to be brought up.
    let both = |network: Network, without: &'static [Layer]| {
        let run = |source: &str| {
            let request = scene.place.request(python(source).network(network));
            scene.sandbox().run_without(request, without)
        };
        let (one, other) = (run(&serve), run(&seek));
        let (one, other) = scene.block_on(async { tokio::join!(one, other) });
        let [one, other] = [one, other].map(|outcome| outcome.expect("an outcome"));
        [lines(&one).concat(), lines(&other).concat()]
    };
    assert_eq!(both(Network::Localhost, &[]), ["alone", "ECONNREFUSED"]);
    assert_eq!(both(Network::None, &[Layer::NetNamespace]), ["met", "heard"]);
}
