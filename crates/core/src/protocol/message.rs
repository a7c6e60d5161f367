//! What supervisor and init say to each other on the control channel.

use alloc::{string::String, vec::Vec};
use core::net::SocketAddr;

use super::{
    BoxUsage, DecodeError, LentSocket, MAX_DATA, MAX_DNS, Passage,
    carry::{read_address, write_address},
    lend::{read_sockets, write_sockets},
    wire::{Reader, Writer},
};
use crate::{Layer, Strength};

/// A program to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exec {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// The whole environment, as `NAME=value`.
    pub env: Vec<String>,
    /// The working directory.
    pub cwd: String,
    /// Whether standard input will be sent; otherwise it is empty.
    pub stdin: bool,
    /// Resident memory at which init ends the box itself; 0 where the kernel does it.
    pub memory_watch: u64,
    /// The writable places whose filling is to be noticed.
    pub disk_watch: Vec<String>,
}

/// Supervisor to init.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToInit {
    /// Start a program.
    Exec(Exec),
    /// Bytes for its standard input, within the window that the box granted.
    Stdin(Vec<u8>),
    /// No more standard input.
    StdinEnd,
    /// Send a signal to the program's process group.
    Signal(u8),
    /// End every process of the box now.
    KillAll,
    /// Write a file, or append to it.
    Put {
        /// Path inside the box.
        path: String,
        /// Permission bits.
        mode: u32,
        /// Append instead of create.
        append: bool,
        /// The bytes.
        data: Vec<u8>,
    },
    /// Send a file back.
    Get {
        /// Path inside the box.
        path: String,
        /// Refuse if it is longer.
        most: u64,
    },
    /// Something on a connection that the box carries.
    Passage {
        /// Which connection.
        connection: u32,
        /// What.
        passage: Passage,
    },
    /// The answer to a question of DNS.
    Answer {
        /// The number of the question.
        number: u32,
        /// The answer.
        message: Vec<u8>,
    },
    /// End every process and exit.
    Shutdown,
}

/// Which output stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With this code.
    Code(u8),
    /// By this signal.
    Signal(u8),
}

/// What the processes of a run used, as the kernel counted it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessUsage {
    /// Nanoseconds from start to end.
    pub wall_nanos: u64,
    /// Microseconds of processor time in user code.
    pub user_micros: u64,
    /// Microseconds of processor time in the kernel.
    pub system_micros: u64,
    /// The largest resident size of one process, or of all where it was watched, in bytes.
    pub memory_peak: u64,
    /// Bytes read from block devices.
    pub read_bytes: u64,
    /// Bytes written to block devices.
    pub written_bytes: u64,
    /// Context switches.
    pub context_switches: u64,
    /// True if init ended the box because the memory watch was exceeded.
    pub memory_exceeded: bool,
    /// True if the watched writable space was full at the end.
    pub disk_full: bool,
    /// What the cgroups of the box counted.
    pub group: BoxUsage,
}

/// How one layer was applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The layer.
    pub layer: Layer,
    /// How far it holds.
    pub strength: Strength,
    /// By what means, or why not.
    pub detail: String,
}

/// Init to supervisor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FromInit {
    /// The box is built and init waits for orders.
    Ready {
        /// The protocol version of init.
        version: u16,
        /// What was applied.
        reports: Vec<Report>,
    },
    /// The box could not be built. Nothing was run.
    SetupFailed {
        /// The step that failed.
        step: String,
        /// The system's error number.
        errno: i32,
    },
    /// Sockets for the gate, before the box is ready. They travel with the first byte of this
    /// message, in this order.
    Lent {
        /// What they are.
        sockets: Vec<LentSocket>,
    },
    /// The program dials; the box carries the connection. Numbers count up from 0.
    Dialled {
        /// The number of the connection.
        connection: u32,
        /// What was dialled.
        address: SocketAddr,
    },
    /// Something on a connection that the box carries.
    Passage {
        /// Which connection.
        connection: u32,
        /// What.
        passage: Passage,
    },
    /// A question of DNS.
    Question {
        /// Its number.
        number: u32,
        /// The question.
        query: Vec<u8>,
    },
    /// A layer that must hold does not. Nothing was run.
    Lacking {
        /// What holds instead.
        report: Report,
    },
    /// The program was started.
    Started,
    /// The program could not be started.
    ExecFailed {
        /// The system's error number.
        errno: i32,
    },
    /// The program wrote something.
    Output {
        /// Where to.
        stream: Stream,
        /// What.
        data: Vec<u8>,
    },
    /// More standard input may be sent.
    StdinCredit(u32),
    /// The program ended, all its descendants are gone, all its output was sent.
    Exited {
        /// How.
        ending: Ending,
        /// What it used.
        usage: ProcessUsage,
    },
    /// A file operation succeeded.
    Done,
    /// A file operation failed.
    Failed {
        /// The system's error number.
        errno: i32,
    },
    /// A piece of a file; `last` closes it.
    Data {
        /// The bytes.
        data: Vec<u8>,
        /// No more will follow.
        last: bool,
    },
}

pub(super) fn write_report(w: &mut Writer, report: &Report) {
    w.u8(report.layer as u8);
    w.u8(report.strength.number());
    w.text(&report.detail);
}

pub(super) fn read_report(r: &mut Reader<'_>) -> Result<Report, DecodeError> {
    Ok(Report {
        layer: Layer::from_number(r.u8()?).ok_or(DecodeError::Unknown("layer"))?,
        strength: Strength::from_number(r.u8()?).ok_or(DecodeError::Unknown("strength"))?,
        detail: r.text()?,
    })
}

impl ToInit {
    /// The message as bytes, without a frame.
    pub fn encode(&self) -> Vec<u8> {
        match self {
            ToInit::Exec(exec) => {
                let mut w = Writer::with_tag(1);
                w.list(&exec.argv, |w, arg| w.text(arg));
                w.list(&exec.env, |w, var| w.text(var));
                w.text(&exec.cwd);
                w.bool(exec.stdin);
                w.u64(exec.memory_watch);
                w.list(&exec.disk_watch, |w, place| w.text(place));
                w.0
            }
            ToInit::Stdin(data) => {
                let mut w = Writer::with_tag(2);
                w.bytes(data);
                w.0
            }
            ToInit::StdinEnd => Writer::with_tag(3).0,
            ToInit::Signal(signal) => Vec::from([4, *signal]),
            ToInit::KillAll => Writer::with_tag(5).0,
            ToInit::Put { path, mode, append, data } => {
                let mut w = Writer::with_tag(6);
                w.text(path);
                w.u32(*mode);
                w.bool(*append);
                w.bytes(data);
                w.0
            }
            ToInit::Get { path, most } => {
                let mut w = Writer::with_tag(7);
                w.text(path);
                w.u64(*most);
                w.0
            }
            ToInit::Passage { connection, passage } => {
                let mut w = Writer::with_tag(9);
                w.u32(*connection);
                passage.write(&mut w);
                w.0
            }
            ToInit::Answer { number, message } => {
                let mut w = Writer::with_tag(10);
                w.u32(*number);
                w.bytes(message);
                w.0
            }
            ToInit::Shutdown => Writer::with_tag(8).0,
        }
    }

    /// Reads a message; every byte must belong to it.
    pub fn decode(message: &[u8]) -> Result<ToInit, DecodeError> {
        let mut r = Reader::new(message)?;
        let decoded = match r.u8()? {
            1 => ToInit::Exec(Exec {
                argv: r.list(Reader::text)?,
                env: r.list(Reader::text)?,
                cwd: r.text()?,
                stdin: r.bool()?,
                memory_watch: r.u64()?,
                disk_watch: r.list(Reader::text)?,
            }),
            2 => ToInit::Stdin(r.bytes(MAX_DATA)?),
            3 => ToInit::StdinEnd,
            4 => ToInit::Signal(r.u8()?),
            5 => ToInit::KillAll,
            6 => ToInit::Put {
                path: r.text()?,
                mode: r.u32()?,
                append: r.bool()?,
                data: r.bytes(MAX_DATA)?,
            },
            7 => ToInit::Get { path: r.text()?, most: r.u64()? },
            9 => ToInit::Passage { connection: r.u32()?, passage: Passage::read(&mut r)? },
            10 => ToInit::Answer { number: r.u32()?, message: r.bytes(MAX_DNS)? },
            8 => ToInit::Shutdown,
            _ => return Err(DecodeError::Unknown("message to init")),
        };
        r.finish(decoded)
    }
}

impl FromInit {
    /// The message as bytes, without a frame.
    pub fn encode(&self) -> Vec<u8> {
        match self {
            FromInit::Ready { version, reports } => {
                let mut w = Writer::with_tag(1);
                w.u16(*version);
                w.list(reports, write_report);
                w.0
            }
            FromInit::SetupFailed { step, errno } => {
                let mut w = Writer::with_tag(2);
                w.text(step);
                w.u32(*errno as u32);
                w.0
            }
            FromInit::Lacking { report } => {
                let mut w = Writer::with_tag(11);
                write_report(&mut w, report);
                w.0
            }
            FromInit::Lent { sockets } => {
                let mut w = Writer::with_tag(12);
                write_sockets(&mut w, sockets);
                w.0
            }
            FromInit::Dialled { connection, address } => {
                let mut w = Writer::with_tag(13);
                w.u32(*connection);
                write_address(&mut w, *address);
                w.0
            }
            FromInit::Passage { connection, passage } => {
                let mut w = Writer::with_tag(14);
                w.u32(*connection);
                passage.write(&mut w);
                w.0
            }
            FromInit::Question { number, query } => {
                let mut w = Writer::with_tag(15);
                w.u32(*number);
                w.bytes(query);
                w.0
            }
            FromInit::Started => Writer::with_tag(3).0,
            FromInit::ExecFailed { errno } => {
                let mut w = Writer::with_tag(4);
                w.u32(*errno as u32);
                w.0
            }
            FromInit::Output { stream, data } => {
                let mut w = Writer::with_tag(5);
                w.u8(match stream {
                    Stream::Stdout => 1,
                    Stream::Stderr => 2,
                });
                w.bytes(data);
                w.0
            }
            FromInit::StdinCredit(bytes) => {
                let mut w = Writer::with_tag(6);
                w.u32(*bytes);
                w.0
            }
            FromInit::Exited { ending, usage } => {
                let mut w = Writer::with_tag(7);
                let (kind, value) = match ending {
                    Ending::Code(code) => (0, *code),
                    Ending::Signal(signal) => (1, *signal),
                };
                w.u8(kind);
                w.u8(value);
                write_usage(&mut w, usage);
                w.0
            }
            FromInit::Done => Writer::with_tag(8).0,
            FromInit::Failed { errno } => {
                let mut w = Writer::with_tag(9);
                w.u32(*errno as u32);
                w.0
            }
            FromInit::Data { data, last } => {
                let mut w = Writer::with_tag(10);
                w.bool(*last);
                w.bytes(data);
                w.0
            }
        }
    }

    /// Reads a message; every byte must belong to it.
    pub fn decode(message: &[u8]) -> Result<FromInit, DecodeError> {
        let mut r = Reader::new(message)?;
        let decoded = match r.u8()? {
            1 => FromInit::Ready { version: r.u16()?, reports: r.list(read_report)? },
            2 => FromInit::SetupFailed { step: r.text()?, errno: r.u32()? as i32 },
            11 => FromInit::Lacking { report: read_report(&mut r)? },
            12 => FromInit::Lent { sockets: read_sockets(&mut r)? },
            13 => FromInit::Dialled { connection: r.u32()?, address: read_address(&mut r)? },
            14 => FromInit::Passage { connection: r.u32()?, passage: Passage::read(&mut r)? },
            15 => FromInit::Question { number: r.u32()?, query: r.bytes(MAX_DNS)? },
            3 => FromInit::Started,
            4 => FromInit::ExecFailed { errno: r.u32()? as i32 },
            5 => FromInit::Output {
                stream: match r.u8()? {
                    1 => Stream::Stdout,
                    2 => Stream::Stderr,
                    _ => return Err(DecodeError::Unknown("stream")),
                },
                data: r.bytes(MAX_DATA)?,
            },
            6 => FromInit::StdinCredit(r.u32()?),
            7 => FromInit::Exited { ending: read_ending(&mut r)?, usage: read_usage(&mut r)? },
            8 => FromInit::Done,
            9 => FromInit::Failed { errno: r.u32()? as i32 },
            10 => FromInit::Data { last: r.bool()?, data: r.bytes(MAX_DATA)? },
            _ => return Err(DecodeError::Unknown("message from init")),
        };
        r.finish(decoded)
    }
}

fn read_ending(r: &mut Reader<'_>) -> Result<Ending, DecodeError> {
    match (r.u8()?, r.u8()?) {
        (0, code) => Ok(Ending::Code(code)),
        (1, signal) => Ok(Ending::Signal(signal)),
        _ => Err(DecodeError::Unknown("ending")),
    }
}

fn write_usage(w: &mut Writer, usage: &ProcessUsage) {
    w.u64(usage.wall_nanos);
    w.u64(usage.user_micros);
    w.u64(usage.system_micros);
    w.u64(usage.memory_peak);
    w.u64(usage.read_bytes);
    w.u64(usage.written_bytes);
    w.u64(usage.context_switches);
    w.bool(usage.memory_exceeded);
    w.bool(usage.disk_full);
    usage.group.write(w);
}

fn read_usage(r: &mut Reader<'_>) -> Result<ProcessUsage, DecodeError> {
    Ok(ProcessUsage {
        wall_nanos: r.u64()?,
        user_micros: r.u64()?,
        system_micros: r.u64()?,
        memory_peak: r.u64()?,
        read_bytes: r.u64()?,
        written_bytes: r.u64()?,
        context_switches: r.u64()?,
        memory_exceeded: r.bool()?,
        disk_full: r.bool()?,
        group: BoxUsage::read(r)?,
    })
}
