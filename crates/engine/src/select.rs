//! Which backend carries out a request: the first of its candidates that can. Whether one can is
//! found out by using it, and nothing of a program has run when it cannot.

use std::vec;

use crate::{
    BackendName, Candidate, Error, PassedOver, Plan, Request, Selection, policy::Policy,
    sandbox::Inner,
};

/// A backend for a request, and what it would do.
pub(crate) struct Attempt {
    pub(crate) selection: Selection,
    pub(crate) plan: Plan,
    pub(crate) policy: Policy,
}

/// The backends that may still be tried for a request, and those that could not serve it.
pub(crate) struct Attempts {
    left: vec::IntoIter<Candidate>,
    failed: Vec<(BackendName, Error)>,
    /// One that stands alone speaks for itself when it fails.
    has_alternatives: bool,
}

impl Attempts {
    pub(crate) fn new(candidates: Vec<Candidate>) -> Attempts {
        let has_alternatives = candidates.len() > 1;
        Attempts { left: candidates.into_iter(), failed: Vec::new(), has_alternatives }
    }

    /// The plan of the next one that can make one.
    pub(crate) fn next(&mut self, inner: &Inner, request: &Request) -> Result<Attempt, Error> {
        while let Some(Candidate { backend, reason }) = self.left.next() {
            match inner.resolve(request, backend) {
                Ok((plan, policy)) => {
                    let selection = Selection { backend, reason, passed_over: self.passed_over() };
                    return Ok(Attempt { selection, plan, policy });
                }
                Err(error) => self.pass_over(backend, error)?,
            }
        }
        Err(Error::no_backend(std::mem::take(&mut self.failed)))
    }

    /// Notes why a backend could not serve; gives the reason back where no other could either.
    pub(crate) fn pass_over(&mut self, backend: BackendName, error: Error) -> Result<(), Error> {
        if !self.has_alternatives || !error.is_of_the_backend() {
            return Err(error);
        }
        self.failed.push((backend, error));
        Ok(())
    }

    fn passed_over(&self) -> Vec<PassedOver> {
        let one = |(backend, error): &(BackendName, Error)| PassedOver {
            backend: *backend,
            reason: error.brief(),
        };
        self.failed.iter().map(one).collect()
    }
}
