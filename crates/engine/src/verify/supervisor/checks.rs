//! Attacks on the supervisor and its record, made from outside.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use fumehood_core::protocol::{Ending, FromInit, frame};

use super::super::{
    host::life,
    judge::Seen,
    row::Pending,
    stage::{Preparing as _, Stage, Trouble, under, until},
};
use crate::{
    Error, Layer, Overlays, VolumeName, Volumes, escape_controls,
    ledger::{LedgerReader, VerifyOptions},
    run,
};

/// What the attack printed, passed through this and looked at.
async fn shown(stage: &Stage<'_>, show: impl Fn(&str) -> String) -> Result<Seen, Trouble> {
    let outcome = stage.run(stage.attack(["S1"])).await?;
    let text = outcome.stdout.text();
    let mut seen = Seen::default();
    for line in text.split('\n').filter(|line| !line.is_empty()) {
        let shown = show(line);
        let hides = |c: char| matches!(c, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        let harmful = shown.chars().any(|c| c.is_control() || hides(c));
        seen = seen.and("line", if harmful { "obeyed" } else { "harmless" });
    }
    Ok(seen)
}

pub(super) fn sequences<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(shown(stage, |line| escape_controls(line).into_owned()))
}

pub(super) fn raw_sequences<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(shown(stage, str::to_owned))
}

/// How many records there are, and whether their chain is whole.
fn ledger_of(directory: &Path) -> Result<(u64, bool), Trouble> {
    let verified = LedgerReader::new(directory).verify(VerifyOptions::default());
    let verified = verified.map_err(|error| Trouble::Stage {
        what: "the ledger",
        reason: std::io::Error::other(error),
    })?;
    let lines = fs::read(directory.join("ledger.jsonl")).unwrap_or_default();
    let count = lines.iter().filter(|byte| **byte == b'\n').count() as u64;
    Ok((count, verified.is_ok()))
}

pub(super) fn forged_records<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(async move {
        // The first record of a ledger comes with a line about the ledger itself.
        stage.run_recorded(stage.attack(["S4"])).await?;
        let (before, _) = ledger_of(stage.ledger)?;
        let words = ["S2", "a\n{\"seq\":1}\n", "\"}\n{\"forged\":true}", "\u{2028}\u{1b}[2K"];
        stage.run_recorded(stage.attack(words)).await?;
        let (after, whole) = ledger_of(stage.ledger)?;
        let chain = if whole { "intact" } else { "broken" };
        Ok(Seen::only("records", (after - before).to_string()).and("chain", chain))
    })
}

/// A process that is ended and waited for when this is dropped.
struct Doomed(Child);

impl Doomed {
    fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Doomed {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Signs of life for half a minute at most, by any shell.
fn beats(times: u32) -> String {
    format!(
        "n=0; while [ $n -lt {times} ]; do n=$((n+1)); echo $n > beat || exit; sleep 0.05; done"
    )
}

pub(super) fn killed_supervisor<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(async move {
        let tool = stage.tool.ok_or(Trouble::Missing("it takes the command line program"))?;
        let workspace = stage.directory("workspace")?;
        let mut command = Command::new(&tool.program);
        command
            .envs(tool.variables.iter().cloned())
            .args(["exec", "--no-ledger", "--backend", stage.backend.name(), "--workspace"])
            .arg(format!("{}:rw", workspace.display()))
            .args(stage.image.iter().flat_map(|image| ["--image", image]))
            .args(["--", "/bin/sh", "-c", &beats(600)])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut supervisor = command.spawn().map(Doomed).preparing("a supervisor")?;
        until("the first sign of life", Duration::from_secs(20), || {
            workspace.join("beat").exists()
        })
        .await?;
        supervisor.kill();
        let mut alive = life(&workspace).await;
        // An engine is told by the end of the stream, and takes its time.
        for _ in 0..if stage.is_engine() { 20 } else { 0 } {
            if alive == "dead" {
                break;
            }
            alive = life(&workspace).await;
        }
        Ok(Seen::only("box", alive))
    })
}

pub(super) fn killed_shell<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(async move {
        let directory = stage.directory("workspace")?;
        let mut command = Command::new("/bin/sh");
        // It ends by itself after two seconds.
        command
            .args(["-c", &format!("({}) & wait", beats(40))])
            .current_dir(&directory)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut shell = command.spawn().map(Doomed).preparing("a shell")?;
        until("the first sign of life", Duration::from_secs(5), || directory.join("beat").exists())
            .await?;
        shell.kill();
        Ok(Seen::only("box", life(&directory).await))
    })
}

async fn without_seccomp(stage: &Stage<'_>, policy: &str) -> Result<Seen, Trouble> {
    let mut request = under(stage.attack(["S4"]), policy).backend(stage.backend);
    request.unrecorded = true;
    if stage.is_engine() {
        request.image = stage.image.map(str::to_owned);
    }
    let without = |plan: &mut crate::Plan| plan.run.without.push(Layer::Seccomp);
    match stage.sandbox.run_with(request, without).await {
        Err(Error::NotEnforced { layer: Layer::Seccomp, .. }) => Ok(Seen::only("run", "refused")),
        Ok(_) => Ok(Seen::only("run", "ran")),
        Err(error) => Err(error.into()),
    }
}

pub(super) fn missing_layer<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(without_seccomp(stage, "require: [seccomp]"))
}

pub(super) fn allowed_layer<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(without_seccomp(stage, ""))
}

/// A ledger of a few runs, copied so that it can be tampered with.
async fn ledger(stage: &Stage<'_>) -> Result<PathBuf, Trouble> {
    for _ in 0..3 {
        stage.run_recorded(stage.attack(["S4"])).await?;
    }
    let copy = stage.directory("ledger")?;
    for entry in fs::read_dir(stage.ledger).preparing("the ledger")?.flatten() {
        fs::copy(entry.path(), copy.join(entry.file_name())).preparing("a copy of the ledger")?;
    }
    Ok(copy)
}

fn noticed(directory: &Path) -> Result<&'static str, Trouble> {
    ledger_of(directory).map(|(_, whole)| if whole { "unnoticed" } else { "noticed" })
}

pub(super) fn tampered_ledger<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(async move {
        let directory = ledger(stage).await?;
        let file = directory.join("ledger.jsonl");
        let whole = fs::read(&file).preparing("the ledger")?;
        let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
        let mut edited = whole.clone();
        if let Some(byte) = edited.get_mut(whole.len() / 2) {
            *byte ^= 1;
        }
        let mut reordered = lines.clone();
        let last = reordered.len() - 1;
        reordered.swap(last - 1, last);
        let cut = lines[..last].concat();
        let gap = [&lines[..1], &lines[2..]].concat().concat();
        let mut seen = Seen::default();
        for (label, content) in
            [("edited", edited), ("reordered", reordered.concat()), ("cut", cut), ("gap", gap)]
        {
            fs::write(&file, content).preparing("the ledger")?;
            seen = seen.and(label, noticed(&directory)?);
        }
        Ok(seen)
    })
}

pub(super) fn whole_ledger<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(async move { Ok(Seen::only("whole", noticed(&ledger(stage).await?)?)) })
}

/// What a guest says instead of the truth.
fn lies() -> Vec<(&'static str, Vec<u8>)> {
    let framed = |message: &[u8]| {
        let mut bytes = Vec::new();
        frame::append(&mut bytes, message);
        bytes
    };
    vec![
        ("huge_frame", vec![0xff; 64]),
        ("unknown_message", framed(&[0xee; 40])),
        ("empty_message", framed(&[])),
        (
            "half_a_message",
            framed(&FromInit::Ready { version: 1, reports: Vec::new() }.encode()[..1]),
        ),
        (
            "byte_too_many",
            framed(
                &[&FromInit::Ready { version: 1, reports: Vec::new() }.encode()[..], &[0]].concat(),
            ),
        ),
        ("other_version", framed(&FromInit::Ready { version: 9999, reports: Vec::new() }.encode())),
        ("silence", Vec::new()),
        (
            "noise",
            (0..200_000u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect(),
        ),
    ]
}

pub(super) fn hostile_guest<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(async move {
        let plan =
            stage.sandbox.plan(&stage.attack(["S4"]).backend(crate::BackendName::Local))?.run;
        let mut seen = Seen::default();
        for (label, words) in lies() {
            let ended =
                tokio::time::timeout(Duration::from_secs(10), run::with_guest(&plan, words)).await;
            seen = seen.and(
                label,
                match ended {
                    Ok(Ok(false)) => "closed",
                    Ok(Ok(true)) => "believed",
                    Ok(Err(_)) => "closed",
                    Err(_) => "stuck",
                },
            );
        }
        Ok(seen)
    })
}

pub(super) fn honest_guest<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(async move {
        let plan =
            stage.sandbox.plan(&stage.attack(["S4"]).backend(crate::BackendName::Local))?.run;
        let believed = run::with_guest(&plan, honest_words()).await?;
        Ok(Seen::only("guest", if believed { "believed" } else { "closed" }))
    })
}

fn honest_words() -> Vec<u8> {
    let mut bytes = Vec::new();
    let ready = FromInit::Ready { version: fumehood_core::protocol::VERSION, reports: Vec::new() };
    frame::append(&mut bytes, &ready.encode());
    let ended = FromInit::Exited {
        ending: Ending::Code(0),
        usage: fumehood_core::protocol::ProcessUsage::default(),
    };
    frame::append(&mut bytes, &ended.encode());
    bytes
}

/// Two states: ours, and that of somebody else, in which there is an overlay and a volume.
fn two_states(stage: &Stage<'_>) -> Result<(PathBuf, PathBuf), Trouble> {
    let (own, other) = (stage.directory("own")?, stage.directory("other")?);
    fs::create_dir_all(other.join("overlays/abcd1234")).preparing("an overlay")?;
    fs::create_dir_all(own.join("overlays")).preparing("a place for overlays")?;
    let name: VolumeName = "data".parse().map_err(|_| Trouble::Missing("the name of a volume"))?;
    // Made where it is not there yet.
    Volumes::in_state_dir(&other).hold(&[name]).map_err(Error::from)?;
    Ok((own, other))
}

fn things_of(state: &Path, names: &[&str]) -> Result<Seen, Trouble> {
    let overlays = Overlays::new(Some(state)).map_err(Error::from)?;
    let volumes = Volumes::in_state_dir(state);
    let mut seen = Seen::default();
    for name in names {
        let known = overlays.is_known(name) || overlays.find(Some(name)).is_ok();
        let volume = name
            .parse::<VolumeName>()
            .ok()
            .and_then(|name| volumes.list().ok()?.into_iter().find(|volume| volume.name == name));
        let found = known || volume.is_some();
        seen = seen.and("name", if found { "found" } else { "not_found" });
    }
    Ok(seen)
}

pub(super) fn others_things<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(async move {
        let (own, other) = two_states(stage)?;
        let absolute = other.join("overlays/abcd1234").display().to_string();
        let names = [
            "abcd1234",
            "data",
            "../../other/overlays/abcd1234",
            "../other/volumes/data",
            &absolute,
            "..",
        ];
        things_of(&own, &names)
    })
}

pub(super) fn own_things<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(async move {
        let (_, other) = two_states(stage)?;
        things_of(&other, &["data"])
    })
}
