//! What there is to say about a run once it is over.

use fumehood::{Outcome, Phase, Status, Strength};

/// Why fumehood ended the program, or could not run it. Empty if the program ended by itself and
/// got all it wanted, so that a run that went well leaves no trace of fumehood.
pub fn sentences(outcome: &Outcome) -> Vec<String> {
    if outcome.success {
        return Vec::new();
    }
    let mut sentences: Vec<String> =
        outcome.violations.iter().map(|violation| violation.message.clone()).collect();
    sentences.extend(outcome.error.clone());
    if sentences.is_empty() {
        sentences.extend(plain_reason(outcome));
    }
    sentences
}

/// For an outcome that gives no words of its own.
fn plain_reason(outcome: &Outcome) -> Option<String> {
    let sentence = match outcome.status {
        Status::Exited | Status::Signaled | Status::Cancelled => return None,
        Status::Timeout => "out of time; raise it with --timeout",
        Status::Oom => "out of memory; raise it with --memory",
        Status::OutputLimit => "too much output; raise it with --output-limit",
        Status::DiskLimit => "writable space is full; raise it with --disk",
        Status::Refused => "refused; `fumehood doctor` shows what this machine lacks",
        Status::Failed => "failed; `fumehood doctor` shows what this machine lacks",
    };
    Some(sentence.to_owned())
}

/// How it ended, in a few words.
pub fn ending(outcome: &Outcome) -> String {
    let how = match (outcome.status, outcome.exit_code, outcome.signal) {
        (Status::Exited, Some(code), _) => format!("exited with code {code}"),
        (Status::Signaled, _, Some(signal)) => format!("ended by signal {signal}"),
        (status, ..) => status.name().replace('_', " "),
    };
    match outcome.phase {
        Phase::Run => how,
        phase => format!("{} {how}", phase.name()),
    }
}

/// Everything in one line, for `--verbose`.
pub fn summary(outcome: &Outcome) -> String {
    format!(
        "{} on the {} backend; {}; run {}",
        ending(outcome),
        outcome.backend,
        metrics(outcome),
        outcome.id
    )
}

/// Layers that were not fully enforced.
pub fn weaknesses(outcome: &Outcome) -> Vec<String> {
    let say = |strength| match strength {
        Strength::Full => None,
        Strength::BestEffort => Some("best effort"),
        Strength::Off => Some("off"),
    };
    let line = |(layer, report): (fumehood::Layer, &fumehood::LayerReport)| {
        Some(format!("{layer}: {} ({})", say(report.strength)?, report.detail))
    };
    outcome.enforced.iter().filter_map(line).collect()
}

/// What it used.
pub fn metrics(outcome: &Outcome) -> String {
    let stats = &outcome.stats;
    let mut parts = vec![
        format!("time {}", seconds(stats.wall_time)),
        format!("cpu {} ({:.0}%)", seconds(stats.user_time + stats.system_time), stats.cpu_percent),
        format!("memory {}", size(stats.memory_peak)),
    ];
    parts.extend(stats.pids_peak.map(|pids| format!("processes {pids}")));
    parts.push(format!("stdout {}", size(stats.stdout_bytes)));
    parts.push(format!("stderr {}", size(stats.stderr_bytes)));
    parts.join(", ")
}

/// A time for people.
pub fn seconds(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.1} ms", seconds * 1000.0) } else { format!("{seconds:.2} s") }
}

/// An amount of bytes for people.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut amount = bytes as f64 / 1024.0;
    let mut unit = 0;
    while amount >= 1024.0 && unit + 1 < UNITS.len() {
        amount /= 1024.0;
        unit += 1;
    }
    format!("{amount:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_short() {
        assert_eq!(size(0), "0 B");
        assert_eq!(size(1023), "1023 B");
        assert_eq!(size(1536), "1.5 KiB");
        assert_eq!(size(9 << 20), "9.0 MiB");
        assert_eq!(size(u64::MAX), "16777216.0 TiB");
        assert_eq!(seconds(0.0123), "12.3 ms");
        assert_eq!(seconds(61.0), "61.00 s");
    }
}
