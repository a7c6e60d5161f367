//! Clients as people use them, none of which knows of a gate: each reaches what is allowed, and is
//! refused any other name, port and address at once.

use std::{env, path::PathBuf};

use fumehood::{Mount, Request};
use fumehood_tests::{
    Case, Condition, NEAR, Place, Scene, assert_ended, command_line, lines, shell, with_limits,
};

use super::{decisions, lent, peer::Peer};

pub fn cases() -> Vec<Case> {
    let all = [
        web("python_urllib", || Request::code("python", include_str!("clients/urllib.py"))),
        web("python_requests", || {
            fetched(Request::code("python", include_str!("clients/requests.py")))
        }),
        web("node_fetch", || Request::code("javascript", include_str!("clients/fetch.js"))),
        web("node_ws", || {
            fetched(Request::code("javascript", include_str!("clients/websocket.js")))
        }),
        web("go_net_http", || fetched(command_line(&["/clients/go-client"]))),
        web("java_http_client", || Request::code("java", include_str!("clients/Client.java")))
            .only(Condition::new(|place| has(place, "javac"), "the image has no javac")),
        web("curl", || {
            let line = "for target in $TARGETS; do\n\
                attempt curl -sS -m 20 --cacert ca.pem \"$target\"\ndone";
            shell(&format!("{}{line}", include_str!("clients/attempt.sh")))
        })
        .only(Condition::new(|place| has(place, "curl"), "the image has no curl")),
        Case::steps("egress::clients::psql", psql)
            .only(Condition::new(|place| has(place, "psql"), "the image has no psql")),
    ];
    all.into_iter().map(|case| case.only(Condition::GATE)).collect()
}

/// A host must have every program; an image may lack some.
fn has(place: &Place, program: &str) -> bool {
    place.image.is_none() || place.programs.contains(program)
}

/// Libraries and programs that `cargo xtask clients` fetches, since no distribution has them all.
pub(super) fn fetched(request: Request) -> Request {
    let tests = env::current_exe().expect("the path of these tests");
    let beside = tests.ancestors().map(|directory| directory.join("clients"));
    let found: Option<PathBuf> = beside.into_iter().find(|place| place.join("go-client").exists());
    let found = found.expect("clients for the tests are missing: run `cargo xtask clients`");
    request.mount(Mount::read_only(found, "/clients"))
}

/// A client that says for each of `TARGETS` how it went.
fn web(name: &str, request: fn() -> Request) -> Case {
    Case::steps(format!("egress::clients::{name}"), move |scene| {
        let peer = Peer::start(scene);
        let (port, other) = (peer.port, peer.other_port);
        let targets = [
            format!("https://allowed.test:{port}/"),
            format!("https://far.test:{port}/"),
            format!("https://allowed.test:{other}/"),
            format!("https://203.0.113.1:{port}/"),
        ];
        let request = request()
            .env("TARGETS", targets.join(" "))
            .env("NODE_EXTRA_CA_CERTS", "ca.pem")
            .file("ca.pem", peer.authority.clone());
        only_what_is_allowed(scene, &peer, "allowed.test", request);
    })
}

/// The client of a database, where the server would ask for TLS later than other servers do.
fn psql(scene: &Scene) {
    let peer = Peer::start(scene);
    let (port, other) = (peer.port, peer.other_port);
    let request = shell(&format!(
        "{}for place in 'db.test {port}' 'far.test {port}' 'db.test {other}' '203.0.113.1 {port}'; do\n\
         set -- $place\n\
         attempt psql \"host=$1 port=$2 user=tester dbname=tests connect_timeout=20\" \
         -At -c 'select greeting'\n\
         done",
        include_str!("clients/attempt.sh")
    ));
    only_what_is_allowed(scene, &peer, "db.test", request);
}

/// The first of four targets answers; another name, another port and an address do not.
fn only_what_is_allowed(scene: &Scene, peer: &Peer, name: &str, request: Request) {
    let (port, other) = (peer.port, peer.other_port);
    let rules = [format!("{name}:{port}"), format!("{NEAR}:{port}")];
    let request = with_limits(lent(request, &[&rules[0], &rules[1]]), "timeout=120s");
    let outcome = scene.run(request);
    assert_ended(&outcome, fumehood::Status::Exited);
    let stderr = outcome.stderr.text();
    assert_eq!(lines(&outcome), ["reached hello", "refused", "refused", "refused"], "{stderr}");
    assert_eq!(peer.connections(), [format!("{NEAR}:{port}")]);
    let mut seen = decisions(&outcome);
    // Some clients ask again before they give up.
    seen.dedup();
    let mut expected = [
        "203.0.113.1 no_rule".to_owned(),
        "far.test no_rule".to_owned(),
        format!("{name} allowed"),
        format!("{name} no_rule"),
    ];
    expected.sort();
    assert_eq!(seen, expected, "with another port, {other}");
}
