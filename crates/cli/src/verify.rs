//! `fumehood verify`: makes every attack of the catalogue in real boxes and says what became of it.

use std::{
    env,
    io::{self, IsTerminal as _, Write as _},
};

use clap::Args;
use fumehood::{
    BackendName,
    config::BackendChoice,
    escape_controls,
    verify::{self, Finding, Found, TwinVerdict, Verdict, Verification},
};
use serde_json::json;

use crate::{drive, failure::Failure, opening::Opened, paint::Paint, render::Format};

/// Exit code if an attack got through, or could not be made although it should.
const NOT_PROVEN: u8 = 1;

/// Arguments of `fumehood verify`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct VerifyArgs {
    /// The backend that is attacked.
    #[arg(long, value_name = "NAME", default_value = "native")]
    backend: BackendChoice,
    /// The image of the boxes, for backends that have images.
    #[arg(long, value_name = "IMAGE")]
    image: Option<String>,
    /// Only these: families (K kernel, R resources, F files, N network, S supervisor) or single
    /// attacks, separated by commas.
    #[arg(long, value_name = "WHICH", value_delimiter = ',')]
    only: Vec<String>,
    /// Make each attack once more with the layer that stops it switched off, and see it get
    /// further.
    #[arg(long)]
    prove: bool,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  fumehood verify                            all attacks on the native backend
  fumehood verify --only K,N12               one family and one attack
  fumehood verify --backend docker --prove   with the layers switched off in turn
  fumehood verify --json                     for programs

Everything happens on this machine: servers that attacks try to reach are its own, and their names
are known to nobody else. Each attack and the layer that stops it is described in docs/SECURITY.md.

The exit code is 0 if nothing got through, else 1.";

/// Does it and gives the exit code.
pub fn main(arguments: &VerifyArgs) -> u8 {
    let format = if arguments.json { Format::Json } else { Format::Text };
    attack(arguments).unwrap_or_else(|failure| failure.report(format))
}

fn attack(arguments: &VerifyArgs) -> Result<u8, Failure> {
    let rows = verify::select(&arguments.only)?;
    let backend = match arguments.backend {
        BackendChoice::Auto => BackendName::Native,
        BackendChoice::Named(BackendName::Local) => return Err(Failure::NothingToVerify),
        BackendChoice::Named(backend) => backend,
    };
    let sandbox = Opened::to_verify()?.sandbox;
    let found = drive::runtime()?.block_on(async {
        let mut verification =
            Verification::new(sandbox.clone(), backend)?.image(arguments.image.clone());
        if let Ok(program) = env::current_exe() {
            verification = verification.tool(program, []);
        }
        let mut progress = Progress::new(rows.len());
        let found = verification.examine(&rows, arguments.prove, |_| progress.step()).await;
        progress.end();
        drop(verification);
        sandbox.tidied_up().await;
        sandbox.close().await;
        Ok::<_, Failure>(found)
    })?;
    let text = if arguments.json { as_json(&found)? } else { report(&found, Paint::for_stdout()) };
    io::stdout().write_all(text.as_bytes())?;
    Ok(if found.is_proof() { 0 } else { NOT_PROVEN })
}

/// How far it is, on one line of a terminal.
struct Progress {
    done: usize,
    all: usize,
    shown: bool,
}

impl Progress {
    fn new(all: usize) -> Progress {
        let progress = Progress { done: 0, all, shown: io::stderr().is_terminal() };
        progress.show();
        progress
    }

    fn step(&mut self) {
        self.done += 1;
        self.show();
    }

    fn show(&self) {
        if self.shown {
            eprint!("\r{} of {} attacks", self.done, self.all);
        }
    }

    fn end(&self) {
        if self.shown {
            eprint!("\r\x1b[K");
        }
    }
}

/// How many there are of each verdict.
struct Counts {
    stopped: usize,
    got_through: usize,
    not_run: usize,
    shown: usize,
    not_shown: usize,
}

impl Counts {
    fn of(found: &Found) -> Counts {
        let twin = |finding: &Finding, wanted: &TwinVerdict| {
            finding.twin.as_ref().is_some_and(|twin| twin.verdict == *wanted)
        };
        Counts {
            stopped: found.count(|one| one.verdict == Verdict::Stopped),
            got_through: found.count(|one| one.verdict == Verdict::GotThrough),
            not_run: found.count(|one| matches!(one.verdict, Verdict::NotRun { .. })),
            shown: found.count(|one| twin(one, &TwinVerdict::Shown)),
            not_shown: found.count(|one| twin(one, &TwinVerdict::NotShown)),
        }
    }
}

fn as_json(found: &Found) -> Result<String, Failure> {
    let counts = Counts::of(found);
    let mut value = serde_json::to_value(found).map_err(|error| Failure::Output(error.into()))?;
    value["proven"] = found.is_proof().into();
    value["counts"] = json!({
        "stopped": counts.stopped,
        "got_through": counts.got_through,
        "not_run": counts.not_run,
        "twins_shown": counts.shown,
        "twins_not_shown": counts.not_shown,
    });
    Ok(format!("{value:#}\n"))
}

fn report(found: &Found, paint: Paint) -> String {
    const ATTACK: usize = 58;
    const OUTCOME: usize = 26;
    let mut text = String::new();
    let mut family = None;
    for finding in &found.findings {
        if family != Some(finding.family) {
            family = Some(finding.family);
            text.push_str(&format!("{}\n", paint.strong(finding.family.title())));
        }
        let verdict = match &finding.verdict {
            Verdict::Stopped => paint.good("stopped"),
            Verdict::GotThrough => paint.bad("got through"),
            Verdict::NotRun { .. } => paint.fair("not run"),
        };
        let outcome = match &finding.verdict {
            Verdict::NotRun { .. } => "-".to_owned(),
            _ => escape_controls(&finding.outcome()).into_owned(),
        };
        let proof = match finding.twin.as_ref().map(|twin| &twin.verdict) {
            Some(TwinVerdict::Shown) => ", shown",
            Some(TwinVerdict::NotShown) => ", not shown",
            Some(TwinVerdict::NotRun { .. }) => ", no twin",
            None => "",
        };
        text.push_str(&format!(
            "  {:<4}{:<ATTACK$}  {:<OUTCOME$}  {verdict}{proof}  {}\n",
            finding.id,
            clip(finding.attack, ATTACK),
            clip(&outcome, OUTCOME),
            paint.faint(finding.wall),
        ));
        text.push_str(&notes(finding));
    }
    let counts = Counts::of(found);
    let user = if found.as_root { "root" } else { "an ordinary user" };
    text.push_str(&format!(
        "\n{} as {user}: {} stopped, {} got through, {} not run\n",
        found.backend, counts.stopped, counts.got_through, counts.not_run
    ));
    if found.findings.iter().any(|finding| finding.twin.is_some()) {
        text.push_str(&format!(
            "with the layer off: {} got further, {} did not\n",
            counts.shown, counts.not_shown
        ));
    }
    text
}

/// Reasons, and what got through where.
fn notes(finding: &Finding) -> String {
    let mut text = String::new();
    let mut line =
        |words: String| text.push_str(&format!("      -> {}\n", escape_controls(&words)));
    match &finding.verdict {
        Verdict::Stopped => {}
        Verdict::GotThrough => {
            let all: Vec<String> =
                finding.seen.iter().map(|one| format!("{} {}", one.label, one.answer)).collect();
            line(format!("expected {}; seen: {}", finding.expected, all.join(", ")));
        }
        Verdict::NotRun { reason, .. } => line(reason.clone()),
    }
    if let Some(twin) = &finding.twin {
        match &twin.verdict {
            TwinVerdict::Shown => {}
            TwinVerdict::NotShown => {
                let all: Vec<String> =
                    twin.seen.iter().map(|one| format!("{} {}", one.label, one.answer)).collect();
                line(format!("{}: it got no further: {}", twin.weaker, all.join(", ")));
            }
            TwinVerdict::NotRun { reason } => line(format!("twin: {reason}")),
        }
    }
    text
}

/// A text that fits, cut between two characters.
fn clip(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text.chars().take(most - 1).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(clip("short", 10), "short");
        assert_eq!(clip("exactly ten", 11), "exactly ten");
        assert_eq!(clip("ééééé", 3), "éé…");
    }
}
