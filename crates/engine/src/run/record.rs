//! A run's way into the ledger.

use std::{
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use crate::{
    Bytes, Error, Outcome, Plan, Request, Status, Violation, ViolationKind,
    ledger::{self, Ledger, LedgerError, NetworkDecision, Settings},
};

/// The ledger of a sandbox, opened when it is first needed.
pub(crate) struct Records {
    directory: PathBuf,
    settings: Settings,
    opened: OnceLock<Result<Ledger, Arc<LedgerError>>>,
}

impl Records {
    pub(crate) fn new(directory: PathBuf, rotate_at: Option<Bytes>) -> Records {
        let mut settings = Settings::default();
        if let Some(size) = rotate_at {
            settings.rotate_at = size;
        }
        Records { directory, settings, opened: OnceLock::new() }
    }

    fn open(&self) -> Result<&Ledger, Arc<LedgerError>> {
        self.opened
            .get_or_init(|| Ledger::open(&self.directory, self.settings).map_err(Arc::new))
            .as_ref()
            .map_err(Arc::clone)
    }
}

/// The record of one run, while it is under way.
pub(crate) struct Recorder<'a> {
    records: Option<&'a Records>,
    request: &'a Request,
}

impl<'a> Recorder<'a> {
    /// Checks that a run which must be recorded can be.
    pub(crate) fn begin(
        records: Option<&'a Records>,
        plan: &Plan,
        request: &'a Request,
    ) -> Result<Recorder<'a>, Error> {
        let records = records.filter(|_| plan.record.wanted);
        if plan.record.required {
            let records = records.ok_or(Error::NoLedger)?;
            records.open().map_err(Error::Ledger)?;
        }
        Ok(Recorder { records, request })
    }

    /// Opens the ledger while there is time.
    pub(crate) fn prepare(&self) {
        if let Some(Ok(ledger)) = self.records.map(Records::open) {
            // Who we are takes a few looks at the machine, too.
            let _ = ledger.extras(None, Vec::new());
        }
    }

    /// Writes the outcome, or says in it why that did not work.
    pub(crate) fn end(&self, plan: &Plan, outcome: &mut Outcome) {
        let Some(records) = self.records else { return };
        let request = self.request;
        let written = records.open().and_then(|ledger| {
            let network = outcome.network.iter().map(NetworkDecision::from).collect();
            let mut extras = ledger.extras(plan.policy.clone(), network);
            extras.recording = plan.record.as_it_is;
            ledger.append(ledger::record(request, plan, outcome, extras)).map_err(Arc::new)
        });
        if let Err(error) = written {
            let message = format!("the run is not in the ledger: {error}");
            if plan.record.required {
                outcome.status = Status::Failed;
                outcome.success = false;
                outcome.error = Some(message.clone());
            }
            outcome.violations.push(Violation { kind: ViolationKind::Unrecorded, message });
        }
    }
}
