//! What goes out: one object per line, written by a thread of its own.

use std::{
    io::{self, Write},
    thread,
};

use serde::Serialize;
use serde_json::Value;
use tokio::sync::{
    mpsc::{self, error::TrySendError},
    oneshot,
};

use super::{fault::Fault, message::Id};

/// How many lines may wait for a client that does not read. Whoever has more to say waits.
const WAITING: usize = 32;

/// Says things to the client. Cheap to clone.
#[derive(Clone)]
pub(super) struct Output {
    lines: mpsc::Sender<Vec<u8>>,
}

impl Output {
    /// Starts the writer. The other half is told when it has ended: all was said, or nobody reads.
    pub(super) fn start(
        mut sink: impl Write + Send + 'static,
    ) -> io::Result<(Output, oneshot::Receiver<()>)> {
        let (lines, mut receiver) = mpsc::channel::<Vec<u8>>(WAITING);
        let (ended, when_ended) = oneshot::channel();
        thread::Builder::new().name("rpc-output".to_owned()).spawn(move || {
            while let Some(line) = receiver.blocking_recv() {
                if sink.write_all(&line).and_then(|()| sink.flush()).is_err() {
                    break;
                }
            }
            let _ = ended.send(());
        })?;
        Ok((Output { lines }, when_ended))
    }

    /// Answers a call, waiting for room. Notifications get no answer.
    pub(super) async fn answer(&self, id: Option<&Id>, answer: Result<impl Serialize, Fault>) {
        if let Some(line) = id.and_then(|id| answer_line(id, answer)) {
            self.say(line).await;
        }
    }

    /// Answers a call at once, for whoever cannot wait. Gives what is left to do if there is no
    /// room.
    pub(super) fn answer_now(
        &self,
        id: Option<&Id>,
        answer: Result<impl Serialize, Fault>,
    ) -> Option<Later> {
        self.say_now(answer_line(id?, answer)?)
    }

    /// Says what is wrong with a line, also with one that has no readable id.
    pub(super) fn refuse_now(&self, id: Option<&Id>, fault: &Fault) -> Option<Later> {
        self.say_now(refusal_line(id, fault)?)
    }

    /// Tells without being asked.
    pub(super) async fn notify(&self, method: &str, params: &impl Serialize) {
        #[derive(Serialize)]
        struct Notification<'a, P> {
            jsonrpc: &'static str,
            method: &'a str,
            params: &'a P,
        }
        if let Some(line) = line(&Notification { jsonrpc: "2.0", method, params }) {
            self.say(line).await;
        }
    }

    async fn say(&self, line: Vec<u8>) {
        // Where nobody reads any more there is nobody to tell.
        let _ = self.lines.send(line).await;
    }

    fn say_now(&self, line: Vec<u8>) -> Option<Later> {
        match self.lines.try_send(line) {
            Err(TrySendError::Full(line)) => Some(Later { output: self.clone(), line }),
            Ok(()) | Err(TrySendError::Closed(_)) => None,
        }
    }
}

/// A line for which there was no room.
pub(super) struct Later {
    output: Output,
    line: Vec<u8>,
}

impl Later {
    /// Waits for room.
    pub(super) async fn say(self) {
        self.output.say(self.line).await;
    }
}

fn answer_line(id: &Id, answer: Result<impl Serialize, Fault>) -> Option<Vec<u8>> {
    #[derive(Serialize)]
    struct Answer<'a, R> {
        jsonrpc: &'static str,
        id: &'a Id,
        result: R,
    }
    match answer {
        Ok(result) => line(&Answer { jsonrpc: "2.0", id, result }),
        Err(fault) => refusal_line(Some(id), &fault),
    }
}

fn refusal_line(id: Option<&Id>, fault: &Fault) -> Option<Vec<u8>> {
    #[derive(Serialize)]
    struct Refusal<'a> {
        jsonrpc: &'static str,
        id: Option<&'a Id>,
        error: Value,
    }
    line(&Refusal { jsonrpc: "2.0", id, error: fault.object() })
}

/// Strings, numbers and maps with text as keys: they always serialize.
fn line(object: &impl Serialize) -> Option<Vec<u8>> {
    let mut line = serde_json::to_vec(object).ok()?;
    line.push(b'\n');
    Some(line)
}
