//! What every command that opens a box begins with: the configuration, and a sandbox made by it.

use std::{env, path::Path, sync::Arc};

use fumehood::{
    Configuration, EngineDefaults, LedgerPlace, LimitOverrides, PolicyChoice, Request, Sandbox,
    SandboxBuilder, config::Settings,
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
        Opened::of(Sandbox::builder().keep_ready(0))
    }

    /// The same for a process that lives on: boxes are kept ready.
    pub fn to_serve() -> Result<Opened, Failure> {
        Opened::of(Sandbox::builder())
    }

    /// The same for attacks on boxes: names are known to nobody else, and what is run is no run of
    /// the user's, so the ledger is left alone.
    pub fn to_verify() -> Result<Opened, Failure> {
        let names = Arc::new(fumehood::verify::names());
        Opened::configured(Sandbox::builder().keep_ready(1).resolver(names))
    }

    fn of(builder: SandboxBuilder) -> Result<Opened, Failure> {
        let opened = Opened::configured(builder)?;
        let ledger = &opened.settings.ledger;
        if ledger.enabled.value {
            opened.sandbox.keep_ledger(LedgerPlace {
                directory: ledger.directory(),
                rotate_at: Some(ledger.rotate_at.value),
            })?;
        }
        Ok(opened)
    }

    fn configured(builder: SandboxBuilder) -> Result<Opened, Failure> {
        // First of all: a box is made ready meanwhile.
        let sandbox = builder.build()?;
        let Configuration { settings, warnings } =
            Configuration::load(Path::new("."), env::vars_os())?;
        for warning in warnings {
            output::line_for_people(&format!("warning: {warning}"));
        }
        sandbox.default_limits(settings.limits.overrides());
        sandbox.choose_backends(settings.executor.clone());
        sandbox.configure_engines(EngineDefaults::of(&settings));
        Ok(Opened { sandbox, settings })
    }

    /// Puts on a request what the configuration decides and nobody asked for.
    pub fn configure(&self, request: &mut Request) {
        if let PolicyChoice::Discover { otherwise, .. } = &mut request.policy {
            *otherwise = self.settings.policy.profile.value;
        }
    }

    /// Limits as the configuration has them.
    pub fn limits(&self) -> LimitOverrides {
        self.settings.limits.overrides()
    }
}
