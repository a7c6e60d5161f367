//! The loop of the server: lines in, work started, answers out.

use std::{
    io::{self, BufRead, Write},
    sync::Arc,
    time::Duration,
};

use fumehood::{LanguageHealth, LimitOverrides, Request, Sandbox, StdinSource, language::Registry};
use serde_json::{Map, Value, json};
use tokio::{
    sync::{Semaphore, oneshot},
    task::JoinSet,
};

use super::{
    LONGEST_LINE, PROTOCOL,
    explain::Question,
    fault::Fault,
    fields::Fields,
    lines::{self, Line},
    message::{Call, Id, NoCall},
    output::{Later, Output},
    request,
    run::{self, Job},
    runs::{Order, Runs},
};

/// Every method.
pub(super) const METHODS: &[&str] = &[
    "initialize",
    "run",
    "exec",
    "stdin",
    "cancel",
    "languages",
    "doctor",
    "policy.explain",
    "shutdown",
];

/// How long a client that does not read is waited for when everything is over.
const PATIENCE: Duration = Duration::from_secs(2);

/// Puts on a request what the configuration decides.
pub type Configure = Box<dyn Fn(&mut Request) + Send + Sync>;

/// What is needed to serve.
pub struct Server {
    /// What runs requests.
    pub sandbox: Sandbox,
    /// What the configuration decides about each of them.
    pub configure: Configure,
    /// Limits as the configuration has them.
    pub limits: LimitOverrides,
    /// How many runs there are at once; the others wait for their turn.
    pub at_once: usize,
}

/// Why the server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It was told to.
    Shutdown,
    /// The client says nothing any more.
    InputOver,
    /// The client does not listen any more.
    ReaderGone,
}

/// What all calls share.
pub(super) struct Shared {
    pub(super) sandbox: Sandbox,
    configure: Configure,
    pub(super) limits: LimitOverrides,
    pub(super) room: Semaphore,
    at_once: usize,
}

impl Shared {
    /// Puts on a request what the configuration decides.
    pub(super) fn configured(&self, request: &mut Request) {
        (self.configure)(request);
    }
}

impl Server {
    /// Serves until the input ends, nobody reads the output, or it is told to stop. Every box is
    /// gone then. Must be called inside a tokio runtime.
    pub async fn serve(
        self,
        input: impl BufRead + Send + 'static,
        output: impl Write + Send + 'static,
    ) -> io::Result<Ended> {
        let Server { sandbox, configure, limits, at_once } = self;
        let mut lines = lines::read_all(input, LONGEST_LINE)?;
        let (output, mut written) = Output::start(output)?;
        let room = Semaphore::new(at_once);
        let shared = Arc::new(Shared { sandbox, configure, limits, room, at_once });
        let sandbox = shared.sandbox.clone();
        let mut session = Session {
            shared,
            output,
            runs: Arc::default(),
            tasks: JoinSet::new(),
            greeted: false,
            closing: None,
        };
        let mut listening = true;
        let ended = loop {
            if let Some(id) = &session.closing
                && session.tasks.is_empty()
            {
                let answer = session.output.answer(id.as_ref(), Ok(Value::Null));
                let _ = tokio::time::timeout(PATIENCE, answer).await;
                break Ended::Shutdown;
            }
            tokio::select! {
                line = lines.recv(), if listening => match line {
                    Some(line) => session.hear(line),
                    // What was begun before a shutdown is brought to its end.
                    None if session.closing.is_some() => listening = false,
                    None => break Ended::InputOver,
                },
                Some(_) = session.tasks.join_next() => {}
                _ = &mut written => break Ended::ReaderGone,
            }
        };
        // Their runs are dropped, and the boxes end.
        session.tasks.shutdown().await;
        drop(session);
        if ended != Ended::ReaderGone {
            let _ = tokio::time::timeout(PATIENCE, written).await;
        }
        sandbox.close().await;
        Ok(ended)
    }
}

/// What is known of the client.
struct Session {
    shared: Arc<Shared>,
    output: Output,
    runs: Arc<Runs>,
    tasks: JoinSet<()>,
    greeted: bool,
    /// The call that said to stop.
    closing: Option<Option<Id>>,
}

impl Session {
    /// Never waits: the end of the input must be seen, whether the client reads or not.
    fn hear(&mut self, line: Line) {
        let call = match line {
            Line::TooLong => Err(NoCall { id: None, fault: Fault::LineTooLong }),
            // Some clients separate objects by empty lines.
            Line::Whole(line) if line.iter().all(u8::is_ascii_whitespace) => return,
            Line::Whole(line) => Call::read(&line),
        };
        let Call { id, method, params } = match call {
            Ok(call) => call,
            Err(NoCall { id, fault }) => {
                let later = self.output.refuse_now(id.as_ref(), &fault);
                return self.say_later(later);
            }
        };
        let answer = match self.obey(id.clone(), &method, params) {
            Ok(None) => return,
            Ok(Some(result)) => Ok(result),
            Err(fault) => Err(fault),
        };
        let later = self.output.answer_now(id.as_ref(), answer);
        self.say_later(later);
    }

    fn say_later(&mut self, later: Option<Later>) {
        if let Some(later) = later {
            self.tasks.spawn(later.say());
        }
    }

    /// Does what a call asks for, or begins it. Gives the result if it is there already.
    fn obey(
        &mut self,
        id: Option<Id>,
        method: &str,
        params: Map<String, Value>,
    ) -> Result<Option<Value>, Fault> {
        if !METHODS.contains(&method) {
            return Err(Fault::UnknownMethod { method: method.to_owned() });
        }
        if !self.greeted && method != "initialize" {
            return Err(Fault::NotInitialized);
        }
        if self.closing.is_some() && !matches!(method, "cancel" | "stdin") {
            return Err(Fault::Closing);
        }
        match method {
            "initialize" => return self.initialize(params).map(Some),
            "cancel" => return self.cancel(params).map(Some),
            "stdin" => self.stdin(id, params)?,
            "shutdown" => {
                Fields::of(params).end()?;
                self.closing = Some(id);
            }
            "run" => self.run(id, params, request::of_run)?,
            "exec" => self.run(id, params, request::of_exec)?,
            "policy.explain" => {
                let question = Question::read(params)?;
                let shared = Arc::clone(&self.shared);
                self.answer_later(id, async move {
                    let asked = tokio::task::spawn_blocking(move || question.answer(&shared));
                    asked.await.unwrap_or_else(|gone| Err(Fault::refused("failed", &gone)))
                });
            }
            // What is left looks at the machine.
            _ => {
                let mut fields = Fields::of(params);
                let refresh = fields.flag("refresh")?;
                fields.end()?;
                let sandbox = self.shared.sandbox.clone();
                let whole = method == "doctor";
                self.answer_later(id, async move { examine(sandbox, refresh, whole).await });
            }
        }
        Ok(None)
    }

    fn initialize(&mut self, params: Map<String, Value>) -> Result<Value, Fault> {
        let mut fields = Fields::of(params);
        let asked = fields.any("protocol");
        let asked = fields.required("protocol", asked, &format!("the number {PROTOCOL}"))?;
        // Who it is matters to nobody yet; it may be a name or an object.
        let _ = fields.any("client");
        fields.end()?;
        if asked != json!(PROTOCOL) {
            return Err(Fault::Protocol { asked: asked.to_string() });
        }
        self.greeted = true;
        let languages: Vec<&str> = Registry::builtin().names().collect();
        Ok(json!({
            "protocol": PROTOCOL,
            "version": env!("CARGO_PKG_VERSION"),
            "capabilities": {
                "methods": METHODS,
                "stream": true,
                "live_stdin": true,
                "files": true,
                "at_once": self.shared.at_once,
                "longest_line": LONGEST_LINE,
            },
            "languages": languages,
        }))
    }

    fn run(
        &mut self,
        id: Option<Id>,
        params: Map<String, Value>,
        read: fn(&mut Fields) -> Result<Request, Fault>,
    ) -> Result<(), Fault> {
        let mut fields = Fields::of(params);
        let stream = fields.flag("stream")?;
        let request = read(&mut fields)?;
        fields.end()?;
        // Without an id nobody could see what became of it, or end it.
        let Some(id) = id else { return Ok(()) };
        let ears = self.runs.enter(&id, request.stdin == StdinSource::Live)?;
        let job = Job { id: id.clone(), request, stream, ears };
        let (shared, output) = (Arc::clone(&self.shared), self.output.clone());
        let leaving = Leaving { runs: Arc::clone(&self.runs), id: id.clone() };
        self.tasks.spawn(async move {
            let answer = run::carry_out(job, shared, &output).await;
            // Before the answer: whoever has it may use the id again.
            drop(leaving);
            output.answer(Some(&id), answer).await;
        });
        Ok(())
    }

    fn cancel(&mut self, params: Map<String, Value>) -> Result<Value, Fault> {
        let mut fields = Fields::of(params);
        let id = run_id(&mut fields)?;
        let order = match fields.count("signal", 31)? {
            None => Order::Kill,
            Some(signal) => Order::Signal(i32::try_from(signal).unwrap_or_default()),
        };
        fields.end()?;
        Ok(json!({"cancelled": self.runs.order(&id, order)}))
    }

    fn stdin(&mut self, id: Option<Id>, params: Map<String, Value>) -> Result<(), Fault> {
        let mut fields = Fields::of(params);
        let run = run_id(&mut fields)?;
        let bytes = fields.bytes("data")?.unwrap_or_default();
        let end = fields.flag("end")?;
        fields.end()?;
        let taken: oneshot::Receiver<()> = self.runs.feed(&run, bytes, end)?;
        if id.is_some() {
            self.answer_later(id, async move { Ok(json!({"taken": taken.await.is_ok()})) });
        }
        Ok(())
    }

    fn answer_later(
        &mut self,
        id: Option<Id>,
        work: impl Future<Output = Result<Value, Fault>> + Send + 'static,
    ) {
        let output = self.output.clone();
        self.tasks.spawn(async move {
            let answer = work.await;
            output.answer(id.as_ref(), answer).await;
        });
    }
}

/// Takes a run out of the table, however it ends.
struct Leaving {
    runs: Arc<Runs>,
    id: Id,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        self.runs.leave(&self.id);
    }
}

/// The id of the call whose run is meant.
fn run_id(fields: &mut Fields) -> Result<Id, Fault> {
    let id = fields.any("id").and_then(Id::of);
    fields.required("id", id, "the id of the call that began the run")
}

async fn examine(sandbox: Sandbox, refresh: bool, whole: bool) -> Result<Value, Fault> {
    let examination = sandbox.examine(refresh).await;
    if whole {
        return serde_json::to_value(&examination)
            .map_err(|error| Fault::refused("failed", &error));
    }
    Ok(examination.languages.iter().map(LanguageHealth::listing).collect())
}
