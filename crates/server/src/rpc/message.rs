//! A line from the client as a call.

use serde::Serialize;
use serde_json::{Map, Number, Value};

use super::fault::Fault;

/// The name that the client gives to a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(untagged)]
pub(super) enum Id {
    /// A number.
    Number(Number),
    /// A text.
    Text(String),
}

impl Id {
    /// The id in a value, if it is one.
    pub(super) fn of(value: Value) -> Option<Id> {
        match value {
            Value::Number(number) => Some(Id::Number(number)),
            Value::String(text) => Some(Id::Text(text)),
            _ => None,
        }
    }
}

/// What the client wants.
#[derive(Debug, PartialEq)]
pub(super) struct Call {
    /// Absent in a notification, which gets no answer.
    pub(super) id: Option<Id>,
    pub(super) method: String,
    pub(super) params: Map<String, Value>,
}

/// A line that is no call, with its id as far as that could be read.
#[derive(Debug)]
pub(super) struct NoCall {
    pub(super) id: Option<Id>,
    pub(super) fault: Fault,
}

impl Call {
    /// Reads a line.
    pub(super) fn read(line: &[u8]) -> Result<Call, NoCall> {
        let value: Value = serde_json::from_slice(line).map_err(|error| NoCall {
            id: None,
            fault: Fault::NotJson { reason: error.to_string() },
        })?;
        let Value::Object(mut object) = value else {
            let reason = match value {
                Value::Array(_) => "batches are not taken: write one object per line",
                _ => "it is not an object: write {\"jsonrpc\": \"2.0\", \"method\": ...}",
            };
            return Err(NoCall { id: None, fault: Fault::NotACall { reason } });
        };
        let no_id = "`id` must be a text or a number";
        let given = object.remove("id");
        let id = given.clone().and_then(Id::of);
        let wrong = |reason| NoCall { id: id.clone(), fault: Fault::NotACall { reason } };
        if given.is_some() && id.is_none() {
            return Err(wrong(no_id));
        }
        if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Err(wrong("`jsonrpc` must be \"2.0\""));
        }
        let Some(Value::String(method)) = object.remove("method") else {
            return Err(wrong("`method` must be a text"));
        };
        let params = match object.remove("params") {
            Some(Value::Object(params)) => params,
            None | Some(Value::Null) => Map::new(),
            Some(_) => {
                let fault = Fault::Field { field: "params".into(), expected: "an object".into() };
                return Err(NoCall { id, fault });
            }
        };
        Ok(Call { id, method, params })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(line: &str) -> i32 {
        Call::read(line.as_bytes()).unwrap_err().fault.code()
    }

    #[test]
    fn calls_and_notifications_are_read() {
        let call = Call::read(br#"{"jsonrpc":"2.0","id":"a","method":"run","params":{"x":1}}"#);
        let call = call.unwrap();
        assert_eq!((call.id, call.method.as_str()), (Some(Id::Text("a".into())), "run"));
        assert_eq!(call.params["x"], 1);
        let note = Call::read(br#"{"jsonrpc":"2.0","method":"stdin"}"#).unwrap();
        assert_eq!((note.id, note.params.len()), (None, 0));
    }

    #[test]
    fn what_is_no_call_is_told_apart() {
        assert_eq!(code("{"), -32700);
        assert_eq!(code("\u{fffd}"), -32700);
        assert_eq!(code("[]"), -32600);
        assert_eq!(code("7"), -32600);
        assert_eq!(code(r#"{"jsonrpc":"2.0","id":1}"#), -32600);
        assert_eq!(code(r#"{"id":1,"method":"run"}"#), -32600);
        assert_eq!(code(r#"{"jsonrpc":"2.0","id":null,"method":"run"}"#), -32600);
        assert_eq!(code(r#"{"jsonrpc":"2.0","id":1,"method":"run","params":[1]}"#), -32602);
    }
}
