//! How agents ask and want to be answered.

use std::path::PathBuf;

use fumehood::policy::ToolVerdict;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::decide::{Decided, HookFailure};

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Agent {
    ClaudeCode,
    Generic,
}

/// A question, whoever asks it.
#[derive(Debug, PartialEq)]
pub(super) struct Question {
    pub(super) tool: String,
    pub(super) input: Map<String, Value>,
    pub(super) cwd: Option<PathBuf>,
    pub(super) session: Option<String>,
    /// The name of the agent, where the way of asking does not say it.
    pub(super) agent: Option<String>,
}

#[derive(Deserialize)]
struct PreToolUse {
    #[serde(default)]
    session_id: Option<String>,
    #[serde(default)]
    cwd: Option<PathBuf>,
    hook_event_name: String,
    tool_name: String,
    #[serde(default)]
    tool_input: Map<String, Value>,
}

#[derive(Deserialize)]
struct Plain {
    tool: String,
    #[serde(default)]
    input: Map<String, Value>,
    #[serde(default)]
    cwd: Option<PathBuf>,
    #[serde(default)]
    agent: Option<String>,
    #[serde(default)]
    session: Option<String>,
}

impl Agent {
    pub(super) fn name(self) -> &'static str {
        match self {
            Agent::ClaudeCode => "claude-code",
            Agent::Generic => "generic",
        }
    }

    pub(super) fn question(self, bytes: &[u8]) -> Result<Question, HookFailure> {
        let wrong = |error: serde_json::Error| HookFailure::Input { reason: error.to_string() };
        match self {
            Agent::ClaudeCode => {
                let asked: PreToolUse = serde_json::from_slice(bytes).map_err(wrong)?;
                if asked.hook_event_name != "PreToolUse" {
                    return Err(HookFailure::Event { name: asked.hook_event_name });
                }
                let PreToolUse { session_id, cwd, tool_name, tool_input, .. } = asked;
                Ok(Question {
                    tool: tool_name,
                    input: tool_input,
                    cwd,
                    session: session_id,
                    agent: None,
                })
            }
            Agent::Generic => {
                let Plain { tool, input, cwd, agent, session } =
                    serde_json::from_slice(bytes).map_err(wrong)?;
                Ok(Question { tool, input, cwd, session, agent })
            }
        }
    }

    pub(super) fn answer(self, decided: &Decided) -> Value {
        let Decided { verdict, reason, input } = decided;
        if self == Agent::Generic {
            return json!({"decision": verdict, "reason": reason, "input": input});
        }
        let decision = match verdict {
            // Silence leaves it to the agent's own rules.
            ToolVerdict::Pass => return json!({}),
            // What runs in a box needs no further question.
            ToolVerdict::Allow | ToolVerdict::Rewrite => "allow",
            ToolVerdict::Deny => "deny",
        };
        let mut output = json!({
            "hookEventName": "PreToolUse",
            "permissionDecision": decision,
            "permissionDecisionReason": reason,
        });
        if *verdict == ToolVerdict::Rewrite {
            output["updatedInput"] = Value::Object(input.clone());
        }
        json!({"hookSpecificOutput": output})
    }
}
