//! Java: built by Maven or Gradle with a JDK, run with a JRE.

mod gradle;
mod maven;

use super::{
    base::{Base, Choice, Wish},
    part::Part,
    recipe::{Command, Recipe, Role, Runtime, Stage, Steps},
    releases::{JAVA, version},
    version::{Mention, Pin, only_line, tool_versions},
};
use crate::language::Version;

/// True if this is the root of a Maven or Gradle project.
pub(super) fn is_here(part: &Part) -> bool {
    part.has("pom.xml") || gradle::is_here(part)
}

/// What a build tool makes of it.
struct Built {
    /// The image of the tool, without its ending for the base.
    image: String,
    steps: Steps,
    /// How the result gets from the build stage, called `FROM` here, into `/app`.
    copies: Vec<String>,
    command: Command,
    port: Option<u16>,
}

/// What to make of it.
pub(super) fn recipe(part: &Part, wish: Option<&Wish>) -> Recipe {
    let is_maven = part.has("pom.xml");
    let pin = pin(part, is_maven);
    let need = "the JVM is tested on glibc first; its images are Ubuntu, of the same family";
    let base = Choice::make(wish, Some(need.to_owned()), "");
    let stage = part.stage("build");
    let built = match is_maven {
        true => maven::build(part, &pin, &stage),
        false => gradle::build(part, &pin, &stage),
    };
    let ending = if base.base == Base::Alpine { "-alpine" } else { "" };
    let image = format!("{}{ending}", built.image);
    let contents = Steps::new().steps(built.copies);
    Recipe {
        language: "Java",
        role: Role::Program,
        runtime: Runtime {
            image: format!("eclipse-temurin:{}-jre{ending}", pin.version),
            notes: vec!["To run it a JRE is enough.".to_owned()],
            packages: Vec::new(),
            variables: Vec::new(),
            contents,
            port: built.port,
            command: built.command,
        },
        stages: vec![Stage { name: stage, image, notes: Vec::new(), steps: built.steps }],
        pin,
        base,
        ignored: vec!["target", "*/target", "build", "*/build", "**/.gradle", "**/*.class"],
        carries_assets: false,
    }
}

fn pin(part: &Part, is_maven: bool) -> Pin {
    // For example `17`, `<release>17`, `java=17.0.9-tem` or `temurin-17.0.9+9`.
    let read = |mention: Option<Mention>| {
        let mention = mention?;
        let digits = mention.says.find(|c: char| c.is_ascii_digit())?;
        Some(supported(&mention, mention.says[digits..].parse().ok()?))
    };
    read(if is_maven { maven::version(part) } else { gradle::version(part) })
        .or_else(|| read(only_line(part, ".java-version")))
        .or_else(|| read(sdkman(part)))
        .or_else(|| read(tool_versions(part, "java")))
        .unwrap_or_else(|| Pin::default_of(&JAVA))
}

fn sdkman(part: &Part) -> Option<Mention> {
    let text = part.text(".sdkmanrc")?;
    let (index, line) = text.lines().enumerate().find(|(_, line)| line.starts_with("java="))?;
    Some(Mention { path: part.shown(".sdkmanrc"), line: index + 1, says: line.to_owned() })
}

/// The release with long support that can build for this one: `1.8` is 8, 20 is built by 21.
fn supported(mention: &Mention, wanted: Version) -> Pin {
    let major = match wanted.numbers() {
        [1, minor, ..] => *minor,
        [major, ..] => *major,
        [] => 0,
    };
    match JAVA.known.iter().find(|known| **known >= [major].as_slice()) {
        Some(known) if **known == [major] => mention.pin(version(known)),
        Some(known) => {
            let but = "the next release with long support builds for it".to_owned();
            mention.pin_but(version(known), Some(but))
        }
        None => mention.pin(Version::new(major, &[])),
    }
}
