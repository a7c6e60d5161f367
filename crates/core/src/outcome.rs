//! The result of a run.

use std::{borrow::Cow, fmt};

use base64::Engine as _;
use serde::{Deserialize, Serialize, Serializer, ser::SerializeStruct as _};

use crate::{BackendName, Change, Digest, Enforced, Phase, RunId, Selection, egress};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The program ended by itself.
    Exited,
    /// A signal ended the program.
    Signaled,
    /// It ran out of time.
    Timeout,
    /// It ran out of memory.
    Oom,
    /// It wrote more than it may.
    OutputLimit,
    /// It filled its writable space.
    DiskLimit,
    /// The caller ended it.
    Cancelled,
    /// It was not run: the request or the policy does not allow it.
    Refused,
    /// It could not be run: something outside the program broke.
    Failed,
}

impl Status {
    /// The name used in outcomes.
    pub fn name(self) -> &'static str {
        match self {
            Status::Exited => "exited",
            Status::Signaled => "signaled",
            Status::Timeout => "timeout",
            Status::Oom => "oom",
            Status::OutputLimit => "output_limit",
            Status::DiskLimit => "disk_limit",
            Status::Cancelled => "cancelled",
            Status::Refused => "refused",
            Status::Failed => "failed",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Bytes that a program wrote. In JSON a plain string where they are UTF-8, else
/// `{"base64": "…"}`, so that nothing is lost and nothing is guessed.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Captured(pub Vec<u8>);

impl Captured {
    /// The output as text; what is not UTF-8 becomes the replacement character.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }
}

impl fmt::Debug for Captured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Captured({:?})", self.text())
    }
}

impl Serialize for Captured {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(&self.0) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => {
                let mut object = serializer.serialize_struct("Captured", 1)?;
                let encoded = base64::engine::general_purpose::STANDARD.encode(&self.0);
                object.serialize_field("base64", &encoded)?;
                object.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Captured {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Text(String),
            Encoded { base64: String },
        }
        match Form::deserialize(deserializer)? {
            Form::Text(text) => Ok(Captured(text.into_bytes())),
            Form::Encoded { base64 } => base64::engine::general_purpose::STANDARD
                .decode(base64)
                .map(Captured)
                .map_err(serde::de::Error::custom),
        }
    }
}

/// What a phase used, as the kernel counted it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// Seconds from start to end.
    pub wall_time: f64,
    /// Seconds of processor time in user code.
    pub user_time: f64,
    /// Seconds of processor time in the kernel.
    pub system_time: f64,
    /// Processor time per wall time, in percent of one core.
    pub cpu_percent: f64,
    /// The most memory in use at one time, in bytes.
    pub memory_peak: u64,
    /// Bytes read from block devices.
    pub read_bytes: u64,
    /// Bytes written to block devices.
    pub written_bytes: u64,
    /// The most processes and threads alive at one time, where the kernel counts them.
    pub pids_peak: Option<u64>,
    /// Bytes written to stdout, also those beyond the limit.
    pub stdout_bytes: u64,
    /// Bytes written to stderr, also those beyond the limit.
    pub stderr_bytes: u64,
    /// Voluntary and involuntary context switches.
    pub context_switches: u64,
    /// Seconds from the request to the program's first instruction.
    pub start_time: f64,
}

/// The kind of a violation. The names are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ViolationKind {
    /// The time limit ended it.
    Timeout,
    /// The memory limit was hit.
    Memory,
    /// The process limit refused a fork.
    Pids,
    /// The output limit cut the output.
    Output,
    /// The writable space was full.
    Disk,
    /// A file grew past the file size limit.
    FileSize,
    /// The ledger could not be written.
    Unrecorded,
    /// A path that the policy protects came to be, or was replaced, during the run.
    ProtectedPath,
    /// A connection or a name was refused.
    Network,
}

/// Something the program tried and did not get.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// What kind.
    pub kind: ViolationKind,
    /// In one sentence, with the limit and the way to raise it.
    pub message: String,
}

/// The result of one phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseOutcome {
    /// Which phase.
    pub phase: Phase,
    /// True when its result came from the cache and nothing ran.
    pub cached: bool,
    /// How it ended.
    pub status: Status,
    /// The program's exit code, if it ended by itself.
    pub exit_code: Option<i32>,
    /// Seconds from start to end.
    pub execution_time: f64,
    /// What it used.
    pub stats: Stats,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The run's name.
    pub id: RunId,
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
    /// What it wrote to standard output, up to the limit.
    pub stdout: Captured,
    /// What it wrote to standard error, up to the limit.
    pub stderr: Captured,
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
    /// The backend that ran it.
    pub backend: BackendName,
    /// Why that one, and which ones could not serve.
    pub selection: Selection,
    /// What was really applied, layer by layer.
    pub enforced: Enforced,
    /// What the program tried and did not get.
    pub violations: Vec<Violation>,
    /// What the program changed in an overlay workspace; the first [`Outcome::MOST_CHANGES`].
    #[serde(default)]
    pub changes: Vec<Change>,
    /// How many changes there are, also those that are not listed.
    #[serde(default)]
    pub change_count: u64,
    /// Where the changes are kept: the name for `diff`, `apply` and `discard`. Absent if there is
    /// nothing to keep.
    #[serde(default)]
    pub overlay: Option<String>,
    /// What the gate decided about connections and names, in the order in which they ended; as
    /// many as a gate hands out.
    #[serde(default)]
    pub network: Vec<egress::Record>,
    /// How many decisions are not listed.
    #[serde(default)]
    pub network_left_out: u64,
    /// Why it failed or was refused, and what to do about it.
    pub error: Option<String>,
    /// Digest of the policy that it obeyed.
    pub policy_digest: Digest,
    /// Digest of the plan that was carried out.
    pub plan_digest: Digest,
}

impl Outcome {
    /// The most changes that an outcome lists.
    pub const MOST_CHANGES: usize = 1000;

    /// The exit code a command line gives for this outcome: the program's own; 124 for a timeout;
    /// 125 when fumehood failed or refused; 137 out of memory; 128 plus the signal otherwise.
    pub fn cli_exit_code(&self) -> u8 {
        let low_byte = |code: i32| (code & 0xff) as u8;
        match self.status {
            Status::Exited => self.exit_code.map_or(125, low_byte),
            Status::Signaled => self.signal.map_or(125, |signal| low_byte(128 + signal)),
            Status::Timeout => 124,
            Status::Oom => 137,
            Status::OutputLimit => 137,
            // Where the program noticed and ended by itself, its own code says more.
            Status::DiskLimit => match (self.exit_code, self.signal) {
                (Some(code), _) if code != 0 => low_byte(code),
                (_, Some(signal)) => low_byte(128 + signal),
                _ => 125,
            },
            Status::Cancelled => self.signal.map_or(130, |signal| low_byte(128 + signal)),
            Status::Refused | Status::Failed => 125,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_that_is_not_text_survives_json() {
        for bytes in [&b"plain"[..], b"\xff\x00\xfe", b""] {
            let json = serde_json::to_string(&Captured(bytes.to_vec())).unwrap();
            assert_eq!(serde_json::from_str::<Captured>(&json).unwrap().0, bytes, "{json}");
        }
        let json = serde_json::to_string(&Captured(vec![0xff])).unwrap();
        assert_eq!(json, r#"{"base64":"/w=="}"#);
    }
}
