//! One language, as its data file says.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{
    source::SourceSpec,
    template::{Placeholder, Template},
    toolchain::ToolchainSpec,
};
use crate::LimitOverrides;

/// One language.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Language {
    /// The name, as on the command line.
    pub name: String,
    /// The name, as in a sentence.
    pub title: String,
    /// Further names.
    pub aliases: Vec<String>,
    /// Endings of file names, without the dot, in lower case.
    pub extensions: Vec<String>,
    /// How the source file is called.
    pub source: SourceSpec,
    /// The programs it takes.
    pub toolchain: ToolchainSpec,
    /// How a source becomes something that runs; absent, the source itself runs.
    #[serde(default)]
    pub compile: Option<CompileSpec>,
    /// How it runs.
    pub run: RunSpec,
}

/// How a source becomes something that runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompileSpec {
    /// A program of fumehood's own that compiles, put into the box besides the toolchain.
    #[serde(default)]
    pub helper: Option<String>,
    /// Commands, done in sequence. The first word of each names a program of the toolchain or
    /// the helper.
    pub commands: Vec<Vec<Template>>,
    /// Variables of the compile box.
    #[serde(default)]
    pub env: BTreeMap<String, Template>,
    /// Names of the files that stand in `{out}` afterwards.
    pub outputs: Vec<String>,
    /// Compilers take more than programs.
    #[serde(default)]
    pub limits: LimitOverrides,
    /// What fills the compiler's cache ahead of time.
    #[serde(default)]
    pub warm: Option<WarmSpec>,
}

/// A source whose compilation fills the compiler's cache. The filled directory is mounted
/// read-only at `{cache}` in every compile box.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WarmSpec {
    /// The source.
    pub source: String,
    /// More time and memory than a compile has.
    #[serde(default)]
    pub limits: LimitOverrides,
}

/// How a program runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSpec {
    /// The command; the program's own arguments follow it.
    pub command: Vec<Template>,
    /// Variables of the box.
    #[serde(default)]
    pub env: BTreeMap<String, Template>,
    /// Limits that differ from the defaults.
    #[serde(default)]
    pub limits: LimitOverrides,
}

/// Why a language file does not load.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LanguageError {
    /// Not the right shape; the message has line and column.
    #[error("the language file `{file}` does not load: {message}")]
    Syntax {
        /// The file.
        file: String,
        /// What the reader says.
        message: String,
    },
    /// A command starts with something that nothing provides.
    #[error(
        "{language}: the command `{command}` starts with `{first}`, which is neither one of \
         `toolchain.programs` nor the helper nor a path with a placeholder"
    )]
    UnknownProgram {
        /// The language.
        language: String,
        /// The first word.
        first: String,
        /// The whole command.
        command: String,
    },
    /// A placeholder that has no value in this step.
    #[error("{language}: {placeholder} has no value in `{section}`; use it in the other section")]
    Misplaced {
        /// The language.
        language: String,
        /// `compile` or `run`.
        section: &'static str,
        /// The placeholder.
        placeholder: Placeholder,
    },
    /// `toolchain.main` names nothing.
    #[error("{language}: `toolchain.main` is `{main}`, which is not one of `toolchain.programs`")]
    UnknownMain {
        /// The language.
        language: String,
        /// The name.
        main: String,
    },
}

impl Language {
    /// The language in this text; `file` names it in errors.
    pub fn parse(file: &str, text: &str) -> Result<Language, LanguageError> {
        let language: Language = toml::from_str(text).map_err(|error| LanguageError::Syntax {
            file: file.to_owned(),
            message: error.to_string(),
        })?;
        language.check()?;
        Ok(language)
    }

    /// Whether this is one of its names.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.iter().any(|alias| alias == name)
    }

    /// What the types alone do not say: commands start with known programs, and placeholders
    /// stand where they have a value.
    fn check(&self) -> Result<(), LanguageError> {
        let language = || self.name.clone();
        let main = &self.toolchain.main;
        if !self.toolchain.programs.contains_key(main) {
            return Err(LanguageError::UnknownMain { language: language(), main: main.clone() });
        }
        self.check_program(&self.run.command)?;
        let run = self.run.command.iter().chain(self.run.env.values());
        let not_in_run: &[Placeholder] = match self.compile {
            Some(_) => &[Placeholder::Out, Placeholder::Cache, Placeholder::Source],
            None => &[Placeholder::Out, Placeholder::Cache, Placeholder::Program],
        };
        self.check_places("run", run, not_in_run)?;
        if let Some(compile) = &self.compile {
            for command in &compile.commands {
                self.check_program(command)?;
            }
            let words = compile.commands.iter().flatten().chain(compile.env.values());
            let without_cache = [Placeholder::Program, Placeholder::Cache];
            let missing = if compile.warm.is_some() { &without_cache[..1] } else { &without_cache };
            self.check_places("compile", words, missing)?;
        }
        Ok(())
    }

    fn check_program(&self, command: &[Template]) -> Result<(), LanguageError> {
        let first = command.first().map_or("", Template::as_str);
        let helper = self.compile.as_ref().and_then(|compile| compile.helper.as_deref());
        let known = self.toolchain.programs.contains_key(first)
            || helper == Some(first)
            || first.starts_with('{');
        if known {
            return Ok(());
        }
        let words: Vec<&str> = command.iter().map(Template::as_str).collect();
        Err(LanguageError::UnknownProgram {
            language: self.name.clone(),
            first: first.to_owned(),
            command: words.join(" "),
        })
    }

    fn check_places<'a>(
        &self,
        section: &'static str,
        words: impl Iterator<Item = &'a Template>,
        without_value: &[Placeholder],
    ) -> Result<(), LanguageError> {
        let used: BTreeSet<Placeholder> = words.flat_map(Template::placeholders).collect();
        match without_value.iter().copied().find(|placeholder| used.contains(placeholder)) {
            None => Ok(()),
            Some(placeholder) => {
                Err(LanguageError::Misplaced { language: self.name.clone(), section, placeholder })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
name = "x"
title = "X"
aliases = []
extensions = ["x"]
[source]
name = "main.x"
[toolchain]
main = "xc"
install = "apt-get install x"
[toolchain.programs]
xc = ["xc"]
[toolchain.version]
arguments = ["--version"]
pattern = '([0-9.]+)'
[compile]
commands = [["xc", "{source}", "{out}/main"]]
outputs = ["main"]
[run]
command = ["{program}/main"]
"#;

    fn error(from: &str, to: &str) -> String {
        assert!(GOOD.contains(from), "{from}");
        Language::parse("x.toml", &GOOD.replace(from, to)).unwrap_err().to_string()
    }

    #[test]
    fn a_good_file_loads_and_survives_a_round_trip() {
        let language = Language::parse("x.toml", GOOD).unwrap();
        assert!(language.is_called("x"));
        let json = serde_json::to_string(&language).unwrap();
        assert_eq!(serde_json::from_str::<Language>(&json).unwrap(), language);
    }

    #[test]
    fn mistakes_are_named() {
        for (from, to, part) in [
            ("title", "titel", "unknown field `titel`"),
            ("\"x\"\ntitle", "\"x\"\nname = \"y\"\ntitle", "duplicate key"),
            ("{source}", "{sauce}", "unknown placeholder `{sauce}`"),
            ("([0-9.]+)", "([0-9.]+", "is not a regular expression"),
            ("[run]", "[run]\nlimits = { memory = \"much\" }", "`much` is not a size"),
            ("main = \"xc\"", "main = \"cc\"", "`toolchain.main` is `cc`"),
            ("[[\"xc\"", "[[\"yc\"", "x: the command `yc {source} {out}/main` starts with `yc`"),
            ("[[\"xc\", ", "[[], [\"xc\", ", "x: the command `` starts with ``"),
            ("{program}/main", "{out}/main", "x: {out} has no value in `run`"),
            ("{out}/main\"", "{cache}/main\"", "x: {cache} has no value in `compile`"),
        ] {
            let error = error(from, to);
            assert!(error.contains(part), "{part}: {error}");
        }
    }

    #[test]
    fn syntax_errors_have_file_and_line() {
        let error = error("title = \"X\"", "title = X");
        assert!(error.contains("x.toml") && error.contains("line 3"), "{error}");
    }
}
