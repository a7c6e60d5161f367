//! What the init of a box says, and what follows from it.

use std::time::{Duration, Instant};

use fumehood_core::protocol::{Ending, FromInit, LentSocket, Stream, ToInit, VERSION};

use super::{Cut, Driver, Lending, MOST_FETCHED, Stage, text};
use crate::{Captured, Event, StreamName};

impl Driver<'_> {
    /// Takes one message. False if it makes no sense here.
    pub(super) fn hear(&mut self, message: FromInit) -> bool {
        match message {
            FromInit::Ready { version, reports } => {
                for report in reports {
                    self.seen.enforced.record(report.layer, report.strength, report.detail);
                }
                // A box that is to be lent connections has handed out its sockets by now.
                version == VERSION && self.lending.as_ref().is_none_or(Lending::serves)
            }
            FromInit::Lent { sockets } => self.serve(&sockets),
            FromInit::Dialled { connection, address } => match &mut self.lending {
                Some(lending) => lending.dialled(connection, address),
                None => false,
            },
            FromInit::Passage { connection, passage } => match &mut self.lending {
                Some(lending) => lending.pass(connection, passage),
                None => false,
            },
            FromInit::Question { number, query } => match &self.lending {
                Some(lending) => {
                    if let Some(message) = lending.answer(&query) {
                        self.say(&ToInit::Answer { number, message });
                    }
                    true
                }
                None => false,
            },
            FromInit::SetupFailed { step, errno } => {
                self.seen.setup_failure = Some((step, errno));
                self.stage = Stage::Over;
                true
            }
            FromInit::Lacking { report } => {
                self.seen.lacking = Some(report);
                self.stage = Stage::Over;
                true
            }
            FromInit::Done => {
                self.puts_pending = match self.puts_pending.checked_sub(1) {
                    Some(left) => left,
                    None => return false,
                };
                true
            }
            FromInit::Failed { errno } => self.file_failed(errno),
            FromInit::Started => {
                self.stage = Stage::Running;
                self.seen.start_time = self.begun.elapsed();
                self.deadline = Some(Instant::now() + self.plan.limits.timeout.duration());
                true
            }
            FromInit::ExecFailed { errno } => {
                self.seen.exec_error = Some(errno);
                self.finish();
                true
            }
            FromInit::Output { stream, data } => {
                self.collect(stream, data);
                true
            }
            FromInit::StdinCredit(bytes) => {
                self.credit = self.credit.saturating_add(bytes as usize);
                true
            }
            FromInit::Exited { ending, usage } => {
                self.seen.ending = Some(ending);
                self.seen.usage = usage;
                self.seen.wall_time = Duration::from_nanos(usage.wall_nanos);
                self.credit = 0;
                if ending == Ending::Code(0) && self.seen.cut.is_none() {
                    self.fetch_next();
                } else {
                    self.finish();
                }
                true
            }
            FromInit::Data { data, last } => self.fetched(data, last),
        }
    }

    /// Gives the sockets of the box to its gate.
    fn serve(&mut self, sockets: &[LentSocket]) -> bool {
        let Some(lending) = &mut self.lending else { return false };
        match lending.serve(sockets).map_err(|error| error.raw_os_error()) {
            Ok(()) => true,
            // Not what was announced.
            Err(None) => false,
            Err(Some(errno)) => {
                self.seen.setup_failure = Some(("serving the sockets of the box".into(), errno));
                self.stage = Stage::Over;
                true
            }
        }
    }

    fn file_failed(&mut self, errno: i32) -> bool {
        let path = match self.stage {
            Stage::Fetching => self.wanted.get(self.seen.fetched.len()).cloned(),
            _ => self.plan.files.first().map(|file| file.path.clone()),
        };
        self.seen.file_error = path.map(|path| (path, errno));
        self.finish();
        true
    }

    fn fetch_next(&mut self) {
        match self.wanted.get(self.seen.fetched.len()) {
            Some(path) => {
                self.stage = Stage::Fetching;
                self.deadline = Some(Instant::now() + self.plan.limits.timeout.duration());
                let path = text(path);
                self.say(&ToInit::Get { path, most: MOST_FETCHED });
            }
            None => self.finish(),
        }
    }

    fn fetched(&mut self, data: Vec<u8>, last: bool) -> bool {
        if self.stage != Stage::Fetching || (self.fetching.len() + data.len()) as u64 > MOST_FETCHED
        {
            return false;
        }
        self.fetching.extend(data);
        if last {
            self.seen.fetched.push(std::mem::take(&mut self.fetching));
            self.fetch_next();
        }
        true
    }

    pub(super) fn finish(&mut self) {
        self.say(&ToInit::Shutdown);
        self.stage = Stage::Over;
    }

    /// Keeps output up to the limit; beyond it the box is ended.
    fn collect(&mut self, stream: Stream, mut data: Vec<u8>) {
        let kept = (self.seen.stdout.len() + self.seen.stderr.len()) as u64;
        let room = self.plan.limits.output.get().saturating_sub(kept);
        let (buffer, count, name) = match stream {
            Stream::Stdout => {
                (&mut self.seen.stdout, &mut self.seen.stdout_bytes, StreamName::Stdout)
            }
            Stream::Stderr => {
                (&mut self.seen.stderr, &mut self.seen.stderr_bytes, StreamName::Stderr)
            }
        };
        *count += data.len() as u64;
        let over = data.len() as u64 > room;
        if over {
            data.truncate(room as usize);
            self.seen.truncated = true;
        }
        buffer.extend_from_slice(&data);
        if self.io.events.is_some() && !data.is_empty() {
            let phase = self.phase;
            self.waiting.push_back(Event::Output { phase, stream: name, data: Captured(data) });
        }
        if over {
            self.cut(Cut::OutputLimit);
        }
    }
}
