//! Bytes in JSON: a text, or `{"base64": "…"}` where they are none. The form of outputs, too.

use fumehood::Captured;
use serde_json::Value;

use super::fault::Fault;

/// The bytes that a value stands for.
pub(super) fn bytes(field: &str, value: Value) -> Result<Vec<u8>, Fault> {
    if let Value::String(text) = value {
        return Ok(text.into_bytes());
    }
    serde_json::from_value::<Captured>(value).map(|captured| captured.0).map_err(|_| Fault::Field {
        field: field.to_owned(),
        expected: "a text, or {\"base64\": TEXT} with valid base64".to_owned(),
    })
}
