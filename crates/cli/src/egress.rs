//! `fumehood egress test`: tries connections from inside a real box, and holds what happens against
//! what the policy says.

use clap::{Args, Subcommand};
use fumehood::{
    Helper, Outcome, Request, Status,
    egress::{Reason, Record, Target, TlsRule},
    escape_controls,
    policy::{Decision, Policy, ProfileName},
};
use serde_json::{Value, json};

use crate::{
    drive,
    failure::Failure,
    opening::Opened,
    paint::Paint,
    policy::{Chosen, print},
    render::Format,
    values::HostArg,
};

/// Exit code if something else happened than was expected.
const DIFFERS: u8 = 1;

/// Arguments of `fumehood egress`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct EgressArgs {
    #[command(subcommand)]
    command: EgressCommand,
}

const EXAMPLES: &str = "\
Examples:
  fumehood egress test example.com:443
  fumehood egress test --deny 169.254.169.254:80 --policy ci.yaml";

/// What is to be done.
#[derive(Debug, Subcommand)]
enum EgressCommand {
    /// Try hosts from inside a box, and compare with the policy.
    Test(TestArgs),
}

/// Arguments of `fumehood egress test`.
#[derive(Args, Debug)]
#[command(after_help = TEST_EXAMPLES)]
struct TestArgs {
    /// Hosts to try, by name or address; the port is 443 unless said.
    #[arg(value_name = "HOST[:PORT]", required_unless_present = "deny")]
    hosts: Vec<HostArg>,
    /// A host that must be blocked, whatever the policy says.
    #[arg(long, value_name = "HOST[:PORT]")]
    deny: Vec<HostArg>,
    #[command(flatten)]
    chosen: Chosen,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

const TEST_EXAMPLES: &str = "\
Examples:
  fumehood egress test example.com:443 10.0.0.7:5432
  fumehood egress test --deny 169.254.169.254:80 --deny example.org
  fumehood egress test example.com --policy ci.yaml --json

The exit code is 0 if everything went as expected, else 1.";

/// Does it and gives the exit code.
pub fn main(opened: impl FnOnce() -> Result<Opened, Failure>, arguments: &EgressArgs) -> u8 {
    let EgressCommand::Test(arguments) = &arguments.command;
    let format = if arguments.json { Format::Json } else { Format::Text };
    test(opened, arguments).unwrap_or_else(|failure| failure.report(format))
}

/// One host, what is expected of it and what happened.
#[derive(Debug)]
struct Trial {
    host: String,
    port: u16,
    /// Whether it must be blocked, whatever the policy says.
    must_be_blocked: bool,
    /// What the policy says.
    policy: Decision,
    /// What the program in the box saw.
    seen: String,
    /// What the gate says about it, if it was asked.
    gate: Option<Record>,
    /// Whether that is what was expected.
    as_expected: bool,
}

impl Trial {
    fn json(&self) -> Value {
        json!({
            "host": self.host,
            "port": self.port,
            "must_be_blocked": self.must_be_blocked,
            "policy": self.policy,
            "seen": self.seen,
            "gate": self.gate,
            "as_expected": self.as_expected,
        })
    }
}

fn test(
    opened: impl FnOnce() -> Result<Opened, Failure>,
    arguments: &TestArgs,
) -> Result<u8, Failure> {
    let policy = arguments.chosen.load()?;
    let hosts = arguments.hosts.iter().map(|host| (host, false));
    let wanted: Vec<(&HostArg, bool)> =
        hosts.chain(arguments.deny.iter().map(|host| (host, true))).collect();
    let words = wanted.iter().flat_map(|(host, _)| probe_words(&policy, host));
    let mut request = Request::helper(Helper::Probe, words);
    request.policy = arguments.chosen.choice(ProfileName::Default);

    let opened = opened()?;
    opened.configure(&mut request);
    let sandbox = opened.sandbox;
    let outcome = drive::runtime()?.block_on(async {
        let outcome = sandbox.run(request).await;
        sandbox.close().await;
        outcome
    })?;
    let seen = seen(&outcome, wanted.len())?;
    let records = outcome.network;
    let trials: Vec<Trial> = wanted
        .iter()
        .zip(seen)
        .map(|((host, must), seen)| judge(&policy, host, *must, seen, &records))
        .collect();
    show(&trials, arguments.json)?;
    Ok(if trials.iter().all(|trial| trial.as_expected) { 0 } else { DIFFERS })
}

/// The words of the probe for one host: greeted with TLS where that must or is likely to be.
fn probe_words(policy: &Policy, HostArg { host, port }: &HostArg) -> [String; 3] {
    let egress = policy.egress();
    let rule = Target::parse(host).ok();
    let rule = rule.and_then(|target| egress.rule_for(&target, *port).map(|rule| rule.tls));
    let tls = *port == 443 || rule == Some(TlsRule::Required);
    [host.clone(), port.to_string(), if tls { "tls" } else { "plain" }.to_owned()]
}

/// What the probe printed, a word for each host.
fn seen(outcome: &Outcome, wanted: usize) -> Result<Vec<String>, Failure> {
    let words: Vec<String> = outcome.stdout.text().lines().map(str::to_owned).collect();
    let whole = outcome.status == Status::Exited && words.len() == wanted;
    if whole { Ok(words) } else { Err(Failure::ProbeCut { status: outcome.status }) }
}

/// The gate's decisions, as the outcome has them.
fn judge(
    policy: &Policy,
    HostArg { host, port }: &HostArg,
    must_be_blocked: bool,
    seen: String,
    records: &[Record],
) -> Trial {
    let decision = policy.host_decision(host, *port);
    let gate = record_of(host, *port, records).cloned();
    let target = Target::parse(host).ok();
    let is_box = target.is_some_and(|target| {
        policy.egress().decide_inside(&target, *port).reason == Reason::BoxLoopback
    });
    // The gate takes a connection before it decides, so its word counts more than the program's.
    let reached = match (&gate, seen.as_str()) {
        (Some(record), _) if !record.allowed => false,
        // Nobody listens, and it was the box itself that said so.
        (_, "refused") => is_box,
        (_, seen) => seen == "connected",
    };
    let expected = decision.allowed && !must_be_blocked;
    let host = host.clone();
    let as_expected = reached == expected;
    Trial { host, port: *port, must_be_blocked, policy: decision, seen, gate, as_expected }
}

/// The record of a connection to a host, or else of its name.
fn record_of<'a>(host: &str, port: u16, records: &'a [Record]) -> Option<&'a Record> {
    let target = Target::parse(host).ok()?;
    let means = |record: &&Record| match &target {
        Target::Name(name) => record.name.as_deref() == Some(name),
        Target::Address(address) => record.name.is_none() && record.address == Some(*address),
    };
    let of_port = |wanted: Option<u16>| {
        records.iter().rev().filter(means).find(move |record| record.port == wanted)
    };
    of_port(Some(port)).or_else(|| of_port(None))
}

fn show(trials: &[Trial], json: bool) -> Result<(), Failure> {
    let text = if json {
        let hosts: Vec<Value> = trials.iter().map(Trial::json).collect();
        let all = trials.iter().all(|trial| trial.as_expected);
        format!("{:#}\n", json!({"as_expected": all, "hosts": hosts}))
    } else {
        let paint = Paint::for_stdout();
        trials.iter().map(|trial| lines(trial, paint)).collect()
    };
    print(&text)
}

fn lines(trial: &Trial, paint: Paint) -> String {
    let Trial { host, port, policy, .. } = trial;
    let verdict = match trial.as_expected {
        true => paint.good("as expected"),
        false => paint.bad("not as expected"),
    };
    let mut text = format!("{}:{port}: {verdict}\n", escape_controls(host));
    let word = if policy.allowed { "reached" } else { "blocked" };
    let why = format!("{word}, {} ({})", policy.reason, policy.origin);
    match trial.must_be_blocked {
        true => {
            text.push_str("  expected: blocked (--deny)\n");
            text.push_str(&format!("  policy: {}\n", escape_controls(&why)));
        }
        false => text.push_str(&format!("  expected: {}\n", escape_controls(&why))),
    }
    text.push_str(&format!("  seen: {}\n", escape_controls(&trial.seen.replace('_', " "))));
    if let Some(record) = &trial.gate {
        let word = if record.allowed { "allowed" } else { "refused" };
        let rule = record.rule.as_deref().map(|rule| format!(" ({rule})")).unwrap_or_default();
        let line = format!("  gate: {word}, {}{rule}", record.reason);
        text.push_str(&format!("{}\n", escape_controls(&line)));
    }
    text
}

#[cfg(test)]
mod tests {
    use fumehood::policy::{Document, Layered, Rank, merge};

    use super::*;

    fn policy(text: &str) -> Policy {
        let text = format!("version: 1\n{text}");
        let document = Document::read("p.yaml", &text, "/".as_ref()).unwrap();
        merge(&[Layered::new(Rank::Project, &document)]).unwrap()
    }

    fn record(name: Option<&str>, port: Option<u16>, reason: Reason) -> Record {
        Record {
            name: name.map(str::to_owned),
            address: Some([192, 0, 2, 1].into()),
            port,
            allowed: reason == Reason::Allowed,
            reason,
            rule: Some("p.yaml:2".into()),
            sent: 0,
            received: 0,
            duration_ms: 0,
            via_proxy: false,
        }
    }

    #[track_caller]
    fn trial(host: &str, must: bool, seen: &str, records: &[Record], as_expected: bool) {
        let policy = policy("net: {allow: [a.com:443, {host: t.com, tls: required}]}");
        let host: HostArg = host.parse().unwrap();
        let trial = judge(&policy, &host, must, seen.to_owned(), records);
        assert_eq!(trial.as_expected, as_expected, "{trial:?}");
    }

    #[test]
    fn what_happened_is_held_against_the_policy() {
        trial("a.com", false, "connected", &[], true);
        trial("a.com", false, "timeout", &[], false);
        trial("a.com", false, "refused", &[], false);
        trial("a.com", true, "connected", &[], false);
        trial("b.com", false, "unknown_name", &[], true);
        trial("b.com", false, "connected", &[], false);
        trial("b.com", true, "reset", &[], true);
        // Whoever answers for the box itself is reached, also if nobody listens.
        trial("localhost:9", false, "refused", &[], true);
        trial("localhost:9", false, "unreachable", &[], false);
    }

    #[test]
    fn the_gate_has_the_last_word() {
        let refused = record(Some("a.com"), Some(443), Reason::Unreachable);
        trial("a.com", false, "connected", std::slice::from_ref(&refused), false);
        let other = record(Some("a.com"), Some(80), Reason::NoRule);
        trial("a.com", false, "connected", &[other], true);
        let name = record(Some("b.com"), None, Reason::NoRule);
        trial("b.com", false, "unknown_name", std::slice::from_ref(&name), true);
        assert_eq!(record_of("B.com.", 443, &[refused, name]).unwrap().port, None);
        let address = record(None, Some(443), Reason::NoRule);
        assert!(record_of("192.0.2.1", 443, std::slice::from_ref(&address)).is_some());
        assert!(record_of("192.0.2.2", 443, &[address]).is_none());
    }

    #[test]
    fn tls_is_greeted_where_it_must_be() {
        let policy = policy("net: {allow: [a.com, {host: t.com, tls: required}]}");
        for (host, kind) in [("a.com", "tls"), ("a.com:80", "plain"), ("t.com:80", "tls")] {
            assert_eq!(probe_words(&policy, &host.parse().unwrap())[2], kind, "{host}");
        }
    }
}
