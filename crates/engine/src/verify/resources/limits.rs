//! Bombs and floods, and a harmless run beside them.

use std::time::{Duration, Instant};

use super::super::{
    host::said,
    judge::Seen,
    row::Pending,
    stage::{Stage, Trouble, limited},
};
use crate::{Request, Status};

/// What another caller may have to wait while a bomb goes off beside it, on a small machine.
const BEARABLE: Duration = Duration::from_secs(4);

/// A bomb, and beside it a harmless run that must not wait long.
pub(super) fn fork_bomb<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(async move {
        let bomb = limited(stage.attack(["R1", "96", "1"]), &[("pids", "24")])?;
        let beside = async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            let begun = Instant::now();
            stage.run(Request::command(["/bin/true"])).await.map(|_| begun.elapsed())
        };
        let (outcome, beside) = tokio::join!(stage.run(bomb), beside);
        // An engine needs longer than that for any container.
        let bearable = if stage.is_engine() { BEARABLE * 5 } else { BEARABLE };
        let host = if beside? < bearable { "responsive" } else { "slow" };
        Ok(Seen::of(&outcome?).and("host", host))
    })
}

pub(super) fn memory_bomb<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(async move {
        let outcome =
            stage.run(limited(stage.attack(["R2", "256"]), &[("memory", "64m")])?).await?;
        let seen = Seen::of(&outcome);
        Ok(if outcome.status == Status::Oom { seen.and("memory", "oom") } else { seen })
    })
}

pub(super) fn fill<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(async move {
        let limits = [("disk", "8m"), ("memory", "96m")];
        let outcome = stage.run(limited(stage.attack(["R3", "16", "192"]), &limits)?).await?;
        let seen = Seen::of(&outcome);
        Ok(if outcome.status == Status::Oom { seen.and("memfd", "oom") } else { seen })
    })
}

pub(super) fn inodes(stage: &Stage<'_>) -> Result<Request, Trouble> {
    // A box with 4 MiB has a thousand.
    limited(stage.attack(["R4", "3000"]), &[("disk", "4m")])
}

pub(super) fn huge_file(stage: &Stage<'_>) -> Result<Request, Trouble> {
    limited(stage.attack(["R5", "64"]), &[("file_size", "4m")])
}

pub(super) fn descriptors(stage: &Stage<'_>) -> Result<Request, Trouble> {
    limited(stage.attack(["R10", "100"]), &[("open_files", "64")])
}

async fn output(stage: &Stage<'_>, limit: &str) -> Result<Seen, Trouble> {
    let outcome = stage.run(limited(stage.attack(["R6", "4"]), &[("output", limit)])?).await?;
    let most: crate::Bytes = limit.parse().map_err(|_| Trouble::Missing("no such limit"))?;
    let cut = outcome.truncated
        && outcome.status == Status::OutputLimit
        && outcome.stdout.0.len() as u64 <= most.get();
    Ok(Seen::only("output", if cut { "cut" } else { "whole" }))
}

pub(super) fn endless_output<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(output(stage, "64k"))
}

pub(super) fn ample_output<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(output(stage, "8m"))
}

pub(super) fn spin<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(async move {
        let limits = [("cpus", "0.1")];
        let held = stage.run(limited(stage.attack(["R7", "8", "1"]), &limits)?).await?;
        let seen = Seen::of(&held);
        let percent = seen.answers.iter().find(|answer| answer.label == "percent");
        let percent: f64 = percent.and_then(|found| found.answer.parse().ok()).unwrap_or(f64::MAX);
        // More than twice the quota, since the first period begins with a full purse; and far less
        // than what eight of them get on a busy machine.
        let share = if percent < 25.0 { "held" } else { "exceeded" };
        let limits = [("timeout", "500ms"), ("grace", "100ms")];
        let cut = stage.run(limited(stage.attack(["R7", "4", "30"]), &limits)?).await?;
        let ended = if cut.status == Status::Timeout { "dead" } else { "alive" };
        Ok(seen.and("share", share).and("ended", ended))
    })
}

/// Eight mebibytes in that nobody reads, four out that nobody takes for a while.
pub(super) fn unread<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(async move {
        let request = limited(stage.attack(["R13", "4"]), &[("output", "16m")])?;
        let run = stage.start(request.stdin(vec![b'x'; 8 << 20]))?;
        tokio::time::sleep(Duration::from_millis(300)).await;
        let ended = tokio::time::timeout(Duration::from_secs(15), run.outcome()).await;
        let outcome = match ended {
            Ok(outcome) => outcome?,
            Err(_) => return Ok(Seen::only("run", "stuck")),
        };
        let whole = outcome.status == Status::Exited && said(&outcome, "unread written");
        Ok(Seen::only("run", if whole { "ended" } else { "cut" }))
    })
}
