//! Policies on this machine: which files speak, and what they say together.

use std::path::Path;

pub use fumehood_core::policy::*;

use crate::{Error, PolicyChoice};

/// Reads and merges what a request must obey.
pub(crate) fn load(choice: &PolicyChoice, wishes: Overrides) -> Result<Policy, Error> {
    let request = Document::from_overrides(wishes)?;
    let mut documents: Vec<(Rank, Document)> = Vec::new();
    match choice {
        PolicyChoice::Profile(name) => documents.push((Rank::BuiltIn, name.document().clone())),
        PolicyChoice::Text { name, text } => {
            documents.push((Rank::Project, Document::read(name, text, Path::new("."))?));
        }
        _ => {}
    }
    let mut layers: Vec<Layered<'_>> =
        documents.iter().map(|(rank, document)| Layered::new(*rank, document)).collect();
    layers.push(Layered::new(Rank::Request, &request));
    Ok(merge(&layers)?)
}
