//! `policy.explain`: whether a path, a host or a variable is allowed, and which line says so.

use std::path::Path;

use fumehood::{
    Request,
    policy::{self, Overrides, PathDecision, Spoken},
};
use serde_json::{Map, Value, json};

use super::{fault::Fault, fields::Fields, request, server::Shared};

/// What is asked about.
pub(super) enum Subject {
    Path(String),
    Host(String, u16),
    Variable(String),
}

/// A question and the policy that is asked.
pub(super) struct Question {
    subject: Subject,
    /// Only its policy matters.
    request: Request,
}

impl Question {
    pub(super) fn read(params: Map<String, Value>) -> Result<Question, Fault> {
        let mut fields = Fields::of(params);
        let (path, host, env) = (fields.text("path")?, fields.text("host")?, fields.text("env")?);
        let port = fields.count("port", u32::from(u16::MAX))?;
        let port = port.and_then(|port| u16::try_from(port).ok()).unwrap_or(443);
        let subject = match (path, host, env) {
            (Some(path), None, None) => Subject::Path(path),
            (None, Some(host), None) => Subject::Host(host, port),
            (None, None, Some(name)) => Subject::Variable(name),
            _ => return Err(fields.wrong("path", "there, or `host`, or `env`: one of the three")),
        };
        let mut request = Request::command(["true"]);
        (request.policy, request.overrides) = request::policy(&mut fields)?;
        fields.end()?;
        Ok(Question { subject, request })
    }

    /// The answer. Reads files.
    pub(super) fn answer(mut self, shared: &Shared) -> Result<Value, Fault> {
        shared.configured(&mut self.request);
        let further = self.request.overrides.take();
        let wishes = Overrides { spoken: Spoken::Fields, further, ..Overrides::default() };
        let policy = policy::load(&self.request.policy, &shared.limits, wishes)
            .map_err(|error| Fault::refused("policy", &error))?;
        Ok(match self.subject {
            Subject::Path(path) => {
                let PathDecision { read, write } = policy::path_decision(&policy, Path::new(&path));
                json!({"path": path, "read": read, "write": write})
            }
            Subject::Host(host, port) => {
                let decision = policy.host_decision(&host, port);
                json!({"host": host, "port": port, "decision": decision})
            }
            Subject::Variable(name) => {
                json!({"env": name, "decision": policy.env_decision(&name)})
            }
        })
    }
}
