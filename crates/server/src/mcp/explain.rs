//! `sandbox_policy.explain`: what is allowed, in the words of the policy itself.

use fumehood::{Request, policy::Decision};
use rmcp::model::CallToolResult;
use serde_json::{Value, json};

use super::{
    answer,
    arguments::{PolicyExplain, guest},
    failure::CallError,
    session::Session,
};

pub(super) fn explain(
    session: &Session,
    arguments: PolicyExplain,
) -> Result<CallToolResult, CallError> {
    let PolicyExplain { path, host, port, env, tool, policy } = arguments;
    let shared = session.shared();
    let mut request = shared.configured(Request::command(["true"]));
    request.guest = guest(policy, serde_json::Map::new())?;
    let policy = shared.sandbox.policy(&request)?;
    let mut object = json!({"policy": answer::policy_note(&policy)});
    let mut text = String::new();
    if let Some(path) = &path {
        let decision = policy.path_decision(path);
        text += &format!("{}: read {}", path.display(), sentence(&decision.read));
        text += &format!("{}: write {}", path.display(), sentence(&decision.write));
        object["path"] = json!({"path": path, "read": decision.read, "write": decision.write});
    }
    if let Some(host) = &host {
        let port = port.unwrap_or(443);
        let decision = policy.host_decision(host, port);
        text += &format!("{host}:{port}: {}", sentence(&decision));
        object["host"] = json!({"host": host, "port": port, "decision": decision});
    }
    if let Some(name) = &env {
        let decision = policy.env_decision(name);
        text += &format!("{name}: {}", sentence(&decision));
        object["env"] = json!({"name": name, "decision": decision});
    }
    if let Some(tool) = &tool {
        let decision = policy.tool_decision(tool);
        let rule = decision.rule.map(|(pattern, origin)| format!("`{pattern}` ({origin})"));
        let rule = rule.unwrap_or_else(|| "no rule names it".to_owned());
        text += &format!("{tool}: {}, {rule}\n", decision.verdict.name());
        object["tool"] = json!({"tool": tool, "verdict": decision.verdict, "rule": rule});
    }
    if text.is_empty() {
        let whole = serde_json::to_value(&policy).unwrap_or(Value::Null);
        text = fumehood::source::write_yaml(&whole);
        object["values"] = whole;
    }
    Ok(answer::of_object(text, object))
}

fn sentence(decision: &Decision) -> String {
    let answer = if decision.allowed { "yes" } else { "no" };
    format!("{answer}, {} ({})\n", decision.reason, decision.origin)
}
