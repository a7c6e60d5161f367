//! What the ledger keeps of one run.

use serde::{Deserialize, Serialize};

use super::{Caller, Recording, RequestSummary, Salt, clip};
use crate::{
    BackendName, Digest, Enforced, Limits, Outcome, Phase, PhaseOutcome, Plan, Request, RunId,
    Stats, Status, Violation, egress,
};

/// A connection or a lookup that a box wanted, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkDecision {
    /// The name or address.
    pub host: String,
    /// The port; absent for a lookup.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// Whether it was allowed.
    pub allowed: bool,
    /// By which rule, or why not.
    pub reason: String,
}

impl From<&egress::Record> for NetworkDecision {
    fn from(record: &egress::Record) -> NetworkDecision {
        let address = || record.address.map(|address| address.to_string());
        let rule = record.rule.as_deref().map(|rule| format!(" ({rule})"));
        NetworkDecision {
            host: record.name.clone().or_else(address).unwrap_or_default(),
            port: record.port,
            allowed: record.allowed,
            reason: format!("{}{}", record.reason, rule.unwrap_or_default()),
        }
    }
}

/// One run. In the ledger its line also has a number, the time it was written, and the hashes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The run's name.
    pub id: RunId,
    /// Who asked for it.
    pub caller: Caller,
    /// What was asked for.
    pub request: RequestSummary,
    /// The digest of the policy under the ledger's salt, if one applied. A policy holds the values
    /// of variables that a request sets, so its bare digest would let a short one be guessed.
    pub policy: Option<Digest>,
    /// The digest of the plan's digest under the ledger's salt; see [`Record::plan_seal`].
    pub plan: Digest,
    /// The backend that ran it.
    pub backend: BackendName,
    /// The limits of the run.
    pub limits: Limits,
    /// What was really applied, layer by layer.
    pub enforced: Enforced,
    /// True if the program ran and exited with code 0.
    pub success: bool,
    /// How it ended.
    pub status: Status,
    /// The phase that decided the status.
    pub phase: Phase,
    /// The exit code, if the program ended by itself.
    pub exit_code: Option<i32>,
    /// The number of the signal that ended it, if one did.
    pub signal: Option<i32>,
    /// True if output was cut at the limit.
    pub truncated: bool,
    /// Wall time of the deciding phase, in seconds.
    pub execution_time: f64,
    /// Peak memory of the deciding phase, in bytes.
    pub memory_used: u64,
    /// Usage of the deciding phase.
    pub stats: Stats,
    /// Every phase in order.
    pub phases: Vec<PhaseOutcome>,
    /// What the program tried and did not get.
    pub violations: Vec<Violation>,
    /// Why it failed or was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What the program wanted of the network, and what it got.
    #[serde(default)]
    pub network: Vec<NetworkDecision>,
    /// How many violations and network decisions did not fit in here.
    #[serde(default)]
    pub left_out: usize,
}

impl Record {
    /// What stands in [`Record::plan`] for a plan with this digest. A plan holds the values of
    /// variables, so its bare digest would let a short one be guessed.
    pub fn plan_seal(salt: &Salt, plan: &Digest) -> Digest {
        salt.seal("plan", plan.as_str().as_bytes())
    }
}

/// What a record needs besides request, plan and outcome.
#[derive(Clone, Debug)]
pub struct Extras<'a> {
    /// Who asked for the run.
    pub caller: Caller,
    /// The digest of the policy, if one applied.
    pub policy: Option<Digest>,
    /// What the gate decided, in order.
    pub network: Vec<NetworkDecision>,
    /// The ledger's salt.
    pub salt: &'a Salt,
    /// What is recorded as it is.
    pub recording: Recording,
}

/// What is kept of a run. Everything that a caller or a program can make long is bounded; what they
/// wrote is not in it.
pub fn record(request: &Request, plan: &Plan, outcome: &Outcome, extras: Extras<'_>) -> Record {
    let Extras { caller, policy, mut network, salt, recording } = extras;
    let short = |text: &str| clip::text(text, clip::MOST_SHORT);
    let left_out = usize::try_from(outcome.network_left_out).unwrap_or(usize::MAX)
        + network.len().saturating_sub(clip::MOST_ENTRIES)
        + outcome.violations.len().saturating_sub(clip::MOST_ENTRIES);
    network.truncate(clip::MOST_ENTRIES);
    for decision in &mut network {
        decision.host = short(&decision.host);
        decision.reason = short(&decision.reason);
    }
    let violations = outcome.violations.iter().take(clip::MOST_ENTRIES);
    Record {
        id: outcome.id.clone(),
        caller,
        request: RequestSummary::new(request, salt, recording),
        policy: policy.map(|digest| salt.seal("policy", digest.as_str().as_bytes())),
        plan: Record::plan_seal(salt, &outcome.plan_digest),
        backend: outcome.backend,
        limits: plan.run.limits.clone(),
        enforced: outcome.enforced.clone(),
        success: outcome.success,
        status: outcome.status,
        phase: outcome.phase,
        exit_code: outcome.exit_code,
        signal: outcome.signal,
        truncated: outcome.truncated,
        execution_time: finite(outcome.execution_time),
        memory_used: outcome.memory_used,
        stats: finite_stats(&outcome.stats),
        phases: outcome
            .phases
            .iter()
            .map(|phase| PhaseOutcome {
                execution_time: finite(phase.execution_time),
                stats: finite_stats(&phase.stats),
                ..phase.clone()
            })
            .collect(),
        violations: violations
            .map(|Violation { kind, message }| Violation { kind: *kind, message: short(message) })
            .collect(),
        // It may name the program that was not found.
        error: outcome
            .error
            .as_deref()
            .filter(|_| recording.argv)
            .map(|error| clip::text(error, clip::MOST_TEXT)),
        network,
        left_out,
    }
}

/// JSON has no word for infinity, and a record that cannot be read back is none.
fn finite(number: f64) -> f64 {
    if number.is_finite() { number } else { 0.0 }
}

fn finite_stats(stats: &Stats) -> Stats {
    Stats {
        wall_time: finite(stats.wall_time),
        user_time: finite(stats.user_time),
        system_time: finite(stats.system_time),
        cpu_percent: finite(stats.cpu_percent),
        start_time: finite(stats.start_time),
        ..stats.clone()
    }
}
