//! What can be read besides the answers: the policy in force, and the last outcomes in full.

use base64::Engine as _;
use fumehood::Request;
use rmcp::{
    ErrorData,
    model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate},
};
use serde_json::Value;

use super::shared::Shared;

const POLICY: &str = "fumehood://policy";
const OUTCOME: &str = "fumehood://outcome/";

pub(super) fn list(shared: &Shared) -> Vec<Resource> {
    let mut resources = vec![
        Resource::new(POLICY, "policy")
            .with_title("The policy in force")
            .with_description("Every value with the place that says it.")
            .with_mime_type("application/json"),
    ];
    for id in shared.kept.ids() {
        let uri = format!("{OUTCOME}{id}");
        resources.push(
            Resource::new(uri.clone(), format!("outcome {id}")).with_mime_type("application/json"),
        );
        for stream in ["stdout", "stderr"] {
            let name = format!("{stream} of {id}");
            resources
                .push(Resource::new(format!("{uri}/{stream}"), name).with_mime_type("text/plain"));
        }
    }
    resources
}

pub(super) fn templates() -> Vec<ResourceTemplate> {
    let template = |uri: &str, name: &str, about: &str| {
        ResourceTemplate::new(format!("{OUTCOME}{uri}"), name).with_description(about)
    };
    vec![
        template("{id}", "outcome", "A run's outcome without its output."),
        template("{id}/stdout", "stdout", "All that a run wrote to standard output."),
        template("{id}/stderr", "stderr", "All that a run wrote to standard error."),
    ]
}

pub(super) fn read(shared: &Shared, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let contents = if uri == POLICY {
        let request = shared.configured(Request::command(["true"]));
        let policy = shared.sandbox.policy(&request);
        let policy = policy.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        json(serde_json::to_value(&policy).unwrap_or(Value::Null), uri)
    } else {
        outcome(shared, uri).ok_or_else(|| {
            let shown: String = uri.chars().take(200).collect();
            ErrorData::resource_not_found(
                format!("there is no resource {shown}: only the last outcomes are kept; list the resources"),
                None,
            )
        })?
    };
    Ok(ReadResourceResult::new(vec![contents]))
}

fn outcome(shared: &Shared, uri: &str) -> Option<ResourceContents> {
    let rest = uri.strip_prefix(OUTCOME)?;
    let (id, stream) = rest.split_once('/').map_or((rest, None), |(id, rest)| (id, Some(rest)));
    let kept = shared.kept.find(id)?;
    match stream {
        None => Some(json(kept.summary, uri)),
        Some("stdout") => Some(bytes(kept.stdout, uri)),
        Some("stderr") => Some(bytes(kept.stderr, uri)),
        Some(_) => None,
    }
}

fn json(value: Value, uri: &str) -> ResourceContents {
    ResourceContents::text(format!("{value:#}"), uri).with_mime_type("application/json")
}

fn bytes(bytes: Vec<u8>, uri: &str) -> ResourceContents {
    match String::from_utf8(bytes) {
        Ok(text) => ResourceContents::text(text, uri).with_mime_type("text/plain"),
        Err(error) => {
            let text = base64::engine::general_purpose::STANDARD.encode(error.as_bytes());
            ResourceContents::blob(text, uri).with_mime_type("application/octet-stream")
        }
    }
}
