//! What a client sends: a message, or something that is refused in the words of the protocol.

use rmcp::{
    ErrorData,
    model::{ClientJsonRpcMessage, ErrorCode, RequestId},
};
use serde_json::Value;

use super::MOST_MESSAGE;

/// What was found in a text.
pub(super) enum Incoming {
    Message(Box<ClientJsonRpcMessage>),
    Refusal(ErrorData, Option<RequestId>),
}

/// The message in a text, or its refusal.
pub(super) fn understand(text: &[u8]) -> Incoming {
    match serde_json::from_slice(text) {
        Ok(message) => Incoming::Message(Box::new(message)),
        Err(_) => match serde_json::from_slice::<Value>(text) {
            Err(error) => {
                let message = format!("the message is not JSON: {error}");
                Incoming::Refusal(ErrorData::new(ErrorCode::PARSE_ERROR, message, None), None)
            }
            Ok(value) => {
                let id = value.get("id").cloned();
                let id = id.and_then(|id| serde_json::from_value(id).ok());
                let message =
                    "this is no message of JSON-RPC 2.0; send one at a time, and no lists of them";
                Incoming::Refusal(ErrorData::invalid_request(message, None), id)
            }
        },
    }
}

/// The refusal of a message that is too long to be kept. Its `id` may have been seen.
pub(super) fn too_long(id: Option<&str>) -> Incoming {
    let message = format!(
        "the message is longer than {MOST_MESSAGE} bytes: send less code, or put data into files of the workspace in several calls"
    );
    let id = id.and_then(|id| serde_json::from_str(id).ok());
    Incoming::Refusal(ErrorData::invalid_request(message, None), id)
}
