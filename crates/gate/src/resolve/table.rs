//! A resolver that knows what it was told, for tests and for machines without DNS.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Mutex, PoisonError},
};

use super::{Resolve, ResolveError, Resolving};

/// Names with fixed answers. A name can have several, given in turn, as a name server may do.
#[derive(Debug, Default)]
pub struct TableResolver {
    answers: Mutex<HashMap<String, Vec<Vec<IpAddr>>>>,
}

impl TableResolver {
    /// Knows nothing.
    pub fn new() -> TableResolver {
        TableResolver::default()
    }

    /// Adds an answer. The first is given first, the last stays.
    pub fn with(self, name: &str, addresses: &[IpAddr]) -> TableResolver {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.entry(name.to_ascii_lowercase()).or_default().push(addresses.to_vec());
        drop(answers);
        self
    }
}

impl Resolve for TableResolver {
    fn resolve<'a>(&'a self, name: &'a str) -> Resolving<'a> {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = match answers.get_mut(name) {
            Some(several) if several.len() > 1 => Some(several.remove(0)),
            Some(last) => last.first().cloned(),
            None => None,
        };
        let answer = answer.ok_or_else(|| ResolveError::Unknown {
            name: name.to_owned(),
            why: "it is not in the table".into(),
        });
        Box::pin(std::future::ready(answer))
    }
}
