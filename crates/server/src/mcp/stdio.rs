//! The protocol over standard input and output, one message per line. Lines are bounded; what is not
//! understood is answered, and never ends the connection.

use std::{
    io::{self, BufReader},
    sync::Arc,
    thread,
};

use rmcp::{
    ErrorData, RoleServer,
    model::{ClientJsonRpcMessage, ClientRequest, GetMeta as _, RequestId},
    service::{RxJsonRpcMessage, ServerInitializeError, ServiceExt as _, TxJsonRpcMessage},
    transport::Transport,
};
use tokio::{
    io::{AsyncWriteExt as _, Stdout},
    sync::{Mutex, mpsc},
};

use super::{
    MOST_MESSAGE, ServeError,
    incoming::{Incoming, too_long, understand},
    lines::{Line, read_line},
    session::{Session, not_understood},
    shared::Shared,
};

/// How many messages may wait to be taken up.
const WAITING: usize = 64;

/// Serves one client until it closes our standard input. Calls that are under way then have a few
/// seconds to end.
pub async fn serve_stdio(shared: Arc<Shared>) -> Result<(), ServeError> {
    let ended = |reason: String| ServeError::Ended { reason };
    match Session::new(shared).serve(Stdio::open().map_err(|e| ended(e.to_string()))?).await {
        Ok(running) => running.waiting().await.map(|_| ()).map_err(|e| ended(e.to_string())),
        // It left before it said anything.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(ended(error.to_string())),
    }
}

struct Stdio {
    incoming: mpsc::Receiver<Incoming>,
    out: Arc<Mutex<Stdout>>,
    /// Whether a session has begun. Before that only requests count.
    begun: bool,
}

impl Stdio {
    fn open() -> io::Result<Stdio> {
        let (sender, incoming) = mpsc::channel(WAITING);
        let read = move || {
            let mut source = BufReader::with_capacity(64 << 10, io::stdin().lock());
            while let Ok(line) = read_line(&mut source, MOST_MESSAGE) {
                let found = match line {
                    Line::End => return,
                    Line::Whole(line) if line.iter().all(u8::is_ascii_whitespace) => continue,
                    Line::Whole(line) => understand(&line),
                    Line::TooLong(id) => too_long(id.as_deref()),
                };
                if sender.blocking_send(found).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new().name("stdin".into()).spawn(read)?;
        Ok(Stdio { incoming, out: Arc::new(Mutex::new(tokio::io::stdout())), begun: false })
    }

    /// The refusal of what makes no sense before a session has begun, or the message.
    fn admit(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> Result<ClientJsonRpcMessage, Option<(ErrorData, RequestId)>> {
        if self.begun {
            return Ok(message);
        }
        match &message {
            ClientJsonRpcMessage::Request(request) => {
                let complete = request.request.get_meta().protocol_version().is_some();
                match &request.request {
                    ClientRequest::InitializeRequest(_) => self.begun = true,
                    ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => {}
                    ClientRequest::CustomRequest(custom) if !complete => {
                        return Err(Some((not_understood(&custom.method), request.id.clone())));
                    }
                    _ => self.begun = complete,
                }
                Ok(message)
            }
            _ => Err(None),
        }
    }
}

/// Writes one message as one line.
async fn write(out: Arc<Mutex<Stdout>>, item: TxJsonRpcMessage<RoleServer>) -> io::Result<()> {
    let mut line = serde_json::to_vec(&item)?;
    line.push(b'\n');
    let mut out = out.lock().await;
    out.write_all(&line).await?;
    out.flush().await
}

impl Transport<RoleServer> for Stdio {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        write(Arc::clone(&self.out), item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let (error, id) = match self.incoming.recv().await? {
                Incoming::Message(message) => match self.admit(*message) {
                    Ok(message) => return Some(message),
                    Err(Some((error, id))) => (error, Some(id)),
                    Err(None) => continue,
                },
                Incoming::Refusal(error, id) => (error, id),
            };
            // In a task of its own: whoever receives may stop waiting at any time.
            tokio::spawn(write(
                Arc::clone(&self.out),
                TxJsonRpcMessage::<RoleServer>::error(error, id),
            ));
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.out.lock().await.flush().await
    }
}
