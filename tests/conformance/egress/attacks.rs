//! What programs try to get past a gate, each beside what gets through.

use fumehood_tests::{Case, Condition, FAR, NEAR, Scene, Server, lines, printed, python};

use super::{TRY, assert_refused, decisions, lent};

pub fn cases() -> Vec<Case> {
    let all = [
        Case::steps("egress::metadata", metadata),
        Case::steps("egress::server_name", server_name),
        Case::steps("egress::http_host", http_host),
        Case::steps("egress::relay_inside", relay_inside),
        Case::steps("egress::flood", flood),
        Case::steps("egress::slow", slow),
        Case::steps("egress::boxes_apart", boxes_apart),
        Case::steps("egress::own_doing", own_doing),
    ];
    all.into_iter().map(|case| case.only(Condition::GATE)).collect()
}

/// The server, and rules that let `near.test` reach it.
fn near() -> (Server, String, String) {
    let server = Server::start(NEAR);
    let port = server.port();
    (server, format!("near.test:{port}"), format!("{NEAR}:{port}"))
}

/// Addresses of cloud metadata under the widest rule, as programs may write them.
fn metadata(scene: &Scene) {
    let (server, _, address) = near();
    let source = format!(
        "{TRY}\
         spellings = ('169.254.169.254', '2852039166', '0xa9fea9fe', '0251.0376.0251.0376',\n\
         \x20'169.254.43518', '::ffff:169.254.169.254', '::ffff:a9fe:a9fe', '64:ff9b::a9fe:a9fe',\n\
         \x20'2002:a9fe:a9fe::1', 'fd00:ec2::254', '100.100.100.200', '168.63.129.16')\n\
         for host in spellings: print(talk(host, 80))\n\
         print(talk('near.test', {}))",
        server.port()
    );
    let outcome = scene.run(lent(python(&source), &["*", &address]));
    let answers = lines(&outcome);
    let (last, spellings) = answers.split_last().expect("answers");
    assert_eq!(last, "heard hello");
    for answer in spellings {
        assert!(answer == "ENETUNREACH" || super::REFUSED.contains(&answer.as_str()), "{answer}");
    }
    let allowed = outcome.network.iter().filter(|record| record.allowed).count();
    assert_eq!((outcome.network.len(), allowed), (13, 1));
    let sensitive = |one: &&String| one.ends_with("sensitive_service");
    assert!(decisions(&outcome).iter().filter(sensitive).count() >= 7);
}

/// TLS for another name than the one that was dialled.
fn server_name(scene: &Scene) {
    let (server, name, address) = near();
    let source = |spoken: &str| {
        format!(
            "{TRY}import ssl\n\
             def greeting(name):\n\
             \x20context = ssl.create_default_context(); out = ssl.MemoryBIO()\n\
             \x20tls = context.wrap_bio(ssl.MemoryBIO(), out, server_hostname=name)\n\
             \x20try: tls.do_handshake()\n\
             \x20except ssl.SSLWantReadError: return out.read()\n\
             def go():\n\
             \x20s = socket.create_connection(('near.test', {}), 10)\n\
             \x20s.sendall(greeting('{spoken}')); return s.recv(5).decode() or 'closed'\n\
             print(attempt(go))",
            server.port()
        )
    };
    let outcome = scene.run(lent(python(&source("far.test")), &[&name, &address]));
    assert_refused(&lines(&outcome)[0]);
    assert_eq!(decisions(&outcome), ["near.test sni_mismatch"]);
    assert_eq!(server.bytes(), 0);
    let outcome = scene.run(lent(python(&source("near.test")), &[&name, &address]));
    assert_eq!(lines(&outcome), ["heard"]);
}

/// Requests of HTTP for another host, for two hosts, and with a line too many.
fn http_host(scene: &Scene) {
    let (server, name, address) = near();
    let port = server.port();
    let source = format!(
        "{TRY}\
         for hosts in ('near.test:{port}',), ('far.test',), ('near.test:{port}', 'far.test'), \
         ('near.test:{port}\\rX: y',), ('near\\0.test',):\n\
         \x20head = 'GET / HTTP/1.1\\r\\n' + ''.join(f'Host: {{h}}\\r\\n' for h in hosts) + '\\r\\n'\n\
         \x20print(talk('near.test', {port}, head.encode())[:15])"
    );
    let outcome = scene.run(lent(python(&source), &[&name, &address]));
    let answers = lines(&outcome);
    assert_eq!(answers[0], "HTTP/1.1 200 OK");
    answers[1..].iter().for_each(|answer| assert_refused(answer));
    let reasons = decisions(&outcome);
    for reason in ["allowed", "http_host_mismatch", "http_host_duplicate", "http_malformed"] {
        assert!(reasons.contains(&format!("near.test {reason}")), "{reasons:?}");
    }
}

/// A helper inside that passes connections on gets no further than the program itself.
fn relay_inside(scene: &Scene) {
    let (server, name, address) = near();
    let other = Server::start(FAR);
    let source = format!(
        "{TRY}\
         import subprocess, sys\n\
         relay = '''\n\
         import socket, sys\n\
         s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True)\n\
         while True:\n\
         \x20peer, _ = s.accept()\n\
         \x20try:\n\
         \x20\x20out = socket.create_connection((sys.argv[1], int(sys.argv[2])), 5)\n\
         \x20\x20out.sendall(peer.recv(99)); peer.sendall(out.recv(99))\n\
         \x20except OSError: pass\n\
         \x20peer.close()\n\
         '''\n\
         for host, port in ('near.test', '{}'), ('far.test', '{}'), ('203.0.113.1', '80'):\n\
         \x20helper = subprocess.Popen([sys.executable, '-c', relay, host, port], \
         stdout=subprocess.PIPE, start_new_session=True)\n\
         \x20print(talk('127.0.0.1', int(helper.stdout.readline())))",
        server.port(),
        other.port()
    );
    let outcome = scene.run(lent(python(&source), &[&name, &address]));
    let answers = lines(&outcome);
    assert_eq!(answers[0], "heard hello");
    answers[1..].iter().for_each(|answer| assert_refused(answer));
    assert_eq!(other.connections(), 0);
}

/// More connections than a box may have. Another box does not notice, and when they are closed
/// there is room again.
fn flood(scene: &Scene) {
    let (server, name, address) = near();
    let port = server.port();
    let allow = [name.as_str(), address.as_str()];
    let source = format!(
        "{TRY}\
         many = []\n\
         for _ in range(300):\n\
         \x20try: many.append(socket.create_connection(('near.test', {port}), 10))\n\
         \x20except OSError: pass\n\
         print('full', flush=True); input()\n\
         for s in many: s.close()\n\
         answers = []\n\
         while 'heard hello' not in answers and len(answers) < 100:\n\
         \x20answers.append(talk('near.test', {port})); time.sleep(.05)\n\
         print(answers[-1])"
    );
    let mut request = lent(python(&source), &allow);
    request.stdin = fumehood::StdinSource::Live;
    let mut run = scene.start(request);
    let outcome = scene.block_on(async {
        let mut stdin = run.stdin().expect("live input");
        while let Some(event) = run.next_event().await {
            if matches!(event, fumehood::Event::Output { .. }) {
                break;
            }
        }
        let other = format!("{TRY}print(talk('near.test', {port}))");
        let request = scene.place.request(lent(python(&other), &allow));
        let beside = scene.sandbox().run(request).await.expect("an outcome");
        assert_eq!(printed(&beside), "heard hello\n");
        stdin.write(b"go on\n").await;
        drop(stdin);
        run.outcome().await.expect("an outcome")
    });
    assert_eq!(lines(&outcome), ["full", "heard hello"]);
    let crowded = decisions(&outcome);
    assert!(crowded.contains(&"near.test too_many_connections".to_owned()));
    assert!(server.connections() <= 256 + 102, "{}", server.connections());
}

/// A connection on which nothing is said keeps nobody else waiting.
fn slow(scene: &Scene) {
    let (server, name, address) = near();
    let source = format!(
        "{TRY}\
         idle = socket.create_connection(('near.test', {port}), 10); idle.sendall(b'GET /')\n\
         print(talk('near.test', {port}))",
        port = server.port()
    );
    let outcome = scene.run(lent(python(&source), &[&name, &address]));
    assert_eq!(lines(&outcome), ["heard hello"]);
}

/// Every address of a box is its own: what one serves, another does not reach.
fn boxes_apart(scene: &Scene) {
    let serve = "import socket, time\n\
        s = socket.create_server(('0.0.0.0', 47124)); print('listening', flush=True)\n\
        c = socket.create_connection(('127.0.0.1', 47124)); s.accept()[0].sendall(b'here')\n\
        print(c.recv(9).decode(), flush=True); time.sleep(60)";
    let mut server = scene.start(lent(python(serve), &["*"]));
    let mut said = String::new();
    scene.block_on(async {
        while let Some(event) = server.next_event().await {
            if let fumehood::Event::Output { data, .. } = event {
                said.push_str(&data.text());
            }
            if said.contains("here") {
                break;
            }
        }
    });
    let source = format!(
        "{TRY}for host in '127.0.0.1', '198.18.0.0', '198.18.0.1', 'fumehood':\n\
         \x20print(talk(host, 47124))"
    );
    let outcome = scene.run(lent(python(&source), &["near.test"]));
    drop(server);
    lines(&outcome).iter().for_each(|answer| assert_refused(answer));
}

/// A program cannot change how its connections are led.
fn own_doing(scene: &Scene) {
    let (server, name, address) = near();
    let source = format!(
        "{TRY}import struct\n\
         def option(level, number):\n\
         \x20s = socket.socket(); s.setsockopt(level, number, 1); return 'set'\n\
         print(attempt(lambda: option(socket.SOL_IP, 19)))\n\
         def remove_route():\n\
         \x20s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)\n\
         \x20body = struct.pack('8BI', 2, 0, 0, 0, 255, 4, 254, 2, 0)\n\
         \x20s.send(struct.pack('IHHII', 16 + len(body), 25, 5, 1, 0) + body)\n\
         \x20return errno.errorcode.get(-struct.unpack('i', s.recv(99)[16:20])[0], 'removed')\n\
         print(attempt(remove_route))\n\
         def steal():\n\
         \x20s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)\n\
         \x20s.bind(('0.0.0.0', {port})); s.listen(); return talk('near.test', {port})\n\
         print(attempt(steal))",
        port = server.port()
    );
    let outcome = scene.run(lent(python(&source), &[&name, &address]));
    assert_eq!(lines(&outcome), ["EPERM", "EPERM", "heard hello"]);
}
