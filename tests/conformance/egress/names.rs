//! Names are answered from the rules, quickly, and nothing that is asked leaves the machine.

use fumehood_tests::{Case, Condition, NEAR, Scene, Server, lines, python};

use super::{TRY, assert_refused, decisions, lent, under};

pub fn cases() -> Vec<Case> {
    let all = [
        Case::steps("egress::names::not_allowed", not_allowed),
        Case::steps("egress::names::wildcard", wildcard),
        Case::steps("egress::names::denied", denied),
        Case::steps("egress::names::off", off),
        Case::steps("egress::names::private", private),
        Case::steps("egress::names::other_questions", other_questions),
        Case::steps("egress::names::over_tcp", over_tcp),
    ];
    all.into_iter().map(|case| case.only(Condition::GATE)).collect()
}

fn not_allowed(scene: &Scene) {
    let source = format!("{TRY}for n in 'far.test', 'nowhere.test': print(talk(n, 80))");
    let outcome = scene.run(lent(python(&source), &["near.test"]));
    assert_eq!(lines(&outcome), ["no name", "no name"]);
    assert_eq!(decisions(&outcome), ["far.test no_rule", "nowhere.test no_rule"]);
    assert_eq!(outcome.violations.len(), 2);
}

fn wildcard(scene: &Scene) {
    let server = Server::start(NEAR);
    let port = server.port();
    let source = format!("{TRY}for n in 'deep.near.test', 'near.test': print(talk(n, {port}))");
    let outcome = scene.run(lent(python(&source), &["*.near.test", &format!("{NEAR}:{port}")]));
    assert_eq!(lines(&outcome), ["heard hello", "no name"]);
}

/// What is denied stays denied under the widest rule.
fn denied(scene: &Scene) {
    let server = Server::start(NEAR);
    let port = server.port();
    let source = format!(
        "{TRY}for n in 'near.test', 'deep.near.test', 'api.openai.com': print(talk(n, {port}))"
    );
    let net = |deny: &str| format!("allow: ['*', '{NEAR}:{port}']\n  deny: [{deny}]");
    let outcome = scene.run(under(python(&source), &net("near.test")));
    assert_eq!(lines(&outcome), ["no name", "heard hello", "no name"]);
    assert_eq!(
        decisions(&outcome),
        ["api.openai.com sensitive_service", "deep.near.test allowed", "near.test denied_by_rule"]
    );
    let outcome = scene.run(under(python(&source), &net("")));
    assert_eq!(lines(&outcome)[0], "heard hello");
}

fn off(scene: &Scene) {
    let source = format!("{TRY}print(talk('near.test', 80) in ('no name', 'again'))");
    let outcome = scene.run(under(python(&source), "allow: [near.test]\n  dns: false"));
    assert_eq!(lines(&outcome), ["True"]);
}

/// A name is as good as the address that it turns out to have.
fn private(scene: &Scene) {
    let server = Server::start(NEAR);
    let port = server.port();
    let source = format!(
        "{TRY}for n in 'near.test', 'mapped.test', 'private.test', 'metadata.test':\n\
         \x20print(talk(n, {port}))"
    );
    let outcome = scene.run(lent(python(&source), &["*.test"]));
    lines(&outcome).iter().for_each(|answer| assert_refused(answer));
    assert_eq!(server.connections(), 0);
    assert_eq!(
        decisions(&outcome),
        [
            "mapped.test loopback_address",
            "metadata.test sensitive_service",
            "near.test loopback_address",
            "private.test private_address"
        ]
    );
    // The same program where a rule names the address.
    let outcome = scene.run(lent(python(&source), &["*.test", &format!("{NEAR}:{port}")]));
    let answers = lines(&outcome);
    assert_eq!(answers[..2], ["heard hello", "heard hello"]);
    answers[2..].iter().for_each(|answer| assert_refused(answer));
}

/// A resolver of a few lines: the code of the answer and how many records it has.
const ASK: &str = "import struct\n\
    def question(name, kind):\n\
    \x20labels = b''.join(bytes([len(l)]) + l.encode() for l in name.split('.')) + b'\\0'\n\
    \x20return struct.pack('>6H', 7, 0x100, 1, 0, 0, 0) + labels + struct.pack('>2H', kind, 1)\n\
    def summary(answer): return f'{answer[3] & 15} {answer[7]}'\n";

fn other_questions(scene: &Scene) {
    let source = format!(
        "{TRY}{ASK}\
         def ask(name, kind):\n\
         \x20s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(5)\n\
         \x20s.connect(('127.0.0.53', 53)); s.send(question(name, kind)); return summary(s.recv(999))\n\
         for kind in 1, 28, 16, 15, 65, 255: print(ask('near.test', kind))\n\
         for kind in 1, 16: print(ask('a-secret-in-a-label.far.test', kind))"
    );
    let outcome = scene.run(lent(python(&source), &["near.test"]));
    // An address, then nothing of any other kind; then no such name, whatever is asked.
    assert_eq!(lines(&outcome), ["0 1", "0 0", "0 0", "0 0", "0 0", "0 0", "3 0", "3 0"]);
    assert_eq!(decisions(&outcome), ["a-secret-in-a-label.far.test no_rule"]);
}

fn over_tcp(scene: &Scene) {
    let source = format!(
        "{TRY}{ASK}\
         s = socket.create_connection(('127.0.0.53', 53), 5)\n\
         q = question('near.test', 1); s.sendall(struct.pack('>H', len(q)) + q)\n\
         answer = s.recv(999); print(summary(answer[2:]))"
    );
    let outcome = scene.run(lent(python(&source), &["near.test"]));
    assert_eq!(lines(&outcome), ["0 1"]);
}
