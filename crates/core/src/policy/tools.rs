//! What becomes of a tool that an agent wants to use: let through, carried out in a box, refused, or
//! left to the agent's own rules. Pure, so that whoever asks gets the same answer.

use std::{fmt, str::FromStr};

use serde::{Serialize, Serializer};

use super::{Policy, Sourced};
use crate::source::Origin;

/// Which tools may be used, by the names that the agent gives them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tools {
    /// Tools that need no further question.
    pub allow: Vec<Sourced<ToolPattern>>,
    /// Tools that are refused. They win.
    pub deny: Vec<Sourced<ToolPattern>>,
    /// Tools whose command is carried out in a box instead.
    pub rewrite: Vec<Sourced<ToolPattern>>,
}

/// What becomes of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolVerdict {
    /// It may be used as it is.
    Allow,
    /// It may not be used.
    Deny,
    /// It may be used, if its command runs in a box.
    Rewrite,
    /// No rule names it: the agent asks as it usually does.
    Pass,
}

impl ToolVerdict {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            ToolVerdict::Allow => "allow",
            ToolVerdict::Deny => "deny",
            ToolVerdict::Rewrite => "rewrite",
            ToolVerdict::Pass => "pass",
        }
    }
}

/// An answer about a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolDecision<'a> {
    /// What becomes of it.
    pub verdict: ToolVerdict,
    /// The pattern that decides and where it stands; absent if none names the tool.
    pub rule: Option<(&'a ToolPattern, &'a Origin)>,
}

impl Policy {
    /// What becomes of a tool. The tightest list that names it counts: deny, then rewrite, then
    /// allow.
    pub fn tool_decision(&self, tool: &str) -> ToolDecision<'_> {
        let lists = [
            (ToolVerdict::Deny, &self.tools.deny),
            (ToolVerdict::Rewrite, &self.tools.rewrite),
            (ToolVerdict::Allow, &self.tools.allow),
        ];
        for (verdict, list) in lists {
            if let Some(found) = list.iter().find(|pattern| pattern.value.matches(tool)) {
                return ToolDecision { verdict, rule: Some((&found.value, &found.origin)) };
            }
        }
        ToolDecision { verdict: ToolVerdict::Pass, rule: None }
    }
}

/// A pattern for the names of tools: a name, in which `*` stands for any text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolPattern(String);

/// Why a text names no tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolPatternError {
    /// Nothing in it.
    #[error("the name is empty; write for example Bash or mcp__fumehood__*")]
    Empty,
    /// Longer than any name.
    #[error("the name is longer than {most} characters; shorten it, `*` stands for any text")]
    Long {
        /// The most there may be.
        most: usize,
    },
    /// A character that no name has.
    #[error(
        "`{given}` is no name of a tool; write letters, digits and any of `_ - . : /`, and `*` for any text"
    )]
    Character {
        /// The text as given, made harmless.
        given: String,
    },
}

impl ToolPattern {
    const MOST: usize = 256;

    /// `*`: every tool.
    pub fn any() -> ToolPattern {
        ToolPattern("*".to_owned())
    }

    /// Whether this tool is meant.
    pub fn matches(&self, name: &str) -> bool {
        wildcard(self.0.as_bytes(), name.as_bytes())
    }

    /// Whether it means everything that the other one means. A star of the other one is matched by
    /// a star only, so the answer may be no where yes were true, and never the other way round.
    pub fn covers(&self, other: &ToolPattern) -> bool {
        wildcard(self.0.as_bytes(), other.0.as_bytes())
    }
}

/// Matches text against a pattern in which `*` stands for any text. Goes back to the last star
/// only, so the time is bounded by the product of the lengths.
fn wildcard(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut read) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while read < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, read));
                at += 1;
            }
            // A star in the text stands for any text, which no single character is.
            Some(wanted) if *wanted == text[read] && *wanted != b'*' => {
                at += 1;
                read += 1;
            }
            _ => match &mut star {
                Some((after, taken)) => {
                    *taken += 1;
                    (at, read) = (*after + 1, *taken);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|left| *left == b'*')
}

impl FromStr for ToolPattern {
    type Err = ToolPatternError;

    fn from_str(text: &str) -> Result<ToolPattern, ToolPatternError> {
        if text.is_empty() {
            return Err(ToolPatternError::Empty);
        }
        if text.len() > ToolPattern::MOST {
            return Err(ToolPatternError::Long { most: ToolPattern::MOST });
        }
        match text.chars().all(|c| c.is_ascii_alphanumeric() || "_-.:/*".contains(c)) {
            true => Ok(ToolPattern(text.to_owned())),
            false => Err(ToolPatternError::Character { given: text.escape_debug().to_string() }),
        }
    }
}

impl fmt::Display for ToolPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for ToolPattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pattern(text: &str) -> ToolPattern {
        text.parse().unwrap()
    }

    #[test]
    fn stars_stand_for_any_text() {
        for (text, name, meant) in [
            ("Bash", "Bash", true),
            ("Bash", "BashOutput", false),
            ("bash", "Bash", false),
            ("mcp__fumehood__*", "mcp__fumehood__sandboxed_code_run", true),
            ("mcp__fumehood__*", "mcp__fumehood", false),
            ("mcp__*__run", "mcp__a__b__run", true),
            ("mcp__*__run", "mcp__a__runs", false),
            ("*", "", true),
            ("*a*b*", "xxaxxbxx", true),
            ("*a*b*", "xxbxxaxx", false),
        ] {
            assert_eq!(pattern(text).matches(name), meant, "{text} {name}");
        }
        for bad in ["", "a b", "Bash(rm)", "a\nb", &"a".repeat(257)] {
            assert!(bad.parse::<ToolPattern>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_wider_pattern_covers_a_narrower_one() {
        assert!(pattern("*").covers(&pattern("mcp__*")));
        assert!(pattern("mcp__*").covers(&pattern("mcp__a__*")));
        assert!(pattern("Read").covers(&pattern("Read")));
        assert!(!pattern("mcp__a*").covers(&pattern("mcp__*")));
        assert!(!pattern("a").covers(&pattern("*")));
    }

    proptest! {
        #[test]
        fn what_is_covered_is_matched(
            wide in "[ab*]{1,6}", narrow in "[ab*]{1,6}", fill in "[abc]{0,4}",
        ) {
            if pattern(&wide).covers(&pattern(&narrow)) {
                let name = narrow.replace('*', &fill);
                prop_assert!(pattern(&wide).matches(&name), "{wide} {narrow} {name}");
            }
        }
    }
}
