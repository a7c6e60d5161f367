//! Makes the attacks, two at a time where they do not disturb each other, and says what became of
//! each.

use std::{
    cell::{Cell, RefCell},
    fs,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
    time::Instant,
};

use super::{
    finding::{Finding, TwinFinding, TwinVerdict, Verdict},
    judge::{Judgement, Seen, judge},
    row::{Row, Trial, Twin},
    stage::{Stage, Tool, Trouble},
};
use crate::{BackendName, Error, Layer, LedgerPlace, Sandbox, tree};

/// Everything that was found on one backend.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Found {
    /// The backend.
    pub backend: BackendName,
    /// Whether this process is root's.
    pub as_root: bool,
    /// What became of each attack, in the order of the catalogue.
    pub findings: Vec<Finding>,
}

impl Found {
    /// How many there are of a kind.
    pub fn count(&self, is_one: impl Fn(&Finding) -> bool) -> usize {
        self.findings.iter().filter(|finding| is_one(finding)).count()
    }

    /// True if nothing got through and nothing broke.
    pub fn is_proof(&self) -> bool {
        self.findings.iter().all(|finding| {
            matches!(finding.verdict, Verdict::Stopped | Verdict::NotRun { failed: false, .. })
        })
    }
}

/// The attacks on one backend. What they leave is removed when this is dropped.
#[derive(Debug)]
pub struct Verification {
    sandbox: Sandbox,
    backend: BackendName,
    image: Option<String>,
    tool: Option<Tool>,
    directory: PathBuf,
}

impl Verification {
    /// Attacks on boxes of this backend. The sandbox must look names up with
    /// [`names`](super::names) and record nothing by itself.
    pub fn new(sandbox: Sandbox, backend: BackendName) -> Result<Verification, Error> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{number}", std::process::id());
        let directory = sandbox.inner.cache_dir.join("verify").join(name);
        fs::create_dir_all(&directory).map_err(|error| Error::Storage {
            verb: "created",
            path: directory.clone(),
            reason: error.to_string(),
        })?;
        let ledger = LedgerPlace { directory: Some(directory.join("ledger")), rotate_at: None };
        sandbox.keep_ledger(ledger)?;
        Ok(Verification { sandbox, backend, image: None, tool: None, directory })
    }

    /// The image of the boxes, instead of the usual one.
    #[must_use]
    pub fn image(mut self, image: Option<String>) -> Verification {
        self.image = image;
        self
    }

    /// The command line program, for attacks on a whole supervisor, and what it needs to know in
    /// its environment beside what this process has.
    #[must_use]
    pub fn tool(
        mut self,
        program: impl Into<PathBuf>,
        variables: impl IntoIterator<Item = (&'static str, String)>,
    ) -> Verification {
        self.tool =
            Some(Tool { program: program.into(), variables: variables.into_iter().collect() });
        self
    }

    /// Makes these attacks, with their twins if they are to be proven. Each is told as soon as it
    /// is over.
    pub async fn examine(
        &self,
        rows: &[&'static Row],
        prove: bool,
        told: impl FnMut(&Finding),
    ) -> Found {
        let (alone, beside): (Vec<_>, Vec<_>) = rows.iter().copied().partition(|row| row.alone);
        let told = RefCell::new(told);
        let findings = RefCell::new(Vec::new());
        let next = Cell::new(0);
        let one = async |row| {
            let finding = self.one(row, prove).await;
            (told.borrow_mut())(&finding);
            findings.borrow_mut().push(finding);
        };
        let worker = || async {
            while let Some(row) = beside.get(next.replace(next.get() + 1)) {
                one(row).await;
            }
        };
        tokio::join!(worker(), worker());
        for row in alone {
            one(row).await;
        }
        let mut findings = findings.into_inner();
        let place = |finding: &Finding| rows.iter().position(|row| row.id == finding.id);
        findings.sort_by_key(place);
        let as_root = rustix::process::geteuid().is_root();
        Found { backend: self.backend, as_root, findings }
    }

    /// Makes one attack, and its twin if it is to be proven.
    pub async fn one(&self, row: &'static Row, prove: bool) -> Finding {
        let begun = Instant::now();
        let (verdict, seen) = match self.attempt(row, row.trial, self.backend, &[]).await {
            Ok(seen) => (verdict(judge(&seen, row.rules, &[])), seen),
            Err(trouble) => {
                let reason = trouble.to_string();
                // What is missing here was never to be expected.
                let failed = !matches!(trouble, Trouble::Missing(_));
                (Verdict::NotRun { reason, failed }, Seen::default())
            }
        };
        let mut finding = Finding::new(row, verdict, seen.answers);
        if prove {
            finding.twin = Some(self.twin(row).await);
        }
        finding.seconds = begun.elapsed().as_secs_f64();
        finding
    }

    /// Makes an attack in boxes that lack these layers. True if it gets through.
    pub async fn gets_through_without(
        &self,
        row: &'static Row,
        layers: &[Layer],
    ) -> Result<bool, Error> {
        match self.attempt(row, row.trial, self.backend, layers).await {
            Ok(seen) => Ok(judge(&seen, row.rules, layers) == Judgement::GotThrough),
            Err(Trouble::Sandbox(error)) => Err(error),
            Err(_) => Ok(false),
        }
    }

    async fn twin(&self, row: &'static Row) -> TwinFinding {
        let as_root = rustix::process::geteuid().is_root();
        let not = |weaker: &str, reason: &str| TwinFinding {
            weaker: weaker.to_owned(),
            verdict: TwinVerdict::NotRun { reason: reason.to_owned() },
            seen: Vec::new(),
        };
        let (weaker, trial, backend, without) = match row.twin {
            Twin::Not(reason) => return not("", reason),
            Twin::WithoutNatively(layers, reason) if self.backend.uses_images() => {
                return not(&without_words(layers), reason);
            }
            Twin::NoBoxAsRoot if !as_root => {
                return not("without a box", "it takes root to get further, and this is not root");
            }
            Twin::Without(layers) | Twin::WithoutNatively(layers, _) => {
                (without_words(layers), row.trial, self.backend, layers)
            }
            Twin::NoBox | Twin::NoBoxAsRoot => {
                ("without a box".to_owned(), row.trial, BackendName::Local, &[][..])
            }
            Twin::Staged(words, trial) => (words.to_owned(), trial, self.backend, &[][..]),
        };
        match self.attempt(row, trial, backend, without).await {
            Ok(seen) => {
                // Without a box nothing is held, and the rules are judged all the same.
                let seen = match backend {
                    BackendName::Local => Seen { enforced: None, ..seen },
                    _ => seen,
                };
                let verdict = match judge(&seen, row.rules, without) {
                    Judgement::GotThrough => TwinVerdict::Shown,
                    Judgement::NotHeld(layer) => {
                        TwinVerdict::NotRun { reason: format!("{layer} is not held here") }
                    }
                    Judgement::Stopped | Judgement::Silent(_) => TwinVerdict::NotShown,
                };
                TwinFinding { weaker, verdict, seen: seen.answers }
            }
            Err(trouble) => not(&weaker, &trouble.to_string()),
        }
    }

    /// Makes an attack in a directory of its own.
    async fn attempt(
        &self,
        row: &'static Row,
        trial: Trial,
        backend: BackendName,
        without: &[Layer],
    ) -> Result<Seen, Trouble> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let ledger = self.directory.join("ledger");
        let stage = Stage {
            sandbox: &self.sandbox,
            backend,
            image: self.image.as_deref(),
            tool: self.tool.as_ref(),
            ledger: &ledger,
            without,
            path: self.directory.join(format!("{}-{number}", row.id)),
            kept: RefCell::default(),
        };
        let seen = match trial {
            Trial::Inside(prepare) => match prepare(&stage) {
                Ok(request) => stage
                    .run(request)
                    .await
                    .map(|outcome| Seen::of(&outcome))
                    .map_err(Trouble::from),
                Err(trouble) => Err(trouble),
            },
            Trial::Host(check) => check(&stage).await,
        };
        let path = stage.path.clone();
        drop(stage);
        remove_aside(path).await;
        seen
    }
}

fn without_words(layers: &[Layer]) -> String {
    let names: Vec<&str> = layers.iter().map(|layer| layer.name()).collect();
    format!("without {}", names.join(", "))
}

fn verdict(judgement: Judgement) -> Verdict {
    match judgement {
        Judgement::Stopped => Verdict::Stopped,
        Judgement::GotThrough => Verdict::GotThrough,
        Judgement::NotHeld(layer) => Verdict::NotRun {
            reason: format!("{layer} is not held in full here; `fumehood doctor` says why"),
            failed: false,
        },
        Judgement::Silent(label) => Verdict::NotRun {
            reason: format!("the attack ended before it told of `{label}`"),
            failed: true,
        },
    }
}

/// Removes a directory with whatever an attack left in it.
fn remove(path: &Path) {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return };
    let Ok(name) = std::ffi::CString::new(name.as_bytes()) else { return };
    if let Ok(parent) = fs::File::open(parent) {
        let _ = tree::remove(parent, &name);
    }
}

/// The same on another thread: a slow disk must not hold up what goes on beside it.
pub(super) async fn remove_aside(path: PathBuf) {
    let _ = tokio::task::spawn_blocking(move || remove(&path)).await;
}

impl Drop for Verification {
    fn drop(&mut self) {
        remove(&self.directory);
    }
}
