//! From what was seen of a box to how its phase ended.

use fumehood_core::protocol::Ending;

use super::drive::{Cut, Seen};
use crate::{
    BoxPlan, Error, Phase, PhaseOutcome, Stats, Status, Violation, ViolationKind,
    egress::{Reason as EgressReason, Record},
};

const SIGKILL: u8 = 9;
const SIGXFSZ: u8 = 25;
const ENOENT: i32 = 2;
const ENOTDIR: i32 = 20;
/// Refusals of the gate that are violations one by one; all of them stand in the outcome's network.
const MOST_REFUSALS: usize = 5;

/// How a phase ended.
pub(super) struct Verdict {
    pub(super) outcome: PhaseOutcome,
    pub(super) signal: Option<i32>,
    pub(super) violations: Vec<Violation>,
    pub(super) error: Option<String>,
}

/// Judges a box. An error means that the box could not be built and nothing ran.
pub(super) fn judge(plan: &BoxPlan, phase: Phase, seen: &mut Seen) -> Result<Verdict, Error> {
    let failure = seen.setup_failure.take().or_else(|| seen.closing.failure.take());
    if let Some((step, errno)) = failure {
        return Err(Error::Setup { step, reason: system_reason(errno) });
    }
    if let Some(report) = seen.lacking.take() {
        return Err(Error::NotEnforced { layer: report.layer, detail: report.detail });
    }
    let mut violations = violations(plan, seen);
    let mut error = None;
    let out_of_memory = out_of_memory(seen);
    let disk = disk_violation(plan, seen);
    let status = match (seen.cut, seen.ending) {
        (Some(Cut::Timeout), _) => Status::Timeout,
        (Some(Cut::Cancelled { .. }), _) => Status::Cancelled,
        (Some(Cut::OutputLimit), _) => Status::OutputLimit,
        (_, _) if out_of_memory => Status::Oom,
        (Some(Cut::Garbled), _) => {
            error = Some("the box sent something that is not a message, and was closed".into());
            Status::Failed
        }
        (None, Some(_)) if disk.is_some() => Status::DiskLimit,
        (None, Some(Ending::Code(_))) => Status::Exited,
        (None, Some(Ending::Signal(_))) => Status::Signaled,
        (None, None) if seen.exec_error.is_some() => Status::Exited,
        (None, None) => {
            error = Some(match &seen.file_error {
                Some((path, errno)) => {
                    format!("{} could not be written: {}", path.display(), system_reason(*errno))
                }
                None => {
                    let reason = seen.closing.reason.take();
                    reason.unwrap_or_else(|| "the box ended unexpectedly".into())
                }
            });
            Status::Failed
        }
    };
    violations.extend(disk);
    let exit_code = match (seen.ending, seen.exec_error) {
        (Some(Ending::Code(code)), _) => Some(i32::from(code)),
        // As a shell does it: not found, or found and not executable.
        (None, Some(ENOENT | ENOTDIR)) => Some(127),
        (None, Some(_)) => Some(126),
        _ => None,
    };
    let signal = match (seen.cut, seen.ending) {
        (Some(Cut::Cancelled { signal }), _) => Some(signal),
        (_, Some(Ending::Signal(signal))) => Some(i32::from(signal)),
        _ if out_of_memory => Some(i32::from(SIGKILL)),
        _ => None,
    };
    let stats = stats(seen);
    let execution_time = stats.wall_time;
    let outcome = PhaseOutcome { phase, cached: false, status, exit_code, execution_time, stats };
    Ok(Verdict { outcome, signal, violations, error })
}

/// Killed for want of memory: by the kernel, by init, or a shell says so of its child.
fn out_of_memory(seen: &Seen) -> bool {
    let killed = match seen.ending {
        Some(Ending::Signal(signal)) => signal == SIGKILL,
        Some(Ending::Code(code)) => code == 128 + SIGKILL,
        None => true,
    };
    seen.usage.memory_exceeded || (killed && seen.closing.usage.oom_kills.is_some_and(|n| n > 0))
}

fn disk_violation(plan: &BoxPlan, seen: &Seen) -> Option<Violation> {
    match seen.ending {
        Some(Ending::Signal(SIGXFSZ)) => Some(Violation {
            kind: ViolationKind::FileSize,
            message: format!(
                "a file grew past {}; raise it with --file-size",
                plan.limits.file_size
            ),
        }),
        Some(Ending::Code(0)) | None => None,
        Some(_) => seen.usage.disk_full.then(|| Violation {
            kind: ViolationKind::Disk,
            message: format!(
                "the writable space of {} was full; raise it with --disk",
                plan.limits.disk
            ),
        }),
    }
}

fn violations(plan: &BoxPlan, seen: &Seen) -> Vec<Violation> {
    let limits = &plan.limits;
    let mut violations = Vec::new();
    let mut add = |kind, message| violations.push(Violation { kind, message });
    if seen.cut == Some(Cut::Timeout) {
        let message = format!("timeout after {}; raise it with --timeout", limits.timeout);
        add(ViolationKind::Timeout, message);
    }
    if seen.truncated {
        let message =
            format!("output past {} was cut; raise it with --output-limit", limits.output);
        add(ViolationKind::Output, message);
    }
    let usage = &seen.closing.usage;
    if seen.usage.memory_exceeded || usage.oom_kills.is_some_and(|n| n > 0) {
        let message = format!("out of memory at {}; raise it with --memory", limits.memory);
        add(ViolationKind::Memory, message);
    }
    if usage.pids_refused.is_some_and(|n| n > 0) {
        let message = format!("a process beyond {} was refused; raise it with --pids", limits.pids);
        add(ViolationKind::Pids, message);
    }
    violations.extend(refusals(seen));
    violations
}

/// What the gate refused by its rules, the first few of it.
fn refusals(seen: &Seen) -> Vec<Violation> {
    // That something outside does not answer is nobody's refusal.
    let outside = [EgressReason::Unresolved, EgressReason::Unreachable, EgressReason::ProxyFailed];
    let refused = |record: &&Record| !record.allowed && !outside.contains(&record.reason);
    let count = seen.network.iter().filter(refused).count();
    let mut all: Vec<Violation> = seen
        .network
        .iter()
        .filter(refused)
        .take(MOST_REFUSALS)
        .map(|record| {
            let host = match (&record.name, record.address) {
                (Some(name), _) => crate::escape_controls(name).into_owned(),
                (None, Some(address)) => address.to_string(),
                (None, None) => "nobody".into(),
            };
            let what = match record.port {
                Some(port) => format!("a connection to {host} at port {port} was refused"),
                None => format!("the name {host} was not answered"),
            };
            let advice = match record.reason {
                EgressReason::NoRule => "; name it in net.allow",
                EgressReason::DnsOff => "; set net.dns",
                _ => "",
            };
            let message = format!("{what} ({}){advice}", record.reason);
            Violation { kind: ViolationKind::Network, message }
        })
        .collect();
    if count > all.len() {
        let message = format!("the gate refused {} more", count - all.len());
        all.push(Violation { kind: ViolationKind::Network, message });
    }
    all
}

fn stats(seen: &Seen) -> Stats {
    let micros = |micros: u64| micros as f64 / 1e6;
    let usage = &seen.usage;
    let wall_time = seen.wall_time.as_secs_f64();
    let (user_time, system_time) = (micros(usage.user_micros), micros(usage.system_micros));
    Stats {
        wall_time,
        user_time,
        system_time,
        cpu_percent: if wall_time > 0.0 {
            (user_time + system_time) / wall_time * 100.0
        } else {
            0.0
        },
        memory_peak: seen.closing.usage.memory_peak.unwrap_or(usage.memory_peak),
        read_bytes: usage.read_bytes,
        written_bytes: usage.written_bytes,
        pids_peak: seen.closing.usage.pids_peak,
        stdout_bytes: seen.stdout_bytes,
        stderr_bytes: seen.stderr_bytes,
        context_switches: usage.context_switches,
        start_time: seen.start_time.as_secs_f64(),
    }
}

/// The system's words for an error number.
pub(super) fn system_reason(errno: i32) -> String {
    match errno {
        0 => "no reason given".into(),
        errno => {
            let words = std::io::Error::from_raw_os_error(errno).to_string();
            // The number says nothing that the words do not.
            words.split(" (os error").next().unwrap_or(&words).to_owned()
        }
    }
}
