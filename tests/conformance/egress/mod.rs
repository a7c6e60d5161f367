//! What a box is lent of the network: what its policy names, from any program, and nothing else.
//! Every server is on this machine, and names come from a table: nothing leaves it.

mod attacks;
mod clients;
mod names;
mod peer;
mod reach;
mod tools;
mod twins;
mod whole;

use fumehood::{Outcome, PolicyChoice, Request};
use fumehood_tests::Case;

pub fn cases() -> Vec<Case> {
    [
        reach::cases(),
        clients::cases(),
        tools::cases(),
        names::cases(),
        attacks::cases(),
        twins::cases(),
        whole::cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A request under a policy that lends it connections to these hosts.
fn lent(request: Request, allow: &[&str]) -> Request {
    under(request, &format!("allow: {allow:?}"))
}

/// A request under a policy that says this of the network besides its mode.
fn under(request: Request, net: &str) -> Request {
    let text = format!("version: 1\nnet:\n  mode: allow\n  {net}\n");
    request.policy(PolicyChoice::Text { name: "the policy".into(), text })
}

/// Functions that connect, and say how that went and whether it took long.
const TRY: &str = "import errno, socket, time\n\
    def attempt(what):\n\
    \x20begun = time.monotonic()\n\
    \x20try: answer = what()\n\
    \x20except socket.gaierror as e: answer = {-2: 'no name', -3: 'again'}.get(e.errno, str(e))\n\
    \x20except OSError as e: answer = errno.errorcode.get(e.errno, str(e))\n\
    \x20return answer if time.monotonic() - begun < 8 else 'late: ' + answer\n\
    def talk(host, port, words=b'hello'):\n\
    \x20def go():\n\
    \x20\x20s = socket.create_connection((host, port), 10)\n\
    \x20\x20s.sendall(words); return s.recv(99).decode() or 'closed'\n\
    \x20return attempt(go)\n\
    def say(host, port, words):\n\
    \x20def go():\n\
    \x20\x20s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(10)\n\
    \x20\x20s.connect((host, port)); s.send(words); return s.recv(99).decode()\n\
    \x20return attempt(go)\n";

/// What a program sees of a connection that the gate does not lend.
const REFUSED: &[&str] = &["ECONNRESET", "ECONNREFUSED", "EPIPE", "closed"];

#[track_caller]
fn assert_refused(answer: &str) {
    assert!(REFUSED.contains(&answer), "`{answer}` is no refusal");
}

/// The reasons of what was decided, each behind its host, sorted: a decision is told when its
/// connection has ended, and which one ends first is chance.
fn decisions(outcome: &Outcome) -> Vec<String> {
    let host = |record: &fumehood::egress::Record| match (&record.name, record.address) {
        (Some(name), _) => name.clone(),
        (None, Some(address)) => address.to_string(),
        (None, None) => String::new(),
    };
    let mut all: Vec<String> = outcome
        .network
        .iter()
        .map(|record| format!("{} {}", host(record), record.reason))
        .collect();
    all.sort();
    all
}
