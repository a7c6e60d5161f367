//! What the ledger keeps of a decision about an agent's tool: which tool, what was decided, by which
//! rule. What the tool was to do is kept as a digest only.

use serde::{Deserialize, Serialize};

use super::{Caller, Extras, Sealed, clip};
use crate::{
    Digest,
    policy::{ToolDecision, ToolVerdict},
};

/// One decision. In the ledger its line also has a number, the time it was written, and the hashes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolRecord {
    /// Who asked.
    pub caller: Caller,
    /// The kind of agent.
    pub agent: String,
    /// The agent's name for its session, if it gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The name of the tool.
    pub tool: String,
    /// What it was to do.
    pub input: Sealed,
    /// What was decided.
    pub verdict: ToolVerdict,
    /// The pattern that decided; absent if none named the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Where the pattern stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The digest of the policy under the ledger's salt.
    pub policy: Option<Digest>,
}

impl ToolRecord {
    /// What is kept of a decision. Everything that an agent can make long is bounded.
    pub fn new(
        agent: &str,
        session: Option<&str>,
        tool: &str,
        input: &[u8],
        decision: &ToolDecision<'_>,
        extras: Extras<'_>,
    ) -> ToolRecord {
        let Extras { caller, policy, salt, .. } = extras;
        let short = |text: &str| clip::text(text, clip::MOST_SHORT);
        ToolRecord {
            caller,
            agent: short(agent),
            session: session.map(short),
            tool: short(tool),
            input: Sealed {
                digest: salt.seal("tool input", input),
                length: Some(input.len() as u64),
                text: None,
            },
            verdict: decision.verdict,
            rule: decision.rule.map(|(pattern, _)| pattern.to_string()),
            origin: decision.rule.map(|(_, origin)| short(&origin.to_string())),
            policy: policy.map(|digest| salt.seal("policy", digest.as_str().as_bytes())),
        }
    }
}
