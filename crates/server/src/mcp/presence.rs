//! Who still listens over HTTP. A session's client may drop one connection and come back with
//! another; one that has none and does not come back takes its runs along.

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::{Body, Bytes, HttpBody},
    extract::Request,
    response::Response,
};
use http_body::{Frame, SizeHint};
use tokio::{sync::watch, time::timeout};

/// How long a client may be away.
const AWAY: Duration = Duration::from_secs(5);

const SESSION: &str = "mcp-session-id";

/// How many answers each session's client is waiting for, or listening to.
#[derive(Clone, Debug, Default)]
pub(super) struct Presence(Arc<Mutex<HashMap<String, watch::Sender<usize>>>>);

/// What a run knows of the client that asked for it.
#[derive(Clone, Debug)]
pub(super) struct Listener(watch::Receiver<usize>);

impl Presence {
    /// Counts the client of a request among those who listen, until it has the whole answer or is
    /// gone. A request without a session ends with its connection, which the protocol sees to.
    pub(super) fn admit(&self, request: &mut Request) -> Option<Listening> {
        let session = request.headers().get(SESSION)?.to_str().ok()?.to_owned();
        let listening = self.listen(session);
        request.extensions_mut().insert(listening.listener.clone());
        Some(listening)
    }

    fn listen(&self, session: String) -> Listening {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Sessions that nobody listens to and for which nothing runs.
        all.retain(|_, open| *open.borrow() > 0 || open.receiver_count() > 0);
        let open = all.entry(session.clone()).or_insert_with(|| watch::Sender::new(0));
        open.send_modify(|open| *open += 1);
        let listener = Listener(open.subscribe());
        Listening { presence: self.clone(), session, listener }
    }
}

/// A client that listens. Dropped when it does no longer.
#[derive(Debug)]
pub(super) struct Listening {
    presence: Presence,
    session: String,
    listener: Listener,
}

impl Listening {
    /// The answer, which keeps the client listening as long as it is being sent.
    pub(super) fn to(self, answer: Response) -> Response {
        answer.map(|body| Body::new(Heard { body, _listening: self }))
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let all = self.presence.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = all.get(&self.session) {
            open.send_modify(|open| *open = open.saturating_sub(1));
        }
    }
}

impl Listener {
    /// Comes to its end when the client is gone and stays away.
    pub(super) async fn left(self) {
        self.left_for(AWAY).await;
    }

    async fn left_for(mut self, away: Duration) {
        // An error means that nobody counts any more, and so that nobody listens.
        while self.0.wait_for(|open| *open == 0).await.is_ok() {
            let back = timeout(away, self.0.wait_for(|open| *open > 0)).await;
            if back.map_or(true, |back| back.is_err()) {
                return;
            }
        }
    }
}

/// A body that somebody listens to.
struct Heard {
    body: Body,
    _listening: Listening,
}

impl HttpBody for Heard {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_client_is_gone_when_it_stays_away() {
        let away = Duration::from_secs(1);
        let presence = Presence::default();
        let first = presence.listen("a".into());
        let left = tokio::spawn(first.listener.clone().left_for(away));
        drop(first);
        tokio::time::sleep(away / 4).await;
        let again = presence.listen("a".into());
        tokio::time::sleep(away * 2).await;
        assert!(!left.is_finished(), "it came back in time");
        drop(presence.listen("b".into()));
        drop(again);
        tokio::time::sleep(away / 4).await;
        assert!(!left.is_finished(), "it may still come back");
        tokio::time::timeout(away * 10, left).await.unwrap().unwrap();
        drop(presence.listen("c".into()));
        drop(presence.listen("d".into()));
        assert!(presence.0.lock().unwrap().len() <= 1, "nothing is kept of those who are gone");
    }
}
