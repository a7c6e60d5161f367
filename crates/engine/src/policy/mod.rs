//! The policy of a run: files are found and read here; what they mean is decided in
//! `fumehood_core::policy`, which this module passes on.
//!
//! Layers, weakest first: built-in profile, the user's file, the project's file, the request.

mod error;
mod explain;
mod find;
mod read;
mod trust;

#[cfg(test)]
mod tests;

use std::path::Path;

pub use fumehood_core::policy::*;

pub use self::{
    error::PolicyError,
    explain::path_decision,
    find::{FILE_NAME, find, user_file},
};
use crate::{LimitOverrides, PolicyChoice};

/// Finds, reads and merges the policy of a run. The user's own file holds whatever was chosen, and
/// so do these limits, as the configuration has them.
pub fn load(
    choice: &PolicyChoice,
    limits: &LimitOverrides,
    wishes: Overrides,
) -> Result<Policy, PolicyError> {
    load_for_guest(choice, limits, wishes, None)
}

/// The same with what somebody else asks for on top.
pub fn load_for_guest(
    choice: &PolicyChoice,
    limits: &LimitOverrides,
    wishes: Overrides,
    guest: Option<&PolicyText>,
) -> Result<Policy, PolicyError> {
    load_with(choice, limits, wishes, guest, user_file().as_deref())
}

fn load_with(
    choice: &PolicyChoice,
    limits: &LimitOverrides,
    mut wishes: Overrides,
    guest: Option<&PolicyText>,
    user_file: Option<&Path>,
) -> Result<Policy, PolicyError> {
    let user = user_file.map(read::if_there).transpose()?.flatten();
    let mut chosen: Option<Document> = None;
    let mut profile = ProfileName::Default;
    match choice {
        PolicyChoice::Discover { from, otherwise } => match find(from)? {
            Some(path) => {
                // In the directory itself the name says enough.
                let name = match path.parent() == std::path::absolute(from).ok().as_deref() {
                    true => FILE_NAME.to_owned(),
                    false => path.display().to_string(),
                };
                let document = read::document(&path, &name)?;
                trust::check(&document, path.parent().unwrap_or(Path::new("/")))?;
                chosen = Some(document);
            }
            None => profile = *otherwise,
        },
        PolicyChoice::File(path) => {
            chosen = Some(read::document(path, &path.display().to_string())?);
        }
        PolicyChoice::Text { name, text } => {
            chosen = Some(Document::read(name, text, Path::new("."))?);
        }
        PolicyChoice::Profile(name) => profile = *name,
    }
    let configured = Document::of_limits(limits);
    let further = wishes.further.take();
    let further = further
        .map(|PolicyText { name, text }| Document::read(&name, &text, Path::new(".")))
        .transpose()?;
    let request = Document::from_overrides(wishes)?;
    let guest = guest
        .map(|PolicyText { name, text }| Document::read(name, text, Path::new(".")))
        .transpose()?;
    let mut layers = Vec::with_capacity(6);
    if profile != ProfileName::Default {
        layers.push(Layered::new(Rank::BuiltIn, profile.document()));
    }
    if *limits != LimitOverrides::default() {
        layers.push(Layered::new(Rank::User, &configured));
    }
    layers.extend(user.as_ref().map(|document| Layered::new(Rank::User, document)));
    layers.extend(chosen.as_ref().map(|document| Layered::new(Rank::Project, document)));
    layers.push(Layered::new(Rank::Request, &request));
    layers.extend(further.as_ref().map(|document| Layered::new(Rank::Request, document)));
    layers.extend(guest.as_ref().map(|document| Layered::new(Rank::Guest, document)));
    Ok(merge(&layers)?)
}
