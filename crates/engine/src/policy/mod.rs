//! The policy of a run: files are found and read here; what they mean is decided in
//! `fumehood_core::policy`, which this module passes on.
//!
//! Layers, weakest first: built-in profile, the user's file, the project's file, the request.

mod error;
mod find;
mod read;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

pub use fumehood_core::policy::*;

pub use self::{
    error::PolicyError,
    find::{FILE_NAME, find, user_file},
};

/// Which policy a run is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyChoice {
    /// The file `sandbox.policy.yaml` of this directory or of one above it, if there is one.
    Discover {
        /// Where to begin.
        from: PathBuf,
    },
    /// This file, in place of that of the project.
    File(PathBuf),
    /// A built-in profile, in place of the file of the project.
    Profile(String),
}

/// Finds, reads and merges the policy of a run. The user's own file holds whatever was chosen.
pub fn load(choice: &PolicyChoice, overrides: Overrides) -> Result<Policy, PolicyError> {
    load_with(choice, overrides, user_file().as_deref())
}

fn load_with(
    choice: &PolicyChoice,
    overrides: Overrides,
    user_file: Option<&Path>,
) -> Result<Policy, PolicyError> {
    let user = user_file.map(read::if_there).transpose()?.flatten();
    let mut chosen: Option<Document> = None;
    let mut layers = Vec::with_capacity(4);
    match choice {
        PolicyChoice::Discover { from } => {
            if let Some(path) = find(from)? {
                // In the directory itself the name says enough.
                let name = match path.parent() == std::path::absolute(from).ok().as_deref() {
                    true => FILE_NAME.to_owned(),
                    false => path.display().to_string(),
                };
                chosen = Some(read::document(&path, &name)?);
            }
        }
        PolicyChoice::File(path) => {
            chosen = Some(read::document(path, &path.display().to_string())?);
        }
        PolicyChoice::Profile(name) => {
            let profile = ProfileName::find(name)?;
            if profile != ProfileName::Default {
                layers.push(Layered::new(Rank::BuiltIn, profile.document()));
            }
        }
    }
    let request = Document::from_overrides(overrides)?;
    layers.extend(user.as_ref().map(|document| Layered::new(Rank::User, document)));
    layers.extend(chosen.as_ref().map(|document| Layered::new(Rank::Project, document)));
    layers.push(Layered::new(Rank::Request, &request));
    Ok(merge(&layers)?)
}
