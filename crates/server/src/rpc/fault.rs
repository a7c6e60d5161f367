//! Why a call has no result: a code for programs, a sentence for people, and the next step.

use fumehood::{Error, nearest};
use serde_json::{Value, json};

use super::{LONGEST_LINE, PROTOCOL, server::METHODS};

/// Why a call has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Fault {
    /// Not JSON.
    #[error("the line is not JSON ({reason}): write one object per line")]
    NotJson {
        /// What the parser says.
        reason: String,
    },
    /// JSON, and not a call.
    #[error("the line is not a call: {reason}")]
    NotACall {
        /// Which rule it breaks.
        reason: &'static str,
    },
    /// Longer than a line may be.
    #[error("the line is longer than {LONGEST_LINE} bytes and was skipped: mount large files")]
    LineTooLong,
    /// Another call with this id is under way.
    #[error("another call with this id is under way: give every call an id of its own")]
    IdInUse,
    /// There is no such method.
    #[error("there is no method `{method}`; the methods are {}{}", METHODS.join(", "), meant(.method))]
    UnknownMethod {
        /// Its name.
        method: String,
    },
    /// A parameter is missing, of another type, or not known.
    #[error("`{field}` must be {expected}")]
    Field {
        /// The parameter.
        field: String,
        /// What it should be.
        expected: String,
    },
    /// A parameter that is not known.
    #[error("there is no parameter `{field}`{}", hint(.near))]
    UnknownField {
        /// The parameter.
        field: String,
        /// What may have been meant.
        near: Option<String>,
    },
    /// Nothing works before `initialize`.
    #[error("the first call must be `initialize` with {{\"protocol\": {PROTOCOL}}}")]
    NotInitialized,
    /// A version of the protocol that this program does not speak.
    #[error("protocol {asked} is not spoken here: use protocol {PROTOCOL}")]
    Protocol {
        /// What was asked for.
        asked: String,
    },
    /// The server was told to end.
    #[error("the server is shutting down: start another one")]
    Closing,
    /// fumehood refused or failed, in its own words.
    #[error("{message}")]
    Refused {
        /// The kind; the names are stable.
        kind: &'static str,
        /// The whole report.
        message: String,
    },
}

fn meant(method: &str) -> String {
    hint(&nearest(method, METHODS.iter().copied()).first().map(|name| (*name).to_owned()))
}

fn hint(near: &Option<String>) -> String {
    near.as_ref().map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default()
}

impl Fault {
    /// A refusal of fumehood.
    pub(super) fn refused(kind: &'static str, error: &dyn std::error::Error) -> Fault {
        Fault::Refused { kind, message: error.to_string() }
    }

    /// The number of JSON-RPC.
    pub(super) fn code(&self) -> i32 {
        match self {
            Fault::NotJson { .. } => -32700,
            Fault::NotACall { .. } | Fault::LineTooLong | Fault::IdInUse => -32600,
            Fault::UnknownMethod { .. } => -32601,
            Fault::Field { .. } | Fault::UnknownField { .. } => -32602,
            Fault::NotInitialized | Fault::Protocol { .. } | Fault::Closing => -32000,
            Fault::Refused { .. } => -32000,
        }
    }

    /// The `error` of an answer.
    pub(super) fn object(&self) -> Value {
        let message = self.to_string();
        let first = message.lines().next().unwrap_or_default();
        let mut object = json!({"code": self.code(), "message": first});
        let data = match self {
            Fault::Refused { kind, message } => {
                json!({"kind": kind, "message": message, "next_step": next_step(message)})
            }
            Fault::NotInitialized => json!({"kind": "not_initialized", "message": message,
                "next_step": "call `initialize` first"}),
            Fault::Protocol { .. } => json!({"kind": "protocol", "message": message,
                "next_step": next_step(&message), "supported": [PROTOCOL]}),
            Fault::Closing => json!({"kind": "closing", "message": message,
                "next_step": next_step(&message)}),
            Fault::Field { field, .. } | Fault::UnknownField { field, .. } => {
                json!({"field": field})
            }
            _ => return object,
        };
        object["data"] = data;
        object
    }
}

/// Every message of the library ends with what to do: after the help mark of a report, or after the
/// last colon or semicolon of a sentence.
fn next_step(message: &str) -> Option<&str> {
    if let Some((_, help)) = message.rsplit_once("= help: ") {
        return Some(help.trim());
    }
    let sentence = message.lines().next_back()?;
    let cut = [": ", "; "].iter().filter_map(|mark| sentence.rfind(mark)).max()?;
    Some(&sentence[cut + 2..])
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        let kind = match &error {
            Error::UnknownLanguage(_) => "unknown_language",
            Error::MissingToolchain(_) => "missing_toolchain",
            Error::EmptyCode | Error::EmptyCommand => "empty",
            Error::Path { .. } | Error::File { .. } | Error::MountTarget { .. } => "path",
            Error::Unpassable { .. } => "unpassable",
            Error::Volume(_) => "volume",
            Error::Archive(_) => "archive",
            Error::Overlay(_) => "overlay",
            Error::Policy(_)
            | Error::DeniedVariable { .. }
            | Error::VolumeRefused { .. }
            | Error::RecordRequired { .. }
            | Error::NotEnforced { .. }
            | Error::TooMuchCovered { .. } => "policy",
            Error::Unavailable { .. } => "unavailable",
            Error::Ledger(_) | Error::NoLedger => "ledger",
            // What broke outside of the request.
            _ => "failed",
        };
        Fault::refused(kind, &error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_step_is_taken_from_the_words_of_the_library() {
        let report = "asks for 9GiB\n--> request.memory\n = help: ask for no more";
        assert_eq!(next_step(report), Some("ask for no more"));
        assert_eq!(next_step("x cannot be used (gone): check the path"), Some("check the path"));
        assert_eq!(next_step("unknown `x`; the names are y"), Some("the names are y"));
        assert_eq!(next_step("`x` is no size: no digits; write 1m"), Some("write 1m"));
        assert_eq!(next_step("no"), None);
    }

    #[test]
    fn refusals_carry_kind_message_and_next_step() {
        let object = Fault::from(Error::EmptyCode).object();
        assert_eq!(object["code"], -32000);
        assert_eq!(object["data"]["kind"], "empty");
        assert_eq!(object["data"]["message"], Error::EmptyCode.to_string());
        assert!(object["data"]["next_step"].as_str().unwrap().starts_with("give a file"));
    }

    #[test]
    fn a_misspelt_method_is_guessed() {
        let fault = Fault::UnknownMethod { method: "langauges".into() };
        assert!(fault.to_string().ends_with("(did you mean `languages`?)"), "{fault}");
    }
}
