//! Runs that never were, to fill ledgers with.

#![allow(dead_code, reason = "each test program uses its own part")]

use std::{collections::BTreeMap, path::Path};

use fumehood::{
    BackendName, BoxPlan, Captured, Command, Digest, Enforced, Identity, Layer, Limits, Outcome,
    Phase, Plan, Request, RunId, Stats, Status, Strength, Violation, ViolationKind,
    ledger::{Ledger, Receipt, Settings, record},
};

/// The time in the ids of all runs.
pub const MILLIS: u64 = 1_794_724_230_007;

/// A plan for nothing in particular.
pub fn plan() -> Plan {
    let command = Command { argv: vec![], env: BTreeMap::new(), cwd: "/workspace".into() };
    let run = BoxPlan::new(command, Identity { uid: 1000, gid: 1000 }, Limits::default());
    Plan::new(BackendName::Native, run)
}

/// What a run that went well leaves. Writer and number make its id.
pub fn outcome(writer: u32, number: u32) -> Outcome {
    let mut enforced = Enforced::default();
    for layer in Layer::ALL {
        enforced.record(*layer, Strength::Full, "as it should be");
    }
    Outcome {
        id: RunId::new(MILLIS, writer, number),
        success: true,
        status: Status::Exited,
        phase: Phase::Run,
        exit_code: Some(0),
        signal: None,
        stdout: Captured(b"42\n".to_vec()),
        stderr: Captured::default(),
        truncated: false,
        execution_time: 0.0125,
        memory_used: 9 << 20,
        stats: Stats { wall_time: 0.0125, memory_peak: 9 << 20, ..Stats::default() },
        phases: vec![],
        backend: BackendName::Native,
        selection: fumehood::Selection {
            backend: BackendName::Native,
            reason: "asked for".into(),
            passed_over: Vec::new(),
        },
        enforced,
        violations: vec![],
        error: None,
        changes: vec![],
        change_count: 0,
        overlay: None,
        network: Vec::new(),
        network_left_out: 0,
        policy_digest: Digest::of(b"a policy"),
        plan_digest: Digest::of(b"the plan"),
    }
}

/// What a run leaves that wanted too much memory.
pub fn too_much_memory(writer: u32, number: u32) -> Outcome {
    let message = "more than 512MiB of memory; raise it with --memory".to_owned();
    Outcome {
        success: false,
        status: Status::Oom,
        exit_code: None,
        signal: Some(9),
        violations: vec![Violation { kind: ViolationKind::Memory, message }],
        ..outcome(writer, number)
    }
}

/// Appends one run.
pub fn append(ledger: &Ledger, request: &Request, outcome: &Outcome) -> Receipt {
    let record = record(request, &plan(), outcome, ledger.extras(None, vec![]));
    ledger.append(record).unwrap()
}

/// A ledger with this many runs of `echo NUMBER`.
pub fn filled(directory: &Path, settings: Settings, runs: u32) -> Ledger {
    let ledger = Ledger::open(directory, settings).unwrap();
    for number in 0..runs {
        let request = Request::command(["echo".to_owned(), number.to_string()]);
        append(&ledger, &request, &outcome(1, number));
    }
    ledger
}
