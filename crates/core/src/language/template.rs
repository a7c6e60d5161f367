//! Words with placeholders in them, as they stand in the commands of a language.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::nearest;

/// Something that is only known when a plan is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Placeholder {
    /// Path of the source file in the box.
    Source,
    /// Directory that takes the outputs of a compile step.
    Out,
    /// Directory where the outputs are mounted, read-only, when the program runs.
    Program,
    /// Directory of the compiler's warmed cache, read-only.
    Cache,
    /// Memory of the box in mebibytes.
    MemoryMib,
    /// Cores of the box, a whole number, rounded up.
    Cpus,
    /// The class that is run: the stem of the source name, behind its package.
    Class,
    /// The private temporary directory of the box.
    Tmp,
}

impl Placeholder {
    /// Every placeholder.
    pub const ALL: &'static [Placeholder] = &[
        Placeholder::Source,
        Placeholder::Out,
        Placeholder::Program,
        Placeholder::Cache,
        Placeholder::MemoryMib,
        Placeholder::Cpus,
        Placeholder::Class,
        Placeholder::Tmp,
    ];

    /// The name between the braces.
    pub const fn name(self) -> &'static str {
        match self {
            Placeholder::Source => "source",
            Placeholder::Out => "out",
            Placeholder::Program => "program",
            Placeholder::Cache => "cache",
            Placeholder::MemoryMib => "memory_mib",
            Placeholder::Cpus => "cpus",
            Placeholder::Class => "class",
            Placeholder::Tmp => "tmp",
        }
    }

    fn named(name: &str) -> Option<Placeholder> {
        Placeholder::ALL.iter().copied().find(|placeholder| placeholder.name() == name)
    }
}

impl fmt::Display for Placeholder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{}}}", self.name())
    }
}

/// Why a text is not a template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// The name between the braces is not one of [`Placeholder::ALL`].
    #[error("unknown placeholder `{{{name}}}` in `{text}`; {}", suggestion(.name))]
    Unknown {
        /// The name as given.
        name: String,
        /// The whole text.
        text: String,
    },
    /// A brace without its partner.
    #[error("a single brace in `{text}`: placeholders are written as for example {{source}}")]
    SingleBrace {
        /// The whole text.
        text: String,
    },
}

fn suggestion(name: &str) -> String {
    let names = || Placeholder::ALL.iter().map(|placeholder| placeholder.name());
    match nearest(name, names()).first() {
        Some(near) => format!("did you mean {{{near}}}?"),
        None => format!("the placeholders are {}", names().collect::<Vec<_>>().join(", ")),
    }
}

/// A text with placeholders, all of them known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Template(String);

impl Template {
    /// The text as written, placeholders and all.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The placeholders in it, in order.
    pub fn placeholders(&self) -> Vec<Placeholder> {
        let mut found = Vec::new();
        let never_fails = self.expand(|placeholder| {
            found.push(placeholder);
            Ok::<_, std::convert::Infallible>(String::new())
        });
        let Ok(_) = never_fails;
        found
    }

    /// The text with every placeholder replaced by what `value` says, in one pass: a value that
    /// itself looks like a placeholder stays as it is.
    pub fn expand<E>(
        &self,
        mut value: impl FnMut(Placeholder) -> Result<String, E>,
    ) -> Result<String, E> {
        let mut expanded = String::with_capacity(self.0.len());
        let mut rest = self.0.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            expanded.push_str(before);
            let (name, after) = after.split_once('}').unwrap_or((after, ""));
            if let Some(placeholder) = Placeholder::named(name) {
                expanded.push_str(&value(placeholder)?);
            }
            rest = after;
        }
        expanded.push_str(rest);
        Ok(expanded)
    }
}

impl FromStr for Template {
    type Err = TemplateError;

    fn from_str(text: &str) -> Result<Self, TemplateError> {
        let single = || TemplateError::SingleBrace { text: text.to_owned() };
        let mut rest = text;
        while let Some(start) = rest.find(['{', '}']) {
            let inside = rest[start..].strip_prefix('{').ok_or_else(single)?;
            let (name, after) = inside.split_once('}').ok_or_else(single)?;
            if Placeholder::named(name).is_none() {
                let (name, text) = (name.to_owned(), text.to_owned());
                return Err(TemplateError::Unknown { name, text });
            }
            rest = after;
        }
        Ok(Template(text.to_owned()))
    }
}

impl TryFrom<String> for Template {
    type Error = TemplateError;

    fn try_from(text: String) -> Result<Self, TemplateError> {
        text.parse()
    }
}

impl From<Template> for String {
    fn from(template: Template) -> String {
        template.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn placeholders_are_found_and_replaced_once() {
        let template: Template = "-o {out}/main {source}".parse().unwrap();
        assert_eq!(template.placeholders(), [Placeholder::Out, Placeholder::Source]);
        let expanded = template.expand(|placeholder| {
            match placeholder {
                Placeholder::Out => Ok("{source}"),
                _ => Ok::<_, ()>("x.c"),
            }
            .map(str::to_owned)
        });
        assert_eq!(expanded.unwrap(), "-o {source}/main x.c");
    }

    #[test]
    fn errors_are_exact() {
        for (text, message) in [
            ("{sorce}", "unknown placeholder `{sorce}` in `{sorce}`; did you mean {source}?"),
            (
                "{everything}",
                "unknown placeholder `{everything}` in `{everything}`; the placeholders are \
                 source, out, program, cache, memory_mib, cpus, class, tmp",
            ),
            ("a}", "a single brace in `a}`: placeholders are written as for example {source}"),
            ("{out", "a single brace in `{out`: placeholders are written as for example {source}"),
        ] {
            assert_eq!(text.parse::<Template>().unwrap_err().to_string(), message);
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[{}a-z]*") {
            if let Ok(template) = text.parse::<Template>() {
                template.placeholders();
            }
        }
    }
}
