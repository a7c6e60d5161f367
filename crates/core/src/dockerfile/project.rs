//! The parts of a project, and one Dockerfile for all of them.

use super::{
    base::{Base, Wish},
    files::{Files, base_name},
    go, ignore, java, node,
    part::{Assets, Part},
    python,
    recipe::{Recipe, Role},
    rust, write,
};

/// What is detected, and by which files.
pub const DETECTED: &str = "Go (go.mod, go.work), Node (package.json), Python (pyproject.toml, \
    requirements.txt, setup.py, Pipfile), Rust (Cargo.toml), Java (pom.xml, build.gradle)";

/// Directories whose projects are not what a user of the whole wants to run.
const ASIDE: &[&str] = &[
    "doc",
    "docs",
    "test",
    "tests",
    "e2e",
    "example",
    "examples",
    "sample",
    "samples",
    "script",
    "scripts",
    "tool",
    "tools",
    "hack",
    "bench",
    "benches",
    "benchmarks",
    "fixtures",
    "ci",
    "third_party",
];

/// No file of a project that is known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no project is there that can be detected, which are: {DETECTED}")]
pub struct NothingFound;

/// What was found about one part, and why it is treated as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its directory, from the root of the project; empty for the root.
    pub directory: String,
    /// For example `Go`.
    pub language: String,
    /// The version of the image.
    pub version: String,
    /// Who says so.
    pub version_source: String,
    /// Alpine or Debian.
    pub base: Base,
    /// Why.
    pub base_reason: String,
}

/// The two files, and what they were made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// The text of `Dockerfile`.
    pub dockerfile: String,
    /// The text of `.dockerignore`.
    pub dockerignore: String,
    /// One entry per part.
    pub found: Vec<Found>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    Go,
    Rust,
    Java,
    Python,
    Node,
}

const LANGUAGES: [Language; 5] =
    [Language::Go, Language::Rust, Language::Java, Language::Python, Language::Node];

impl Language {
    fn is_here(self, part: &Part) -> bool {
        match self {
            Language::Go => go::is_here(part),
            Language::Rust => rust::is_here(part),
            Language::Java => java::is_here(part),
            Language::Python => python::is_here(part),
            Language::Node => node::is_here(part),
        }
    }

    /// True if it only serves another part.
    fn is_only_tools(self, part: &Part) -> bool {
        match self {
            Language::Node => node::is_only_tools(part),
            Language::Python => python::is_only_tools(part),
            _ => false,
        }
    }

    fn recipe(self, part: &Part, wish: Option<&Wish>) -> Recipe {
        match self {
            Language::Go => go::recipe(part, wish),
            Language::Rust => rust::recipe(part, wish),
            Language::Java => java::recipe(part, wish),
            Language::Python => python::recipe(part, wish),
            Language::Node => node::recipe(part, wish),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Language::Go => "go",
            Language::Rust => "rust",
            Language::Java => "java",
            Language::Python => "python",
            Language::Node => "node",
        }
    }
}

/// Makes both files. A base that is given is used whatever the project needs.
pub fn generate(files: &Files, base: Option<Base>) -> Result<Generated, NothingFound> {
    let parts = detect(files);
    if parts.is_empty() {
        return Err(NothingFound);
    }
    let wish = base.map(|base| Wish { base, reason: "asked for with --base".to_owned() });
    let made = make(parts, wish.as_ref());
    let found = made.iter().map(|(part, recipe)| found(part, recipe)).collect();
    Ok(Generated {
        dockerfile: write::dockerfile(&made),
        dockerignore: ignore::dockerignore(&made),
        found,
    })
}

fn found(part: &Part, recipe: &Recipe) -> Found {
    Found {
        directory: part.dir.clone(),
        language: recipe.language.to_owned(),
        version: recipe.pin.version.to_string(),
        version_source: recipe.pin.source.to_string(),
        base: recipe.base.base,
        base_reason: recipe.base.reason.clone(),
    }
}

/// All parts, outermost first.
fn detect(files: &Files) -> Vec<(Language, Part<'_>)> {
    let mut parts: Vec<(Language, Part)> = Vec::new();
    for dir in files.directories() {
        if dir.split('/').any(|name| ASIDE.contains(&name) || name == "vendor") {
            continue;
        }
        let part = Part::alone(files, dir);
        for language in LANGUAGES.into_iter().filter(|language| language.is_here(&part)) {
            // What lies below a project in the same language belongs to it.
            let belongs = parts.iter().any(|(other, outer)| {
                let inside = outer.dir.is_empty() || dir.starts_with(&format!("{}/", outer.dir));
                *other == language && inside && !other.is_only_tools(outer)
            });
            if !belongs {
                parts.push((language, part.clone()));
            }
        }
    }
    let is_real = |(language, part): &(Language, Part)| !language.is_only_tools(part);
    if parts.iter().any(is_real) {
        parts.retain(is_real);
    }
    name_all(&mut parts);
    parts
}

/// Names that differ, and that can be names of stages.
fn name_all(parts: &mut [(Language, Part)]) {
    if parts.len() < 2 {
        return;
    }
    let mut taken: Vec<String> = Vec::new();
    for (language, part) in parts {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let directory: String = base_name(&part.dir).chars().map(plain).collect();
        let directory = directory.trim_matches('-').to_owned();
        let starts_well = directory.starts_with(|c: char| c.is_ascii_lowercase());
        let mut name = if starts_well { directory } else { language.name().to_owned() };
        if taken.contains(&name) {
            let whole: String = part.dir.chars().map(plain).collect();
            name = format!("{}-{}", language.name(), whole.trim_matches('-'));
        }
        let first = name.clone();
        let mut number = 2;
        while taken.contains(&name) {
            name = format!("{first}-{number}");
            number += 1;
        }
        taken.push(name.clone());
        part.name = name;
        part.alone = false;
    }
}

/// Recipes for all parts: frontends first, since others carry what they leave.
fn make<'a>(parts: Vec<(Language, Part<'a>)>, wish: Option<&Wish>) -> Vec<(Part<'a>, Recipe)> {
    let roles: Vec<Recipe> =
        parts.iter().map(|(language, part)| language.recipe(part, wish)).collect();
    let programs = roles.iter().filter(|recipe| recipe.role == Role::Program).count();
    let assets: Vec<Assets> = parts
        .iter()
        .zip(&roles)
        .filter_map(|((_, part), recipe)| match &recipe.role {
            Role::Frontend { stage, output } if programs > 0 => {
                Some(Assets { dir: part.dir.clone(), stage: stage.clone(), output: output.clone() })
            }
            _ => None,
        })
        .collect();

    // Several programs end in one image, so they need the same C library.
    let debian =
        roles.iter().find(|recipe| recipe.role == Role::Program && recipe.base.is_debian());
    let together = debian.filter(|_| programs > 1 && wish.is_none()).map(|recipe| Wish {
        base: Base::Debian,
        reason: format!("the part in {} needs it, and all run in one image", recipe.language),
    });

    let mut made: Vec<(Part, Recipe)> = Vec::new();
    for ((language, mut part), first) in parts.into_iter().zip(roles) {
        if first.role == Role::Program {
            part.assets = assets.clone();
        }
        let wish = together.as_ref().filter(|_| !first.base.is_debian()).or(wish);
        let recipe = language.recipe(&part, wish);
        made.push((part, recipe));
    }
    // A stage must stand before those that copy from it.
    made.sort_by_key(|(_, recipe)| recipe.role == Role::Program);
    made
}
