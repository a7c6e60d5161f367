//! From a command to a running program. The child shares our memory until it executes, so
//! everything it needs is prepared before, and it allocates nothing.

use alloc::{ffi::CString, format, string::String, vec, vec::Vec};
use core::ffi::c_void;

use fumehood_core::protocol::Exec;
use rustix::{
    fd::{AsFd, OwnedFd},
    io::Errno,
    process::{Pid, Signal, WaitOptions},
};

use super::Population;
use crate::sys::{self, StringList};

pub(super) struct Birth {
    candidates: Vec<CString>,
    arguments: StringList,
    environment: StringList,
    directory: CString,
    streams: [OwnedFd; 3],
    population: Population,
    /// Written by the child where it fails.
    failure: Option<Errno>,
}

impl Birth {
    pub(super) fn new(
        exec: &Exec,
        population: Population,
        streams: [OwnedFd; 3],
    ) -> Result<Birth, Errno> {
        let text = |text: &String| CString::new(text.as_bytes()).map_err(|_| Errno::INVAL);
        let program = exec.argv.first().ok_or(Errno::NOENT)?;
        let candidates = if program.contains('/') {
            vec![text(program)?]
        } else {
            let path = exec.env.iter().find_map(|variable| variable.strip_prefix("PATH="));
            crate::collect_results(
                path.unwrap_or("/usr/bin:/bin")
                    .split(':')
                    .filter(|directory| !directory.is_empty())
                    .map(|directory| text(&format!("{directory}/{program}"))),
            )?
        };
        Ok(Birth {
            candidates,
            arguments: StringList::new(crate::collect_results(exec.argv.iter().map(text))?),
            environment: StringList::new(crate::collect_results(exec.env.iter().map(text))?),
            directory: text(&exec.cwd)?,
            streams,
            population,
            failure: None,
        })
    }

    /// Starts the program. The error is the one that kept it from starting.
    pub(super) fn give(mut self) -> Result<Pid, Errno> {
        let own = (&raw mut self).cast::<c_void>();
        // SAFETY: `child` makes system calls, writes `failure`, and does nothing else to memory.
        let pid = unsafe { sys::start_sharing(child, own) }?;
        // SAFETY: a plain read would be enough if the compiler knew that the child writes here.
        match unsafe { (&raw const self.failure).read_volatile() } {
            None => Ok(pid),
            Some(errno) => {
                let _ = rustix::process::waitpid(Some(pid), WaitOptions::empty());
                Err(errno)
            }
        }
    }

    fn prepare(&self) -> Result<(), Errno> {
        // A session of its own: no controlling terminal, and signals reach the whole group.
        rustix::process::setsid()?;
        if self.population == Population::Descendants {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        }
        let [stdin, stdout, stderr] = &self.streams;
        rustix::stdio::dup2_stdin(stdin.as_fd())?;
        rustix::stdio::dup2_stdout(stdout.as_fd())?;
        rustix::stdio::dup2_stderr(stderr.as_fd())?;
        sys::close_all()?;
        rustix::process::chdir(self.directory.as_c_str())?;
        sys::block_signals(0)
    }

    /// Becomes the program. Returns only if that fails.
    fn execute(&self) -> Errno {
        if let Err(errno) = self.prepare() {
            return errno;
        }
        let mut reason = Errno::NOENT;
        for candidate in &self.candidates {
            match sys::exec(candidate, &self.arguments, &self.environment) {
                Errno::NOENT | Errno::NOTDIR => {}
                // Somewhere else in the path there may be one that can be executed.
                Errno::ACCESS => reason = Errno::ACCESS,
                other => return other,
            }
        }
        reason
    }
}

/// The child, on its own stack and in its parent's memory.
extern "C" fn child(birth: *mut c_void) -> ! {
    let birth = birth.cast::<Birth>();
    // SAFETY: the parent is suspended and its `Birth` alive until this process executes or exits.
    let errno = unsafe { &*birth }.execute();
    // SAFETY: the same; the parent reads it after this process has exited.
    unsafe { (&raw mut (*birth).failure).write_volatile(Some(errno)) };
    sys::exit(127)
}
