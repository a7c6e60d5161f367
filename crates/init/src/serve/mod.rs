//! Process 1 of a box at work: it starts the program, carries its streams, obeys the supervisor,
//! and ends everything when either of them is gone.

mod birth;
mod carry;
mod channel;
mod files;
mod outgoing;
mod program;
mod watch;

use alloc::{string::String, vec, vec::Vec};

use fumehood_core::protocol::{
    Exec, FromInit, MAX_DATA, Stream, ToInit, VERSION, frame::FrameDecoder,
};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fd::OwnedFd,
    io::Errno,
};

use self::{carry::Carriable, files::Sending, outgoing::Outgoing, program::Program};
pub(crate) use self::{carry::Carrier, channel::Channel};
use crate::{meters::Meters, sys};

/// How long what the program sent before it ended may hold up the news of its end.
const LAST_WORDS_NANOS: u64 = 200_000_000;

/// Which processes belong to the box.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Population {
    /// Everything in the pid namespace of which this is process 1.
    Namespace,
    /// The program's process group and what was left to us by its descendants.
    Descendants,
}

/// What a box gives to the program's surroundings.
#[derive(Default)]
pub(crate) struct Surroundings {
    /// Whether memory is watched by hand, where no cgroup holds the limit.
    pub(crate) watch_memory: bool,
    /// What the cgroups count.
    pub(crate) meters: Meters,
    /// Variables that a program has unless it was given others: those of the image.
    pub(crate) variables: Vec<String>,
    /// Connections that go over the control channel.
    pub(crate) carrier: Carrier,
    /// What was heard before anyone served.
    pub(crate) decoder: FrameDecoder,
}

struct Server {
    population: Population,
    watch_memory: bool,
    meters: Meters,
    variables: Vec<String>,
    outgoing: Outgoing,
    decoder: FrameDecoder,
    program: Option<Program>,
    sending: Option<Sending>,
    carrier: Carrier,
    /// The program's end, and when it is told at the latest.
    ended: Option<(FromInit, u64)>,
    signals: OwnedFd,
    over: bool,
}

/// Serves in a finished box until the supervisor is done with it.
pub(crate) fn main_in_box(channel: Channel, surroundings: Surroundings) -> u8 {
    serve(channel, Population::Namespace, surroundings)
}

/// Serves without a box, on descriptor 0, for the backend that isolates nothing.
pub(crate) fn main_without_box() -> u8 {
    let Ok(channel) = rustix::io::fcntl_dupfd_cloexec(sys::descriptor(0), 3) else { return 1 };
    let channel = Channel::Socket(channel);
    let _ = rustix::process::setsid();
    // What the program's children leave behind comes to us, not to the host's process 1.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    let mut hello = Outgoing::default();
    hello.push(&FromInit::Ready { version: VERSION, reports: vec![] });
    while !hello.is_empty() {
        if hello.flush(&channel).is_err() {
            return 1;
        }
    }
    serve(channel, Population::Descendants, Surroundings::default())
}

fn serve(channel: Channel, population: Population, surroundings: Surroundings) -> u8 {
    let Ok(signals) = sys::open_signal_queue() else { return 1 };
    if channel.never_wait().is_err() {
        return 1;
    }
    let Surroundings { watch_memory, meters, variables, mut carrier, decoder } = surroundings;
    carrier.begin();
    let mut server = Server {
        population,
        watch_memory,
        meters,
        variables,
        outgoing: Outgoing::default(),
        decoder,
        program: None,
        sending: None,
        carrier,
        ended: None,
        signals,
        over: false,
    };
    // What came together with the order for the box.
    if server.obey_all().is_err() || server.outgoing.flush(&channel).is_err() {
        server.over = true;
    }
    while !server.over {
        if server.turn(&channel).is_err() {
            break;
        }
    }
    if let Some(mut program) = server.program.take() {
        program.end_all(population);
    }
    0
}

/// The conversation cannot go on: the supervisor is gone or does not speak our language.
struct Broken;

impl From<Errno> for Broken {
    fn from(_: Errno) -> Broken {
        Broken
    }
}

impl Server {
    /// Waits for something to happen and deals with it.
    fn turn(&mut self, channel: &Channel) -> Result<(), Broken> {
        let ready = self.wait(channel)?;
        if ready.child_ended {
            let mut discarded = [0u8; 1024];
            let _ = rustix::io::read(&self.signals, &mut discarded);
            if let Some(program) = &mut self.program {
                program.reap(self.population);
            }
        }
        if ready.input {
            self.hear(channel)?;
        }
        if let Some(program) = &mut self.program {
            for (stream, flag) in [(Stream::Stdout, ready.stdout), (Stream::Stderr, ready.stderr)] {
                if flag {
                    program.read_output(stream, &mut self.outgoing);
                }
            }
            if ready.stdin {
                program.feed(&mut self.outgoing);
            }
            program.watch(self.population);
            if let Some(ended) = program.ending(&self.meters) {
                self.ended = Some((ended, sys::now_nanos() + LAST_WORDS_NANOS));
                self.program = None;
            }
        }
        self.carrier.carry(ready.carriable, &mut self.outgoing);
        // What the program sent before it ended goes first.
        if let Some((ended, _)) =
            self.ended.take_if(|(_, latest)| self.carrier.is_quiet() || sys::now_nanos() >= *latest)
        {
            self.outgoing.push(&ended);
        }
        if let Some(sending) = &mut self.sending
            && self.outgoing.has_room()
            && sending.step(&mut self.outgoing)
        {
            self.sending = None;
        }
        self.outgoing.flush(channel)?;
        Ok(())
    }

    fn wait(&self, channel: &Channel) -> Result<Ready, Broken> {
        let (input, output) = channel.polled(!self.outgoing.is_empty());
        let mut polled = vec![input, PollFd::new(&self.signals, PollFlags::IN)];
        let output_place = output.map(|output| {
            polled.push(output);
            polled.len() - 1
        });
        let program = self.program.as_ref();
        let room = self.outgoing.has_room();
        let stdout = program.and_then(|program| program.stdout.as_ref()).filter(|_| room);
        let stderr = program.and_then(|program| program.stderr.as_ref()).filter(|_| room);
        let stdin = program.and_then(Program::waiting_stdin);
        let stdout = place(&mut polled, stdout, PollFlags::IN);
        let stderr = place(&mut polled, stderr, PollFlags::IN);
        let stdin = place(&mut polled, stdin, PollFlags::OUT);
        let carried = self.carrier.polled(room);
        let first_carried = polled.len();
        let (carriable, sockets): (Vec<_>, Vec<_>) = carried.into_iter().unzip();
        polled.extend(sockets);
        let pause = match (&self.sending, &self.ended) {
            (Some(_), _) if room => Some(0),
            (_, Some(_)) => Some(1_000_000),
            _ => program.and_then(Program::pause),
        };
        let pause = pause.map(|nanos| Timespec { tv_sec: 0, tv_nsec: nanos });
        match poll(&mut polled, pause.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        let fired = |index: Option<usize>| {
            index.and_then(|index| polled.get(index)).is_some_and(|fd| !fd.revents().is_empty())
        };
        let about_channel = polled[0].revents();
        // Nobody reads what we say, and waiting for it would not wait.
        if output_place.is_some_and(|place| polled[place].revents().contains(PollFlags::ERR)) {
            return Err(Broken);
        }
        Ok(Ready {
            input: about_channel.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR),
            child_ended: fired(Some(1)),
            stdout: fired(stdout),
            stderr: fired(stderr),
            stdin: fired(stdin),
            carriable: carriable
                .into_iter()
                .enumerate()
                .filter(|(place, _)| fired(Some(first_carried + place)))
                .map(|(_, one)| one)
                .collect(),
        })
    }

    fn hear(&mut self, channel: &Channel) -> Result<(), Broken> {
        let mut buffer = vec![0u8; MAX_DATA];
        match channel.read(&mut buffer) {
            Ok(0) => return Err(Broken),
            Ok(count) => self.decoder.push(&buffer[..count]),
            Err(Errno::AGAIN | Errno::INTR) => return Ok(()),
            Err(errno) => return Err(errno.into()),
        }
        self.obey_all()
    }

    /// Obeys every whole message that was heard.
    fn obey_all(&mut self) -> Result<(), Broken> {
        loop {
            let message = match self.decoder.next_message() {
                Ok(None) => return Ok(()),
                Ok(Some(bytes)) => ToInit::decode(bytes).map_err(|_| Broken)?,
                Err(_) => return Err(Broken),
            };
            self.obey(message)?;
        }
    }

    fn start(&mut self, exec: &Exec) {
        match Program::start(exec, self.population) {
            Ok(program) => {
                self.outgoing.push(&FromInit::Started);
                program.grant_first_window(&mut self.outgoing);
                self.program = Some(program);
            }
            Err(errno) => {
                self.outgoing.push(&FromInit::ExecFailed { errno: errno.raw_os_error() });
            }
        }
    }

    fn obey(&mut self, message: ToInit) -> Result<(), Broken> {
        match (message, &mut self.program) {
            (ToInit::Exec(mut exec), None) => {
                if !self.watch_memory {
                    exec.memory_watch = 0;
                }
                add_missing(&mut exec.env, &self.variables);
                self.start(&exec);
            }
            // One program at a time; two would mean that the supervisor lost count.
            (ToInit::Exec(_), Some(_)) => return Err(Broken),
            (ToInit::Stdin(data), Some(program)) => program.queue_stdin(&data)?,
            (ToInit::StdinEnd, Some(program)) => program.end_stdin(),
            (ToInit::Signal(signal), Some(program)) => program.signal(signal),
            (ToInit::KillAll, Some(program)) => program.kill(self.population),
            // The program ended while these were on their way.
            (ToInit::Stdin(_) | ToInit::StdinEnd | ToInit::Signal(_) | ToInit::KillAll, None) => {}
            (ToInit::Put { path, mode, append, data }, _) => {
                self.outgoing.push(&files::put(&path, mode, append, &data));
            }
            (ToInit::Get { path, most }, _) => match Sending::open(&path, most) {
                Ok(sending) if self.sending.is_none() => self.sending = Some(sending),
                Ok(_) => return Err(Broken),
                Err(errno) => {
                    self.outgoing.push(&FromInit::Failed { errno: errno.raw_os_error() });
                }
            },
            (ToInit::Passage { connection, passage }, _) => {
                self.carrier.pass(connection, passage, &mut self.outgoing)?;
            }
            (ToInit::Answer { number, message }, _) => self.carrier.answer(number, &message),
            (ToInit::Shutdown, _) => self.over = true,
        }
        Ok(())
    }
}

/// Adds the variables whose names are not there yet.
fn add_missing(variables: &mut Vec<String>, others: &[String]) {
    let name = |variable: &str| variable.split('=').next().map(String::from);
    for other in others {
        if !variables.iter().any(|variable| name(variable) == name(other)) {
            variables.push(other.clone());
        }
    }
}

/// Adds a descriptor to those waited for; gives its place among them.
fn place<'a>(
    polled: &mut Vec<PollFd<'a>>,
    fd: Option<&'a OwnedFd>,
    flags: PollFlags,
) -> Option<usize> {
    polled.push(PollFd::new(fd?, flags));
    Some(polled.len() - 1)
}

/// What can be done without waiting.
struct Ready {
    input: bool,
    child_ended: bool,
    stdout: bool,
    stderr: bool,
    stdin: bool,
    carriable: Vec<Carriable>,
}

#[cfg(test)]
mod tests {
    use alloc::{string::ToString as _, vec};

    use super::*;

    #[test]
    fn variables_of_the_image_fill_the_gaps() {
        let mut variables = vec!["HOME=/home/box".to_string(), "EMPTY=".to_string()];
        let image = ["HOME=/root", "PATH=/opt/bin", "EMPTY=full"].map(String::from);
        add_missing(&mut variables, &image);
        assert_eq!(variables, ["HOME=/home/box", "EMPTY=", "PATH=/opt/bin"]);
    }
}
