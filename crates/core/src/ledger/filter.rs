//! Which runs somebody wants to see.

use super::{Entry, Moment, Record, Stored};
use crate::{BackendName, Digest, Status, ViolationKind};

/// Which violations are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViolationFilter {
    /// Any at all.
    Any,
    /// Of this kind.
    Kind(ViolationKind),
}

/// Which runs somebody wants to see; what is absent does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Written at this time or later.
    pub since: Option<Moment>,
    /// Ended like this.
    pub status: Option<Status>,
    /// Run by this backend.
    pub backend: Option<BackendName>,
    /// Tried something it did not get.
    pub violation: Option<ViolationFilter>,
    /// Had this plan; as [`Record::plan_seal`] gives it.
    pub plan: Option<Digest>,
}

impl Filter {
    /// The run in this line, if it is one that is wanted.
    pub fn pick<'a>(&self, stored: &'a Stored) -> Option<&'a Record> {
        let Entry::Run(record) = &stored.entry else { return None };
        let has = |wanted: ViolationFilter| match wanted {
            ViolationFilter::Any => !record.violations.is_empty(),
            ViolationFilter::Kind(kind) => record.violations.iter().any(|v| v.kind == kind),
        };
        let wanted = self.since.is_none_or(|since| stored.time >= since)
            && self.status.is_none_or(|status| record.status == status)
            && self.backend.is_none_or(|backend| record.backend == backend)
            && self.violation.is_none_or(has)
            && self.plan.as_ref().is_none_or(|plan| record.plan == *plan);
        wanted.then_some(record)
    }
}
