//! No isolation at all: the program runs as the caller, beside everything else. For machines
//! where nothing better works, and only when asked for.

use std::{
    fs,
    os::{fd::AsRawFd as _, unix::net::UnixStream as StdUnixStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use tokio::net::UnixStream;

use super::{Backend, Closing, Deferred, Keeper, OpenBox, embedded};
use crate::{BoxPlan, Enforced, Error, MountSource};

/// The local backend.
pub(crate) struct Local;

impl Backend for Local {
    fn open<'a>(
        &'a self,
        plan: &'a BoxPlan,
        _storage: Option<&'a Path>,
    ) -> Deferred<'a, Result<OpenBox, Error>> {
        Box::pin(async move {
            let failed = |step: &str, error: std::io::Error| Error::Setup {
                step: step.into(),
                reason: error.to_string(),
            };
            let init = embedded::sealed_init()?;
            let mut keeper = LocalKeeper { child: None, directories: Vec::new() };
            for mount in &plan.mounts {
                if mount.source == MountSource::Scratch {
                    fs::create_dir_all(&mount.target)
                        .map_err(|error| failed("making a directory", error))?;
                    keeper.directories.push(mount.target.clone());
                }
            }
            let (ours, theirs) =
                StdUnixStream::pair().map_err(|error| failed("control channel", error))?;
            ours.set_nonblocking(true).map_err(|error| failed("control channel", error))?;
            let child = Command::new(format!("/proc/self/fd/{}", init.as_raw_fd()))
                .arg("local")
                .env_clear()
                .stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)))
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .map_err(|error| failed("starting init", error))?;
            keeper.child = Some(child);
            Ok(OpenBox {
                channel: UnixStream::from_std(ours)
                    .map_err(|error| failed("control channel", error))?,
                keeper: Box::new(keeper),
                enforced: Enforced::nothing("the local backend isolates nothing"),
            })
        })
    }
}

struct LocalKeeper {
    child: Option<Child>,
    directories: Vec<PathBuf>,
}

impl Keeper for LocalKeeper {
    fn kill(&self) {
        if let Some(child) = &self.child
            && let Some(pid) = rustix::process::Pid::from_raw(child.id() as i32)
        {
            // Not reaped yet, so the number still names this process.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }

    fn let_go(mut self: Box<Self>, last: Option<UnixStream>) {
        drop(last);
        if let Some(mut child) = self.child.take() {
            // It exits at once; waiting leaves no dead process behind.
            let _ = child.wait();
        }
    }

    fn closed(&mut self) -> Deferred<'_, Closing> {
        Box::pin(async {
            if let Some(mut child) = self.child.take() {
                // Its channel has ended or it was told to shut down: it exits by itself.
                let _ = tokio::task::spawn_blocking(move || child.wait()).await;
            }
            Closing::default()
        })
    }
}

impl Drop for LocalKeeper {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
        for directory in &self.directories {
            let _ = fs::remove_dir_all(directory);
            if let Some(parent) = directory.parent() {
                // The last one takes the run's own directory with it; until then it is not empty.
                let _ = fs::remove_dir(parent);
            }
        }
    }
}
