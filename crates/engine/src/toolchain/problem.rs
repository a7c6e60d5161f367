//! Why a program that was found cannot be used, and why a language has no toolchain.

use std::path::PathBuf;

use fumehood_core::language::{Language, Version};
use serde::{Deserialize, Serialize};

/// More would hide the way out, which stands at the end of the sentence.
const MOST_PROBLEMS: usize = 3;

/// Why a program that was found cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Problem {
    /// A version manager's stand-in with no installed version behind it.
    #[error("`{}` is a shim with no installed version behind it", .path.display())]
    EmptyShim {
        /// The shim.
        path: PathBuf,
    },
    /// A link to a program that is something else.
    #[error("`{}` is really `{}`", .path.display(), .real.display())]
    OtherProgram {
        /// The link.
        path: PathBuf,
        /// What it leads to.
        real: PathBuf,
    },
    /// Outside the system directories, with nothing that tells what belongs to it.
    #[error(
        "`{}` is not part of an installation that could be shown to a box: no directory above it \
         has {}", .path.display(), .markers.join(" or ")
    )]
    Unmarked {
        /// The program.
        path: PathBuf,
        /// What an installation has.
        markers: Vec<String>,
    },
    /// The installation is a directory that holds other things too.
    #[error("`{}` is installed in `{}`, which no box may see", .path.display(), .prefix.display())]
    Forbidden {
        /// The program.
        path: PathBuf,
        /// The directory.
        prefix: PathBuf,
    },
    /// Not an installation of its own.
    #[error("`{}` is only a view of another installation, as `{}` says", .path.display(), .file.display())]
    View {
        /// The program.
        path: PathBuf,
        /// The file that says so.
        file: PathBuf,
    },
    /// Less than the least version that works.
    #[error("`{}` is version {version}, and {minimum} is the least", .path.display())]
    TooOld {
        /// The program.
        path: PathBuf,
        /// Its version.
        version: String,
        /// The least that works.
        minimum: Version,
    },
    /// Neither a file nor the program itself tells the version.
    #[error("`{}` does not tell its version", .path.display())]
    NoVersion {
        /// The program.
        path: PathBuf,
    },
    /// The main program is there, another one that is needed is not.
    #[error("`{}` has no `{name}` beside it, and neither has PATH", .path.display())]
    NoCompanion {
        /// The main program.
        path: PathBuf,
        /// The other one.
        name: String,
    },
}

/// A language without a toolchain that boxes can use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{}", sentence(self))]
pub struct MissingToolchain {
    /// The language's name.
    pub language: String,
    /// The language's title; absent if there is no such language.
    pub title: Option<String>,
    /// File names that were looked for.
    pub programs: Box<[String]>,
    /// Where, besides `PATH`.
    pub places: Box<[String]>,
    /// What was found and cannot be used.
    pub problems: Vec<Problem>,
    /// What to type on Debian.
    pub install: Box<str>,
}

impl MissingToolchain {
    pub(super) fn new(language: &Language, problems: Vec<Problem>) -> MissingToolchain {
        let spec = &language.toolchain;
        MissingToolchain {
            language: language.name.clone(),
            title: Some(language.title.clone()),
            programs: spec.programs.get(&spec.main).cloned().unwrap_or_default().into(),
            places: spec.places.clone().into(),
            problems,
            install: spec.install.as_str().into(),
        }
    }
}

/// The answer for a name that is no language's.
pub(super) fn unknown_language(name: &str) -> MissingToolchain {
    MissingToolchain {
        language: name.to_owned(),
        title: None,
        programs: Box::default(),
        places: Box::default(),
        problems: Vec::new(),
        install: Box::default(),
    }
}

fn sentence(missing: &MissingToolchain) -> String {
    let Some(title) = &missing.title else {
        return format!(
            "`{}` is not the name of a language: `fumehood languages` lists them",
            missing.language
        );
    };
    let mut sentence = format!(
        "no usable {title} on this machine: looked for {} in PATH, {}",
        missing.programs.join(", "),
        missing.places.join(", "),
    );
    if !missing.problems.is_empty() {
        let problems: Vec<String> =
            missing.problems.iter().take(MOST_PROBLEMS).map(Problem::to_string).collect();
        sentence.push_str(&format!(" ({})", problems.join("; ")));
    }
    sentence.push_str(&format!("; type `{}`", missing.install));
    sentence
}
