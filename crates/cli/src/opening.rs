//! What every command that opens a box begins with: the configuration, and a sandbox made by it.

use std::{
    env,
    io::{self, IsTerminal as _},
    path::Path,
};

use fumehood::{
    BackendName, Configuration, LedgerPlace, PolicyChoice, Request, Sandbox,
    config::{Choice, ExecutorName, ExecutorType, Settings, choose},
};

use crate::{failure::Failure, output};

/// A sandbox and the configuration it was made by.
pub struct Opened {
    pub sandbox: Sandbox,
    settings: Settings,
}

impl Opened {
    /// Reads the configuration and starts what every run needs. One command needs one box, or
    /// two: nothing is prepared beyond the first.
    pub fn open() -> Result<Opened, Failure> {
        Opened::keeping_ready(0)
    }

    /// The same for a process that runs many requests, with so many boxes prepared ahead of need.
    pub fn keeping_ready(boxes: u8) -> Result<Opened, Failure> {
        // First of all: a box is made ready meanwhile.
        let sandbox = Sandbox::builder().keep_ready(boxes).build()?;
        let Configuration { settings, warnings } =
            Configuration::load(Path::new("."), env::vars_os())?;
        for warning in warnings {
            output::line_for_people(&format!("warning: {warning}"));
        }
        sandbox.default_limits(settings.limits.overrides());
        if settings.ledger.enabled.value {
            sandbox.keep_ledger(LedgerPlace {
                directory: settings.ledger.directory(),
                rotate_at: Some(settings.ledger.rotate_at.value),
            })?;
        }
        Ok(Opened { sandbox, settings })
    }

    /// Puts on a request what the configuration decides and nobody asked for.
    pub fn configure(&self, request: &mut Request, verbose: bool) -> Result<(), Failure> {
        let choice = self.executor(request.backend)?;
        if verbose || io::stderr().is_terminal() {
            output::line_for_people(&choice.line());
        }
        request.backend = Some(match choice.executor {
            ExecutorName::Local => BackendName::Local,
            ExecutorName::Native | ExecutorName::Docker | ExecutorName::Podman => {
                BackendName::Native
            }
        });
        if let PolicyChoice::Discover { otherwise, .. } = &mut request.policy {
            *otherwise = self.settings.policy.profile.value;
        }
        Ok(())
    }

    fn executor(&self, asked: Option<BackendName>) -> Result<Choice, Failure> {
        let asked = asked.map(|backend| {
            ExecutorType::Named(match backend {
                BackendName::Native => ExecutorName::Native,
                BackendName::Local => ExecutorName::Local,
            })
        });
        let missing = || Err("this version cannot use it yet".to_owned());
        let available = [
            (ExecutorName::Native, Ok(())),
            (ExecutorName::Docker, missing()),
            (ExecutorName::Podman, missing()),
            (ExecutorName::Local, Ok(())),
        ];
        Ok(choose(&self.settings, asked, &available)?)
    }
}
