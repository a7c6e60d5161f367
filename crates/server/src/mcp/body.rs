//! Bodies of requests over HTTP: bounded, and refused in the words of the protocol where they hold no
//! message.

use axum::{
    body::{Body, to_bytes},
    extract::Request,
    http::{Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use rmcp::{RoleServer, service::TxJsonRpcMessage};

use super::{
    MOST_MESSAGE,
    incoming::{Incoming, too_long, understand},
};

/// Passes on what holds a message, and says of anything else what is wrong with it.
pub(super) async fn understood(request: Request, next: Next) -> Response {
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let Ok(bytes) = to_bytes(body, MOST_MESSAGE).await else {
        // Nobody reads on who only broke off, so this is heard by who sent too much.
        return refused(StatusCode::PAYLOAD_TOO_LARGE, too_long(None)).unwrap_or_default();
    };
    let is_json = |value: &header::HeaderValue| value.as_bytes().starts_with(b"application/json");
    let is_json = parts.headers.get(header::CONTENT_TYPE).is_some_and(is_json);
    let answer = next.run(Request::from_parts(parts, Body::from(bytes.clone()))).await;
    if answer.status() != StatusCode::UNSUPPORTED_MEDIA_TYPE || !is_json {
        return answer;
    }
    // It says it is JSON, so it is the body that was not understood.
    refused(StatusCode::BAD_REQUEST, understand(&bytes)).unwrap_or(answer)
}

fn refused(status: StatusCode, incoming: Incoming) -> Option<Response> {
    let Incoming::Refusal(error, id) = incoming else { return None };
    let text = serde_json::to_string(&TxJsonRpcMessage::<RoleServer>::error(error, id)).ok()?;
    Some((status, [(header::CONTENT_TYPE, "application/json")], text).into_response())
}
