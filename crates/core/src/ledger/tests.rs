//! The chain as a whole: what was written verifies, and whatever is done to it is noticed.

use std::collections::BTreeMap;

use proptest::{collection::vec, prelude::*};

use super::*;
use crate::{
    BackendName, BoxPlan, Captured, Command, Digest, Enforced, Identity, Limits, Mount, Network,
    Outcome, Phase, Plan, Request, RunId, Stats, Status, Violation, ViolationKind,
};

const FILE: &str = "ledger.jsonl";

fn salt() -> Salt {
    Salt::new([7; Salt::BYTES])
}

fn plan() -> Plan {
    let command = Command { argv: vec![], env: BTreeMap::new(), cwd: "/workspace".into() };
    let run = BoxPlan::new(command, Identity { uid: 1000, gid: 1000 }, Limits::default());
    Plan::new(BackendName::Native, run)
}

fn outcome(number: u32) -> Outcome {
    Outcome {
        id: RunId::new(1_794_724_230_007, 1, number),
        success: true,
        status: Status::Exited,
        phase: Phase::Run,
        exit_code: Some(0),
        signal: None,
        stdout: Captured(b"what the program wrote".to_vec()),
        stderr: Captured::default(),
        truncated: false,
        execution_time: f64::NAN,
        memory_used: 4096,
        stats: Stats { cpu_percent: f64::INFINITY, ..Stats::default() },
        phases: vec![],
        backend: BackendName::Native,
        selection: crate::Selection {
            backend: BackendName::Native,
            reason: "asked for".into(),
            passed_over: Vec::new(),
        },
        enforced: Enforced::nothing("a test"),
        violations: vec![],
        error: None,
        changes: vec![],
        change_count: 0,
        overlay: None,
        network: Vec::new(),
        network_left_out: 0,
        policy_digest: Digest::of(b"a policy"),
        plan_digest: Digest::of(b"a plan"),
    }
}

fn recorded(request: &Request, recording: Recording, salt: &Salt) -> Record {
    let extras =
        Extras { caller: Caller::default(), policy: None, network: vec![], salt, recording };
    record(request, &plan(), &outcome(1), extras)
}

/// Lines of a ledger in which runs have these arguments, without newlines.
fn ledger(arguments: &[String]) -> (Vec<Vec<u8>>, Head) {
    let mut head = Head::NOTHING;
    let mut lines = Vec::new();
    let mut add = |entry: &Entry| {
        let (mut line, next) = seal_line(entry, Moment::from_unix_millis(1), head).unwrap();
        assert_eq!(line.pop(), Some(b'\n'));
        assert!(!line.contains(&b'\n'));
        lines.push(line);
        head = next;
    };
    add(&Entry::Link(FileLink::default()));
    for argument in arguments {
        let request = Request::command([argument.clone()]).env("NAME", argument.clone());
        add(&Entry::Run(Box::new(recorded(&request, Recording::default(), &salt()))));
    }
    (lines, head)
}

fn verify(lines: &[Vec<u8>], head: Head) -> Result<Verified, Box<Broken>> {
    let mut verifier = Verifier::new(Some(head), None, false);
    for (line, number) in lines.iter().zip(1..) {
        verifier.line(FILE, number, line)?;
    }
    verifier.finish(FILE)
}

fn fault(lines: &[Vec<u8>], head: Head) -> (Option<u64>, Fault) {
    let broken = verify(lines, head).unwrap_err();
    (broken.line, broken.fault)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_sequence_of_records_verifies(arguments in vec(any::<String>(), 0..8)) {
        let (lines, head) = ledger(&arguments);
        let verified = verify(&lines, head).unwrap();
        prop_assert_eq!(verified.runs, arguments.len() as u64);
        prop_assert_eq!(verified.head, Some(head));
        for (line, argument) in lines[1..].iter().zip(&arguments) {
            let Entry::Run(record) = Stored::read(line).unwrap().entry else { panic!() };
            prop_assert_eq!(record.request.argv, Some(vec![argument.clone()]));
        }
    }

    #[test]
    fn any_changed_byte_is_noticed(
        line in 0usize..4,
        position in any::<prop::sample::Index>(),
        change in 1u8..,
    ) {
        let (mut lines, head) = ledger(&["one".into(), "two\n{}".into(), "three".into()]);
        let position = position.index(lines[line].len());
        lines[line][position] ^= change;
        let broken = verify(&lines, head).unwrap_err();
        prop_assert_eq!(broken.line, Some(line as u64 + 1));
        prop_assert_eq!(broken.record, Some(line as u64 + 1));
    }

    #[test]
    fn no_bytes_make_it_panic(line in vec(any::<u8>(), 0..200)) {
        let _ = Stored::read(&line);
        let _ = link_of(&line);
        prop_assert!(verify(&[line], Head::NOTHING).is_err());
    }
}

#[test]
fn every_single_byte_of_a_line_counts() {
    let (lines, head) = ledger(&["one".into()]);
    for position in 0..lines[1].len() {
        // The bit between upper and lower case.
        let mut changed = lines.clone();
        changed[1][position] ^= 0x20;
        assert!(verify(&changed, head).is_err(), "byte {position}");
    }
}

#[test]
fn lines_cannot_be_removed_moved_repeated_or_replaced() {
    let words = ["a", "b", "c", "d"].map(str::to_owned);
    let (lines, head) = ledger(&words);
    let changed = |change: &dyn Fn(&mut Vec<Vec<u8>>)| {
        let mut lines = lines.clone();
        change(&mut lines);
        fault(&lines, head)
    };
    assert_eq!(
        changed(&|lines| drop(lines.remove(2))),
        (Some(3), Fault::Missing { expected: 3, found: 4 })
    );
    assert_eq!(
        changed(&|lines| drop(lines.drain(1..3))),
        (Some(2), Fault::Missing { expected: 2, found: 4 })
    );
    assert_eq!(changed(&|lines| drop(lines.remove(0))), (Some(1), Fault::BeginsLate { found: 2 }));
    assert_eq!(
        changed(&|lines| lines.swap(2, 3)),
        (Some(3), Fault::Missing { expected: 3, found: 4 })
    );
    assert_eq!(
        changed(&|lines| lines.insert(2, lines[1].clone())),
        (Some(3), Fault::OutOfOrder { expected: 3, found: 2 })
    );
    assert_eq!(
        changed(&|lines| lines.truncate(3)),
        (None, Fault::Truncated { last: 3, expected: 5 })
    );
    assert_eq!(changed(&|lines| lines.clear()), (None, Fault::Truncated { last: 0, expected: 5 }));
    // A line of another chain with the right number and a right hash of its own.
    let (other, _) = ledger(&["x".into(), "y".into(), "z".into()]);
    assert_eq!(changed(&|lines| lines[2] = other[2].clone()), (Some(3), Fault::Unlinked));
    // A whole other chain of the same length.
    let (other, _) = ledger(&words.map(|word| word + "!"));
    assert_eq!(changed(&|lines| *lines = other.clone()), (Some(5), Fault::HeadDiffers));
}

#[test]
fn a_noted_head_shows_a_chain_that_was_rewritten_as_a_whole() {
    let (lines, head) = ledger(&["a".into(), "b".into()]);
    let check = |lines: &[Vec<u8>], head: Head, noted: ChainHash| {
        let mut verifier = Verifier::new(Some(head), Some(noted), false);
        for (line, number) in lines.iter().zip(1..) {
            verifier.line(FILE, number, line)?;
        }
        verifier.finish(FILE)
    };
    let earlier = link_of(&lines[1]).unwrap().hash;
    assert!(check(&lines, head, earlier).is_ok());
    let (other, other_head) = ledger(&["a".into(), "B".into()]);
    assert!(check(&other, other_head, earlier).is_ok(), "up to there it is the same");
    let broken = check(&other, other_head, head.hash).unwrap_err();
    assert_eq!(broken.fault, Fault::NotedHeadMissing { noted: head.hash });
}

#[test]
fn a_ledger_whose_beginning_was_archived() {
    let (_, head) = ledger(&["a".into()]);
    let time = Moment::from_unix_millis(1);
    let link = Entry::Link(FileLink { after: Some("ledger-1.jsonl".into()) });
    let (mut line, head) = seal_line(&link, time, head).unwrap();
    line.pop();
    let mut verifier = Verifier::new(Some(head), None, true);
    verifier.line(FILE, 1, &line).unwrap();
    assert_eq!(verifier.finish(FILE).unwrap().head, Some(head));
    let mut verifier = Verifier::new(Some(head), None, false);
    assert_eq!(verifier.line(FILE, 1, &line).unwrap_err().fault, Fault::BeginsLate { found: 3 });
}

#[test]
fn without_a_head_the_end_is_not_known() {
    let (lines, _) = ledger(&["a".into()]);
    let mut verifier = Verifier::new(None, None, false);
    verifier.line(FILE, 1, &lines[0]).unwrap();
    assert_eq!(verifier.finish(FILE).unwrap_err().fault, Fault::NoHead);
}

#[test]
fn a_fault_is_named_in_one_sentence() {
    let (mut lines, head) = ledger(&["a".into(), "b".into()]);
    lines[2][40] ^= 1;
    assert_eq!(
        verify(&lines, head).unwrap_err().to_string(),
        "ledger.jsonl line 3, record 3 (run 01a1dde67377-1-1): its bytes do not match its hash: it was edited"
    );
}

#[test]
fn secrets_do_not_enter_unless_they_are_asked_for() {
    let secrets = ["s3cret-value", "print('s3cret code')", "s3cret input"];
    let request =
        Request::code("python", secrets[1]).env("TOKEN", secrets[0]).stdin(secrets[2].as_bytes());
    let text = |recording, salt: &Salt| {
        serde_json::to_string(&recorded(&request, recording, salt)).unwrap()
    };
    let recorded_plainly = text(Recording::default(), &salt());
    assert!(!recorded_plainly.contains("s3cret"), "{recorded_plainly}");
    assert!(!recorded_plainly.contains("what the program wrote"));
    assert!(recorded_plainly.contains("TOKEN"));
    // Nor digests that could be found by trying: all of them depend on the salt.
    let other_salt = Salt::new([8; Salt::BYTES]);
    let other = text(Recording::default(), &other_salt);
    let digests = |text: &str| -> Vec<String> {
        let hexadecimal = |word: &&str| word.len() == 64;
        text.split('"').filter(hexadecimal).map(str::to_owned).collect()
    };
    assert_eq!(digests(&recorded_plainly).len(), 5, "request, code, stdin, variable, plan");
    assert!(digests(&recorded_plainly).iter().all(|digest| !digests(&other).contains(digest)));

    let all = text(Recording { code: true, env: true, argv: true }, &salt());
    assert!(all.contains(secrets[0]) && all.contains(secrets[1]), "{all}");
    let command = Request::command(["login", "s3cret"]);
    let hidden = recorded(&command, Recording { argv: false, ..Recording::default() }, &salt());
    assert_eq!(hidden.request.argv, None);
    assert!(hidden.request.argv_sealed.is_some());
}

#[test]
fn the_digest_of_a_request_covers_all_of_it() {
    let base = || Request::command(["ls", "-l"]).env("A", "1");
    let digest =
        |request: &Request| RequestSummary::new(request, &salt(), Recording::default()).digest;
    let others = [
        Request::command(["ls", "-", "l"]).env("A", "1"),
        base().env("B", ""),
        base().env("A", "2"),
        base().stdin(""),
        base().mount(Mount::scratch("/data")),
        base().network(Network::Localhost),
        base().allow("a.com".parse().unwrap()),
        Request { dns: Some(false), ..base() },
        base().backend(BackendName::Local),
        Request::code("ls", "-l").env("A", "1"),
    ];
    for other in &others {
        assert_ne!(digest(other), digest(&base()), "{other:?}");
    }
    let hidden = Recording { argv: false, ..Recording::default() };
    assert_eq!(RequestSummary::new(&base(), &salt(), hidden).digest, digest(&base()));
}

#[test]
fn the_longest_request_still_fits_into_a_line() {
    let nasty = "\u{1}".repeat(20_000);
    let mut request = Request::command(vec![nasty.clone(); 300]);
    for number in 0..300 {
        request = request
            .env(format!("{number}{nasty}"), nasty.clone())
            .mount(Mount::read_only(nasty.clone(), format!("/{nasty}")));
    }
    let mut outcome = outcome(1);
    outcome.error = Some(nasty.clone());
    let violation = Violation { kind: ViolationKind::Disk, message: nasty.clone() };
    outcome.violations = vec![violation; 300];
    let decision =
        NetworkDecision { host: nasty.clone(), port: None, allowed: false, reason: nasty };
    let extras = Extras {
        caller: Caller::default(),
        policy: None,
        network: vec![decision; 300],
        salt: &salt(),
        recording: Recording { code: true, env: true, argv: true },
    };
    let record = record(&request, &plan(), &outcome, extras);
    assert!(record.left_out > 0 && record.request.left_out > 0);
    let (line, _) =
        seal_line(&Entry::Run(Box::new(record)), Moment::from_unix_millis(1), Head::NOTHING)
            .unwrap();
    assert!(line.len() < MOST_LINE_BYTES, "{}", line.len());
    assert!(Stored::read(&line[..line.len() - 1]).is_ok());
}

#[test]
fn runs_are_picked_by_what_they_did() {
    let mut record = recorded(&Request::command(["x"]), Recording::default(), &salt());
    record.violations = vec![Violation { kind: ViolationKind::Memory, message: "too much".into() }];
    let plan = record.plan.clone();
    let entry = Entry::Run(Box::new(record));
    let (line, _) = seal_line(&entry, Moment::from_unix_millis(1000), Head::NOTHING).unwrap();
    let stored = Stored::read(&line[..line.len() - 1]).unwrap();
    assert_eq!(stored.entry, entry);
    let picks = |filter: Filter| filter.pick(&stored).is_some();
    let since =
        |millis| Filter { since: Some(Moment::from_unix_millis(millis)), ..Filter::default() };
    assert!(picks(Filter::default()) && picks(since(1000)) && !picks(since(1001)));
    let status = |status| Filter { status: Some(status), ..Filter::default() };
    assert!(picks(status(Status::Exited)) && !picks(status(Status::Oom)));
    let backend = |backend| Filter { backend: Some(backend), ..Filter::default() };
    assert!(picks(backend(BackendName::Native)) && !picks(backend(BackendName::Local)));
    let violation = |wanted| Filter { violation: Some(wanted), ..Filter::default() };
    assert!(picks(violation(ViolationFilter::Any)));
    assert!(picks(violation(ViolationFilter::Kind(ViolationKind::Memory))));
    assert!(!picks(violation(ViolationFilter::Kind(ViolationKind::Pids))));
    assert!(picks(Filter { plan: Some(plan), ..Filter::default() }));
    assert!(!picks(Filter { plan: Some(Digest::of(b"a plan")), ..Filter::default() }));
}

/// A policy holds what a request sets: its digest alone would give away a short secret.
#[test]
fn the_digest_of_the_policy_is_salted() {
    let bare = Digest::of(b"a policy with a PIN in it");
    let under = |salt: &Salt| {
        let extras = Extras {
            caller: Caller::default(),
            policy: Some(bare.clone()),
            network: vec![],
            salt,
            recording: Recording::default(),
        };
        record(&Request::command(["true"]), &plan(), &outcome(1), extras).policy.unwrap()
    };
    assert_ne!(under(&salt()), bare);
    assert_eq!(under(&salt()), under(&salt()));
    assert_ne!(under(&salt()), under(&Salt::new([8; Salt::BYTES])));
}

#[test]
fn decisions_about_tools_are_links_of_the_same_chain() {
    let (mut lines, head) = ledger(&["before".to_owned()]);
    let policy = crate::policy::merge(&[]).unwrap();
    let salt = salt();
    let extras = Extras {
        caller: Caller::default(),
        policy: Some(policy.digest()),
        network: vec![],
        salt: &salt,
        recording: Recording::default(),
    };
    let decision = policy.tool_decision("Bash");
    let long = "x".repeat(1 << 20);
    let record = ToolRecord::new("claude-code", Some(&long), "Bash", b"rm -r /", &decision, extras);
    let entry = Entry::Tool(Box::new(record));
    let (mut line, head) = seal_line(&entry, Moment::from_unix_millis(2), head).unwrap();
    line.pop();
    assert!(line.len() < 8192, "{}", line.len());
    assert!(!String::from_utf8_lossy(&line).contains("rm -r"), "its input is a digest");
    assert_eq!(Stored::read(&line).unwrap().entry, entry);
    lines.push(line);
    let verified = verify(&lines, head).unwrap();
    assert_eq!((verified.lines, verified.runs), (3, 1));
    let changed = lines[2].len() / 2;
    lines[2][changed] ^= 1;
    assert!(verify(&lines, head).is_err());
}

#[test]
fn a_decision_of_the_gate_is_recorded_with_its_rule() {
    let mut decision: crate::egress::Record = serde_json::from_str(
        r#"{"name": "a.test", "address": "192.0.2.1", "port": 443, "allowed": true,
            "reason": "allowed", "rule": "policy.yaml:7", "sent": 1, "received": 2,
            "duration_ms": 3, "via_proxy": false}"#,
    )
    .unwrap();
    let of = |decision: &crate::egress::Record| NetworkDecision::from(decision);
    assert_eq!((of(&decision).host.as_str(), of(&decision).port), ("a.test", Some(443)));
    assert_eq!(of(&decision).reason, "allowed (policy.yaml:7)");
    (decision.name, decision.rule) = (None, None);
    assert_eq!(of(&decision).host, "192.0.2.1");
}
