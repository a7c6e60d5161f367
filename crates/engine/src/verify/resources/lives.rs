//! Processes that do not want to end, and what is left when they have.

use std::{
    fs,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use super::super::{
    host::{attack_program, life, said},
    judge::Seen,
    residue,
    row::Pending,
    stage::{Preparing as _, Stage, Trouble, limited, until},
};
use crate::{Mount, Request, Status};

/// A daemon in a box whose program has ended, and one in a box that was ended.
pub(super) fn daemon<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(async move {
        let mut seen = Seen::default();
        for (label, hold, timeout) in [("after_exit", "0", "20s"), ("after_timeout", "30", "1s")] {
            let life_of = stage.directory(label)?;
            let request = stage
                .attack(["R8", "/life", "30", hold])
                .mount(Mount::read_write(&life_of, "/life"));
            let outcome =
                stage.run(limited(request, &[("timeout", timeout), ("grace", "100ms")])?).await?;
            if !said(&outcome, "daemon started") {
                return Err(Trouble::Late("the start of the daemon"));
            }
            seen = seen.and(label, life(&life_of).await);
        }
        Ok(seen)
    })
}

/// A program without a box, ended and waited for when this is dropped.
struct Bare(Child);

impl Bare {
    fn start(stage: &Stage<'_>, words: &[&str]) -> Result<Bare, Trouble> {
        let mut command = Command::new(attack_program(stage)?);
        command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map(Bare).preparing("the attack program")
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(super) fn bare_daemon<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(async move {
        let life_of = stage.directory("life")?;
        let path = life_of.display().to_string();
        // It ends by itself after two seconds.
        let program = Bare::start(stage, &["R8", &path, "2", "0"])?;
        until("the daemon", Duration::from_secs(5), || life_of.join("beat").exists()).await?;
        drop(program);
        Ok(Seen::only("after_exit", life(&life_of).await))
    })
}

pub(super) fn deaf<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(async move {
        let limits = [("timeout", "500ms"), ("grace", "200ms")];
        let begun = Instant::now();
        let outcome = stage.run(limited(stage.attack(["R9", "30"]), &limits)?).await?;
        let in_time = begun.elapsed() < Duration::from_secs(if stage.is_engine() { 20 } else { 5 });
        let dead = outcome.status == Status::Timeout && in_time && !said(&outcome, "lived_on");
        Ok(Seen::only("deaf", if dead { "dead" } else { "alive" }))
    })
}

pub(super) fn bare_deaf<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(async move {
        let mut program = Bare::start(stage, &["R9", "3"])?;
        tokio::time::sleep(Duration::from_millis(300)).await;
        let pid = rustix::process::Pid::from_raw(program.0.id().cast_signed());
        if let Some(pid) = pid {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
        let alive = program.0.try_wait().preparing("the attack program")?.is_none();
        // Politely no longer: its stopped child goes when it ends by itself.
        until("its end", Duration::from_secs(10), || {
            program.0.try_wait().is_ok_and(|status| status.is_some())
        })
        .await?;
        Ok(Seen::only("deaf", if alive { "alive" } else { "dead" }))
    })
}

pub(super) fn many_runs<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(async move {
        let count = if stage.is_engine() { 3 } else { 50 };
        stage.run(Request::command(["/bin/true"])).await?;
        let before = residue::at_rest().await;
        for _ in 0..count {
            stage.run(Request::command(["/bin/true"])).await?;
        }
        let patience = Duration::from_secs(if stage.is_engine() { 40 } else { 10 });
        Ok(residue::left_since(&before, patience).await)
    })
}

/// A process and a descriptor that nobody takes away.
pub(super) fn left_behind<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(async move {
        let before = residue::at_rest().await;
        stage.keep(fs::File::open("/dev/null").preparing("a descriptor")?);
        let program = Bare::start(stage, &["R9", "3"])?;
        let seen = residue::left_since(&before, Duration::from_millis(500)).await;
        drop(program);
        Ok(seen)
    })
}
