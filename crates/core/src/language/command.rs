//! Commands and variables of a language, filled in with the values of one plan.

use std::collections::BTreeMap;

use super::template::{Placeholder, Template};

/// What placeholders and program names stand for. What a language does not use may be absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values {
    /// `{source}`: path of the source file in the box.
    pub source: Option<String>,
    /// `{out}`: directory for outputs.
    pub out: Option<String>,
    /// `{program}`: directory where the outputs are when the program runs.
    pub program: Option<String>,
    /// `{cache}`: directory of the warmed compiler cache.
    pub cache: Option<String>,
    /// `{memory_mib}`: memory of the box in mebibytes.
    pub memory_mib: Option<u64>,
    /// `{cpus}`: cores of the box, rounded up.
    pub cpus: Option<u32>,
    /// `{class}`: the class that is run.
    pub class: Option<String>,
    /// `{tmp}`: the private temporary directory of the box.
    pub tmp: Option<String>,
    /// What the first word of a command stands for: names of the toolchain's programs and of
    /// helpers, each with the path (or the bare name) of the program in the box.
    pub programs: BTreeMap<String, String>,
}

/// Why a command could not be filled in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpandError {
    /// A placeholder without a value.
    #[error("`{text}` needs a value for {placeholder}, and none was given: set it in `Values`")]
    MissingValue {
        /// The placeholder.
        placeholder: Placeholder,
        /// Where it stands.
        text: String,
    },
    /// A program that is not in [`Values::programs`].
    #[error("the program `{name}` has no path: put it into `Values::programs`")]
    MissingProgram {
        /// The name, as in the language's file.
        name: String,
    },
    /// A command without any word; a language that was loaded has none.
    #[error("a command has no words: its first word must name a program")]
    Empty,
}

impl Values {
    fn expand(&self, template: &Template) -> Result<String, ExpandError> {
        template.expand(|placeholder| {
            let value = match placeholder {
                Placeholder::Source => self.source.clone(),
                Placeholder::Out => self.out.clone(),
                Placeholder::Program => self.program.clone(),
                Placeholder::Cache => self.cache.clone(),
                Placeholder::MemoryMib => self.memory_mib.map(|number| number.to_string()),
                Placeholder::Cpus => self.cpus.map(|number| number.to_string()),
                Placeholder::Class => self.class.clone(),
                Placeholder::Tmp => self.tmp.clone(),
            };
            value.ok_or_else(|| ExpandError::MissingValue {
                placeholder,
                text: template.as_str().to_owned(),
            })
        })
    }
}

/// The arguments of one command. The first word is a program of [`Values::programs`] unless it
/// holds a placeholder.
pub fn expand_command(command: &[Template], values: &Values) -> Result<Vec<String>, ExpandError> {
    let (first, rest) = command.split_first().ok_or(ExpandError::Empty)?;
    let program = if first.placeholders().is_empty() {
        let name = first.as_str();
        values
            .programs
            .get(name)
            .cloned()
            .ok_or_else(|| ExpandError::MissingProgram { name: name.to_owned() })?
    } else {
        values.expand(first)?
    };
    let mut argv = vec![program];
    for word in rest {
        argv.push(values.expand(word)?);
    }
    Ok(argv)
}

/// The variables of a step.
pub fn expand_env(
    env: &BTreeMap<String, Template>,
    values: &Values,
) -> Result<BTreeMap<String, String>, ExpandError> {
    env.iter().map(|(name, value)| Ok((name.clone(), values.expand(value)?))).collect()
}

/// One command that does the given ones in sequence and stops at the first that fails. A single
/// one stays as it is; several go through `/bin/sh`, every word quoted.
pub fn in_sequence(mut commands: Vec<Vec<String>>) -> Vec<String> {
    if commands.len() == 1 {
        return commands.remove(0);
    }
    let lines: Vec<String> = commands
        .iter()
        .map(|argv| argv.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "))
        .collect();
    vec!["/bin/sh".to_owned(), "-ec".to_owned(), lines.join("\n")]
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<Template> {
        words.iter().map(|word| word.parse().unwrap()).collect()
    }

    fn values() -> Values {
        Values {
            source: Some("/src/a.c".to_owned()),
            memory_mib: Some(512),
            programs: BTreeMap::from([("cc".to_owned(), "/usr/bin/gcc".to_owned())]),
            ..Values::default()
        }
    }

    #[test]
    fn programs_and_placeholders_are_filled_in() {
        let command = words(&["cc", "-m{memory_mib}", "{source}"]);
        let argv = expand_command(&command, &values()).unwrap();
        assert_eq!(argv, ["/usr/bin/gcc", "-m512", "/src/a.c"]);
    }

    #[test]
    fn what_is_missing_is_named() {
        for (command, message) in [
            (
                words(&["cc", "{out}/main"]),
                "`{out}/main` needs a value for {out}, and none was given: set it in `Values`",
            ),
            (words(&["ld"]), "the program `ld` has no path: put it into `Values::programs`"),
            (words(&[]), "a command has no words: its first word must name a program"),
        ] {
            let error = expand_command(&command, &values()).unwrap_err();
            assert_eq!(error.to_string(), message);
        }
    }

    #[test]
    fn several_commands_become_one_that_quotes_every_word() {
        let list = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(in_sequence(vec![list(&["a", "b c"])]), ["a", "b c"]);
        let argv = in_sequence(vec![list(&["a", "it's $x"]), list(&["b"])]);
        assert_eq!(argv, ["/bin/sh", "-ec", "'a' 'it'\\''s $x'\n'b'"]);
    }
}
