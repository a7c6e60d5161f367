//! The program: its start, its streams, its end.

use alloc::{collections::VecDeque, string::String, vec, vec::Vec};

use fumehood_core::protocol::{
    Ending, Exec, FromInit, MAX_DATA, ProcessUsage, STDIN_WINDOW, Stream,
};
use rustix::{
    fd::OwnedFd,
    io::Errno,
    pipe::{PipeFlags, pipe_with},
    process::{Pid, Signal, WaitOptions, kill_process, kill_process_group, wait},
};

use super::{Broken, Population, birth::Birth, outgoing::Outgoing, watch};
use crate::{meters::Meters, sys};

/// How often memory is looked at where no cgroup holds the limit.
const WATCH_NANOS: u64 = 10_000_000;

pub(super) struct Program {
    pid: Pid,
    pub(super) stdout: Option<OwnedFd>,
    pub(super) stderr: Option<OwnedFd>,
    stdin: Option<OwnedFd>,
    stdin_queue: VecDeque<u8>,
    stdin_ends: bool,
    started: u64,
    ended: Option<(Ending, u64)>,
    memory_watch: u64,
    memory_peak: u64,
    memory_exceeded: bool,
    next_look: u64,
    disk_watch: Vec<String>,
}

impl Program {
    pub(super) fn start(exec: &Exec, population: Population) -> Result<Program, Errno> {
        let (stdin_read, stdin_write) = pipe_with(PipeFlags::CLOEXEC)?;
        let (stdout_read, stdout_write) = pipe_with(PipeFlags::CLOEXEC)?;
        let (stderr_read, stderr_write) = pipe_with(PipeFlags::CLOEXEC)?;
        let started = sys::now_nanos();
        let pid = Birth::new(exec, population, [stdin_read, stdout_write, stderr_write])?.give()?;
        for output in [&stdout_read, &stderr_read, &stdin_write] {
            rustix::io::ioctl_fionbio(output, true)?;
        }
        Ok(Program {
            pid,
            stdout: Some(stdout_read),
            stderr: Some(stderr_read),
            stdin: exec.stdin.then_some(stdin_write),
            stdin_queue: VecDeque::new(),
            stdin_ends: false,
            started,
            ended: None,
            memory_watch: exec.memory_watch,
            memory_peak: 0,
            memory_exceeded: false,
            next_look: started,
            disk_watch: exec.disk_watch.clone(),
        })
    }

    pub(super) fn grant_first_window(&self, outgoing: &mut Outgoing) {
        if self.stdin.is_some() {
            outgoing.push(&FromInit::StdinCredit(STDIN_WINDOW));
        }
    }

    pub(super) fn read_output(&mut self, stream: Stream, outgoing: &mut Outgoing) {
        let source = match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        };
        let Some(pipe) = source else { return };
        let mut data = vec![0u8; MAX_DATA];
        match rustix::io::read(pipe, &mut data) {
            Ok(0) => *source = None,
            Ok(count) => {
                data.truncate(count);
                outgoing.push(&FromInit::Output { stream, data });
            }
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(_) => *source = None,
        }
    }

    /// The pipe to the program, if something waits to be written or closed.
    pub(super) fn waiting_stdin(&self) -> Option<&OwnedFd> {
        self.stdin.as_ref().filter(|_| !self.stdin_queue.is_empty())
    }

    pub(super) fn queue_stdin(&mut self, data: &[u8]) -> Result<(), Broken> {
        if self.stdin.is_none() {
            return Ok(());
        }
        if self.stdin_queue.len() + data.len() > STDIN_WINDOW as usize {
            return Err(Broken);
        }
        self.stdin_queue.extend(data);
        Ok(())
    }

    pub(super) fn end_stdin(&mut self) {
        self.stdin_ends = true;
        if self.stdin_queue.is_empty() {
            self.stdin = None;
        }
    }

    /// Writes queued input as far as the program reads it, and asks for as much again.
    pub(super) fn feed(&mut self, outgoing: &mut Outgoing) {
        let Some(pipe) = &self.stdin else { return };
        let (waiting, _) = self.stdin_queue.as_slices();
        match rustix::io::write(pipe, waiting) {
            Ok(count) => {
                self.stdin_queue.drain(..count);
                outgoing.push(&FromInit::StdinCredit(count as u32));
                if self.stdin_ends && self.stdin_queue.is_empty() {
                    self.stdin = None;
                }
            }
            Err(Errno::AGAIN | Errno::INTR) => {}
            // The program does not want any more.
            Err(_) => {
                self.stdin = None;
                self.stdin_queue.clear();
            }
        }
    }

    pub(super) fn signal(&self, signal: u8) {
        if self.ended.is_none()
            && let Some(signal) = Signal::from_named_raw(i32::from(signal))
        {
            let _ = kill_process_group(self.pid, signal);
            // A stopped program would never see it.
            let _ = kill_process_group(self.pid, Signal::CONT);
        }
    }

    pub(super) fn kill(&self, population: Population) {
        match population {
            Population::Namespace => {
                let _ = sys::kill_everything();
            }
            Population::Descendants => {
                let _ = kill_process_group(self.pid, Signal::KILL);
                for child in watch::children() {
                    let _ = kill_process(child, Signal::KILL);
                }
            }
        }
    }

    /// Takes note of ended children. When the program itself has ended, so does everything else.
    pub(super) fn reap(&mut self, population: Population) {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            self.note(pid, status);
        }
        if self.ended.is_some() {
            self.end_all(population);
        }
    }

    fn note(&mut self, pid: Pid, status: rustix::process::WaitStatus) {
        if pid == self.pid && self.ended.is_none() {
            let ending = match (status.exit_status(), status.terminating_signal()) {
                (Some(code), _) => Ending::Code(code as u8),
                (None, signal) => Ending::Signal(signal.unwrap_or(9) as u8),
            };
            self.ended = Some((ending, sys::now_nanos()));
        }
    }

    /// Kills whatever is left and waits until nothing is.
    pub(super) fn end_all(&mut self, population: Population) {
        loop {
            self.kill(population);
            // What a killed process leaves behind is left to us: go on until there is nothing.
            match wait(WaitOptions::empty()) {
                Ok(Some((pid, status))) => self.note(pid, status),
                Ok(None) | Err(Errno::INTR) => {}
                Err(_) => return,
            }
        }
    }

    /// How long the loop may sleep, in nanoseconds; `None` for as long as it likes.
    pub(super) fn pause(&self) -> Option<i64> {
        (self.memory_watch > 0 && self.ended.is_none()).then_some(WATCH_NANOS as i64)
    }

    pub(super) fn watch(&mut self, population: Population) {
        if self.memory_watch == 0 || self.ended.is_some() {
            return;
        }
        let now = sys::now_nanos();
        if now < self.next_look {
            return;
        }
        self.next_look = now + WATCH_NANOS;
        let used = watch::memory_in_use(&self.disk_watch);
        self.memory_peak = self.memory_peak.max(used);
        if used > self.memory_watch {
            self.memory_exceeded = true;
            self.kill(population);
        }
    }

    /// The last message about the program, once it has ended and all its output is on its way.
    pub(super) fn ending(&self, meters: &Meters) -> Option<FromInit> {
        let (ending, at) = self.ended?;
        if self.stdout.is_some() || self.stderr.is_some() {
            return None;
        }
        let children = sys::usage_of_children();
        Some(FromInit::Exited {
            ending,
            usage: ProcessUsage {
                wall_nanos: at.saturating_sub(self.started),
                user_micros: children.user_micros,
                system_micros: children.system_micros,
                memory_peak: self.memory_peak.max(children.largest_resident),
                read_bytes: children.blocks_in * 512,
                written_bytes: children.blocks_out * 512,
                context_switches: children.context_switches,
                memory_exceeded: self.memory_exceeded,
                disk_full: watch::is_full(&self.disk_watch),
                group: meters.read(),
            },
        })
    }
}
