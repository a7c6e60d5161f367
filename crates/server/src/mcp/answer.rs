//! An outcome as an answer: text for the model, an object for programs, pictures.

use fumehood::{Outcome, Status, policy::Policy};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

use super::{cut::cut, failure::CallError, kept::KeptOutcome, shared::Shared, workspace::Picture};

/// Which policy applied: its digest, and where its values come from.
pub(super) fn policy_note(policy: &Policy) -> Value {
    let mut layers: Vec<String> = Vec::new();
    for entry in policy.entries() {
        let name = entry.origin.name.to_string();
        if !layers.contains(&name) {
            layers.push(name);
        }
    }
    json!({"digest": policy.digest(), "layers": layers})
}

/// What becomes of a run.
pub(super) fn of_run(
    shared: &Shared,
    outcome: &Outcome,
    policy: &Policy,
    pictures: Vec<Picture>,
    artifacts: Vec<Value>,
) -> CallToolResult {
    let id = outcome.id.as_str();
    let most = shared.options.output;
    let uri = |stream: &str| format!("fumehood://outcome/{id}/{stream}");
    let (stdout, stdout_cut) = cut(&outcome.stdout.text(), most, &uri("stdout"));
    let (stderr, stderr_cut) = cut(&outcome.stderr.text(), most, &uri("stderr"));
    let mut object = json!({
        "id": id,
        "success": outcome.success,
        "status": outcome.status,
        "exit_code": outcome.exit_code,
        "signal": outcome.signal,
        "truncated": outcome.truncated || stdout_cut || stderr_cut,
        "execution_time": outcome.execution_time,
        "memory_used": outcome.memory_used,
        "violations": outcome.violations,
        "error": outcome.error,
        "backend": outcome.backend,
        "policy": policy_note(policy),
        "overlay": outcome.overlay,
        "artifacts": artifacts,
        "resources": {"stdout": uri("stdout"), "stderr": uri("stderr")},
    });
    shared.kept.add(KeptOutcome::new(outcome, object.clone()));
    object["stdout"] = json!(stdout);
    object["stderr"] = json!(stderr);
    let mut content = vec![ContentBlock::text(words(outcome, &stdout, &stderr))];
    content.extend(pictures.into_iter().map(|one| ContentBlock::image(one.base64, "image/png")));
    let mut result = CallToolResult::success(content);
    result.structured_content = Some(object);
    result.is_error = Some(!matches!(outcome.status, Status::Exited | Status::Signaled));
    result
}

/// The outcome in words.
fn words(outcome: &Outcome, stdout: &str, stderr: &str) -> String {
    let ended = match (outcome.status, outcome.exit_code, outcome.signal) {
        (Status::Exited, Some(code), _) => format!("exited with code {code}"),
        (Status::Signaled, _, Some(signal)) => format!("ended by signal {signal}"),
        (status, ..) => format!("status {status}"),
    };
    let mut text = format!("{ended} after {:.2} s", outcome.execution_time);
    if let Some(error) = &outcome.error {
        text += &format!("\nerror: {error}");
    }
    for violation in &outcome.violations {
        text += &format!("\nlimit: {}", violation.message);
    }
    if !matches!(outcome.status, Status::Exited | Status::Signaled) {
        text += "\nNext step: ask for less, or for more with `limits` as far as the policy's ceiling allows; sandbox_policy.explain shows the policy";
    }
    for (name, stream) in [("stdout", stdout), ("stderr", stderr)] {
        if !stream.is_empty() {
            text += &format!("\n--- {name} ---\n{stream}");
        }
    }
    text
}

/// What a model hears of a call that came to nothing.
pub(super) fn of_failure(error: &CallError) -> CallToolResult {
    let text = error.to_string();
    let mut result = CallToolResult::error(vec![ContentBlock::text(text.clone())]);
    result.structured_content = Some(json!({"success": false, "status": "refused", "error": text}));
    result
}

/// An object, and words for it.
pub(super) fn of_object(text: String, object: Value) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(object);
    result
}
