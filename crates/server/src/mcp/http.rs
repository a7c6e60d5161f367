//! The protocol over streamable HTTP, for clients on this machine, or elsewhere with a token.

use std::{net::SocketAddr, sync::Arc};

use axum::{
    Router,
    extract::{Request, State},
    http::{StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse as _, Response},
};
use rmcp::transport::{
    StreamableHttpServerConfig, StreamableHttpService,
    streamable_http_server::session::local::LocalSessionManager,
};
use tokio::net::TcpListener;

use super::{
    MOST_MESSAGE, ServeError, Token, body::understood, presence::Presence, session::Session,
    shared::Shared,
};

/// Pages of this machine, at any port.
const LOCAL_PAGES: [&str; 3] = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];

/// Serves clients until the process ends. `ready` hears the address, whose port may have been 0.
pub async fn serve_http(
    shared: Arc<Shared>,
    address: SocketAddr,
    token: Option<Token>,
    ready: impl FnOnce(SocketAddr),
) -> Result<(), ServeError> {
    if token.is_none() && !address.ip().is_loopback() {
        return Err(ServeError::Open { address });
    }
    let listen = |reason| ServeError::Listen { address, reason };
    let listener = TcpListener::bind(address).await.map_err(listen)?;
    let local = listener.local_addr().map_err(listen)?;
    // Browsers name the page that they act for; only pages of this machine have business here, and
    // none where others can reach us. A page that has made its own name lead to this machine is known
    // by that name.
    let mut config = StreamableHttpServerConfig::default()
        .enforce_origin_validation()
        .with_max_request_body_bytes(MOST_MESSAGE);
    if local.ip().is_loopback() {
        config = config.with_allowed_origins(LOCAL_PAGES);
    } else {
        // This machine may have any name elsewhere; the token is what counts there.
        config = config.disable_allowed_hosts();
    }
    let service = StreamableHttpService::new(
        move || Ok(Session::new(Arc::clone(&shared))),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    let router = Router::new()
        .route_service("/mcp", service)
        .layer(middleware::from_fn(understood))
        .layer(middleware::from_fn_with_state(Presence::default(), attend))
        .layer(middleware::from_fn_with_state(token.map(Arc::new), guard));
    ready(local);
    axum::serve(listener, router)
        .await
        .map_err(|error| ServeError::Ended { reason: error.to_string() })
}

/// Lets nobody through who does not show the token.
async fn guard(State(token): State<Option<Arc<Token>>>, request: Request, next: Next) -> Response {
    let shown = request.headers().get(header::AUTHORIZATION).map(|value| value.as_bytes());
    match token {
        Some(token) if !shown.is_some_and(|shown| token.is_shown_by(shown)) => (
            StatusCode::UNAUTHORIZED,
            [(header::WWW_AUTHENTICATE, "Bearer")],
            "send the token: `Authorization: Bearer TOKEN`\n",
        )
            .into_response(),
        _ => next.run(request).await,
    }
}

/// Notes that a client listens, from its request to the end of the answer.
async fn attend(State(presence): State<Presence>, mut request: Request, next: Next) -> Response {
    match presence.admit(&mut request) {
        Some(listening) => {
            let answer = next.run(request).await;
            listening.to(answer)
        }
        None => next.run(request).await,
    }
}
