//! One box from open to closed: the conversation with its init, against the clock and the limits.
//!
//! Everything that can happen is a branch of one `select`, and nothing in a branch waits: a box
//! that stops listening, a caller that stops reading and a clock that runs out never block each
//! other.

mod feed;
mod hear;

use std::{
    collections::VecDeque,
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use fumehood_core::protocol::{
    Ending, Exec, FromInit, MAX_DATA, ProcessUsage, Report, ToInit, frame, frame::FrameDecoder,
};

use tokio::{
    net::UnixStream,
    sync::mpsc::{OwnedPermit, Sender},
};

use self::feed::next_piece;
use super::{
    egress::{FromGate, Lending},
    handle::{Io, Order, Stdin},
};
use crate::{
    BoxPlan, Enforced, Event, Layer, Mount, MountSource, Phase,
    backend::{Closing, OpenBox},
    egress::Record,
};

/// How long init may take to obey before the box is ended from outside.
const PATIENCE: Duration = Duration::from_secs(2);
/// While this much waits to be sent, a gate has to wait, too.
const ENOUGH: usize = 256 << 10;
/// The longest file that is fetched from a box.
const MOST_FETCHED: u64 = 1 << 30;

/// Why a box was ended before its program ended by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    Timeout,
    Cancelled {
        signal: i32,
    },
    OutputLimit,
    /// The box did not speak our language.
    Garbled,
}

/// What was seen of a box.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) ending: Option<Ending>,
    pub(super) usage: ProcessUsage,
    pub(super) cut: Option<Cut>,
    pub(super) exec_error: Option<i32>,
    pub(super) setup_failure: Option<(String, i32)>,
    /// A layer that the plan requires and the box does not have.
    pub(super) lacking: Option<Report>,
    pub(super) file_error: Option<(PathBuf, i32)>,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    pub(super) stdout_bytes: u64,
    pub(super) stderr_bytes: u64,
    pub(super) truncated: bool,
    pub(super) enforced: Enforced,
    pub(super) closing: Closing,
    pub(super) fetched: Vec<Vec<u8>>,
    pub(super) start_time: Duration,
    pub(super) wall_time: Duration,
    /// What the gate decided.
    pub(super) network: Vec<Record>,
    /// How many decisions are not in it.
    pub(super) network_left_out: u64,
}

/// Where the box is in its life.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Being built, files being put.
    Starting,
    /// The program runs.
    Running,
    /// Asked to end, with a deadline.
    Ending,
    /// Killed through init, with a deadline for init itself.
    Killed,
    /// Results are being fetched.
    Fetching,
    /// Nothing more is expected but the end.
    Over,
}

struct Driver<'a> {
    plan: &'a BoxPlan,
    phase: Phase,
    io: &'a mut Io,
    wanted: &'a [PathBuf],
    begun: Instant,
    stage: Stage,
    deadline: Option<Instant>,
    outgoing: Vec<u8>,
    credit: usize,
    puts_pending: usize,
    fetching: Vec<u8>,
    lending: Option<Lending>,
    /// Events that wait until the caller has room for them.
    waiting: VecDeque<Event>,
    seen: Seen,
}

/// What is done in a box.
pub(super) struct Task<'a> {
    /// The box, and the program in it.
    pub(super) plan: &'a BoxPlan,
    /// What it is for.
    pub(super) phase: Phase,
    /// Files that are fetched if the program succeeds.
    pub(super) wanted: &'a [PathBuf],
    /// When it was asked for.
    pub(super) begun: Instant,
    /// What it is lent of the network.
    pub(super) lending: Option<Lending>,
}

/// Runs the program of a plan in its box. There is time for other work while it runs.
pub(super) async fn drive(
    open: OpenBox,
    task: Task<'_>,
    io: &mut Io,
    meanwhile: impl FnOnce(),
) -> Seen {
    let Task { plan, phase, wanted, begun, lending } = task;
    let mut meanwhile = Some(meanwhile);
    let OpenBox { channel, mut keeper, enforced } = open;
    let mut driver = Driver {
        plan,
        phase,
        io,
        wanted,
        begun,
        stage: Stage::Starting,
        // Building a box takes milliseconds, unless a file system hangs.
        deadline: Some(Instant::now() + plan.limits.timeout.duration()),
        outgoing: Vec::new(),
        credit: 0,
        puts_pending: 0,
        fetching: Vec::new(),
        lending,
        waiting: VecDeque::new(),
        seen: Seen { enforced, ..Seen::default() },
    };
    driver.ask_for_everything();
    let mut decoder = FrameDecoder::new();
    let mut buffer = vec![0u8; MAX_DATA];
    while driver.stage != Stage::Over {
        let goes_on = match driver.next_happening(&channel).await {
            Happening::Readable => driver.receive(&channel, &mut decoder, &mut buffer),
            Happening::Writable => driver.send(&channel),
            Happening::Order(order) => {
                driver.obey(order);
                true
            }
            Happening::Room(room) => {
                driver.tell(room);
                true
            }
            Happening::Piece(piece) => {
                driver.feed(piece);
                true
            }
            Happening::OfGate(FromGate::Decision(record)) => {
                driver.note(record);
                true
            }
            Happening::OfGate(FromGate::Say(message)) => {
                driver.say(&message);
                true
            }
            Happening::TimeIsUp => {
                if driver.time_is_up() {
                    keeper.kill();
                }
                true
            }
            Happening::Broken => false,
        };
        // The program runs. Before, the processor is better left to the box that is being built.
        if driver.stage != Stage::Starting
            && let Some(work) = meanwhile.take()
        {
            work();
        }
        if !goes_on {
            break;
        }
    }
    let _ = driver.send(&channel);
    if let Some(lending) = driver.lending.take() {
        let (last, left_out) = lending.end().await;
        last.into_iter().for_each(|record| driver.note(record));
        driver.seen.network_left_out = left_out;
    }
    let waiting = std::mem::take(&mut driver.waiting);
    let mut seen = driver.seen;
    for event in waiting {
        io.tell(event).await;
    }
    if seen.ending.is_some() || seen.exec_error.is_some() {
        // Init has told everything and ends by itself; the backend cleans up behind our back.
        seen.closing.usage = seen.usage.group;
        keeper.let_go((phase == Phase::Run).then_some(channel));
    } else {
        drop(channel);
        seen.closing = match tokio::time::timeout(PATIENCE, keeper.closed()).await {
            Ok(closing) => closing,
            Err(_) => {
                keeper.kill();
                keeper.closed().await
            }
        };
    }
    if seen.wall_time.is_zero() {
        seen.wall_time = begun.elapsed().saturating_sub(seen.start_time);
    }
    seen
}

/// One thing that can happen to a box under way.
enum Happening {
    Readable,
    Writable,
    Order(Option<Order>),
    /// The caller has room for an event, or is gone.
    Room(Option<OwnedPermit<Event>>),
    /// A piece of live input; `None` at its end, or where a piece is already at hand.
    Piece(Option<Vec<u8>>),
    /// The gate has decided or wants to say something.
    OfGate(FromGate),
    TimeIsUp,
    Broken,
}

impl Driver<'_> {
    async fn next_happening(&mut self, channel: &UnixStream) -> Happening {
        let Io { events, orders, stdin } = &mut *self.io;
        let (tell, say) = (!self.waiting.is_empty(), !self.outgoing.is_empty());
        let deadline = self.deadline;
        let lending = &mut self.lending;
        let has_room = self.outgoing.len() < ENOUGH;
        // Whoever drops a run gives a last order and closes the channel behind it.
        let has_orders = !(orders.is_closed() && orders.is_empty());
        tokio::select! {
            biased;
            // While the caller has not taken what is there, nothing more is read.
            ready = channel.readable(), if !tell => {
                if ready.is_ok() { Happening::Readable } else { Happening::Broken }
            }
            ready = channel.writable(), if say => {
                if ready.is_ok() { Happening::Writable } else { Happening::Broken }
            }
            order = orders.recv(), if has_orders => Happening::Order(order),
            room = next_room(events), if tell => Happening::Room(room),
            piece = next_piece(stdin), if self.credit > 0 => Happening::Piece(piece),
            next = of_gate(lending, !tell, has_room), if !tell || has_room => Happening::OfGate(next),
            () = sleep_until(deadline), if deadline.is_some() => Happening::TimeIsUp,
        }
    }

    /// All that can be said without waiting for an answer: files, then the program.
    fn ask_for_everything(&mut self) {
        for file in &self.plan.files {
            let path = text(&file.path);
            let mut pieces = file.content.chunks(MAX_DATA).peekable();
            let mut append = false;
            loop {
                let data = pieces.next().unwrap_or_default().to_vec();
                self.say(&ToInit::Put { path: path.clone(), mode: file.mode, append, data });
                self.puts_pending += 1;
                append = true;
                if pieces.peek().is_none() {
                    break;
                }
            }
        }
        let command = &self.plan.command;
        self.say(&ToInit::Exec(Exec {
            argv: command.argv.clone(),
            env: command.env.iter().map(|(name, value)| format!("{name}={value}")).collect(),
            cwd: text(&command.cwd),
            stdin: self.phase == Phase::Run && !matches!(self.io.stdin, Stdin::End),
            memory_watch: match self.plan.without.contains(&Layer::Memory) {
                true => 0,
                false => self.plan.limits.memory.get(),
            },
            disk_watch: self.writable_places(),
        }));
    }

    /// The private places that can fill up. In most boxes they are parts of one.
    fn writable_places(&self) -> Vec<String> {
        let scratch = |mount: &&Mount| mount.source == MountSource::Scratch;
        let of_plan = self.plan.mounts.iter().filter(scratch).map(|mount| text(&mount.target));
        std::iter::once("/tmp".to_owned()).chain(of_plan).collect()
    }

    fn say(&mut self, message: &ToInit) {
        frame::append(&mut self.outgoing, &message.encode());
    }

    /// Sends what fits. False if the channel is gone.
    fn send(&mut self, channel: &UnixStream) -> bool {
        while !self.outgoing.is_empty() {
            match channel.try_write(&self.outgoing) {
                Ok(count) => {
                    self.outgoing.drain(..count);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return true,
                Err(_) => return false,
            }
        }
        true
    }

    /// Takes what has arrived. False if nothing more will come.
    fn receive(
        &mut self,
        channel: &UnixStream,
        decoder: &mut FrameDecoder,
        buffer: &mut [u8],
    ) -> bool {
        let read = match &mut self.lending {
            Some(lending) if !lending.serves() => lending.receive(channel, buffer),
            _ => channel.try_read(buffer),
        };
        match read {
            Ok(0) => return false,
            Ok(count) => decoder.push(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return true,
            Err(_) => return false,
        }
        loop {
            let message = match decoder.next_message() {
                Ok(None) => return true,
                Ok(Some(bytes)) => FromInit::decode(bytes),
                Err(error) => Err(error),
            };
            if !message.is_ok_and(|message| self.hear(message)) {
                self.seen.cut = Some(Cut::Garbled);
                return false;
            }
        }
    }

    /// Keeps a decision of the gate.
    fn note(&mut self, record: Record) {
        if self.io.events.is_some() {
            self.waiting.push_back(Event::Network { record: record.clone() });
        }
        self.seen.network.push(record);
    }

    /// Ends the box for a reason; the first reason counts.
    fn cut(&mut self, cut: Cut) {
        self.seen.cut.get_or_insert(cut);
        self.kill_now();
    }

    fn kill_now(&mut self) {
        if !matches!(self.stage, Stage::Killed | Stage::Over) {
            self.say(&ToInit::KillAll);
            if matches!(self.stage, Stage::Starting | Stage::Fetching) {
                // Nothing runs that could report its end.
                self.finish();
                return;
            }
            self.stage = Stage::Killed;
            self.deadline = Some(Instant::now() + PATIENCE);
        }
    }

    /// Asks the program to end, and sets the time after which it is not asked any more.
    fn ask_to_end(&mut self, signal: i32) {
        self.say(&ToInit::Signal(signal as u8));
        self.stage = Stage::Ending;
        self.deadline = Some(Instant::now() + self.plan.limits.grace.duration());
    }

    fn obey(&mut self, order: Option<Order>) {
        match (order, self.stage) {
            (Some(Order::Signal(signal)), Stage::Running) => {
                self.seen.cut.get_or_insert(Cut::Cancelled { signal });
                self.ask_to_end(signal);
            }
            (Some(Order::Signal(signal)), Stage::Starting | Stage::Fetching) => {
                self.cut(Cut::Cancelled { signal });
            }
            // Already on its way out.
            (Some(Order::Signal(_)), _) | (None, _) => {}
            (Some(Order::Kill), _) => self.cut(Cut::Cancelled { signal: 9 }),
        }
    }

    /// A deadline has passed. True if the box must be ended from outside.
    fn time_is_up(&mut self) -> bool {
        match self.stage {
            Stage::Running => {
                self.seen.cut.get_or_insert(Cut::Timeout);
                self.ask_to_end(15);
                false
            }
            Stage::Ending => {
                self.kill_now();
                false
            }
            Stage::Starting | Stage::Fetching => {
                self.seen.cut.get_or_insert(Cut::Timeout);
                self.stage = Stage::Over;
                true
            }
            Stage::Killed | Stage::Over => {
                self.stage = Stage::Over;
                true
            }
        }
    }

    /// Hands one waiting event to the caller. A caller that is gone wants the run to end.
    fn tell(&mut self, room: Option<OwnedPermit<Event>>) {
        match (room, self.waiting.pop_front()) {
            (Some(room), Some(event)) => drop(room.send(event)),
            (None, _) => {
                self.waiting.clear();
                self.cut(Cut::Cancelled { signal: 9 });
            }
            (Some(_), None) => {}
        }
    }
}

/// Room for an event; `None` if the caller is gone.
async fn next_room(events: &Option<Sender<Event>>) -> Option<OwnedPermit<Event>> {
    events.clone()?.reserve_owned().await.ok()
}

async fn of_gate(lending: &mut Option<Lending>, decisions: bool, messages: bool) -> FromGate {
    match lending {
        Some(lending) => lending.next(decisions, messages).await,
        None => std::future::pending().await,
    }
}

async fn sleep_until(deadline: Option<Instant>) {
    if let Some(deadline) = deadline {
        tokio::time::sleep_until(deadline.into()).await;
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
