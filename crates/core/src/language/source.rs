//! How the source file is called inside the box, and which class it holds.

use serde::{Deserialize, Serialize};

/// Declarations stand at the start of a file; the rest of a huge one is not searched.
const SEARCHED_BYTES: usize = 64 * 1024;
/// The longest file name that Linux takes.
const LONGEST_NAME: usize = 255;

/// A regular expression that compiles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pattern(String);

impl Pattern {
    fn regex(&self) -> Option<regex_lite::Regex> {
        regex_lite::Regex::new(&self.0).ok()
    }

    /// Whether it is found in the text.
    pub fn is_match(&self, text: &str) -> bool {
        self.regex().is_some_and(|regex| regex.is_match(text))
    }

    /// Group 1 of the first place where it is found.
    pub fn capture<'t>(&self, text: &'t str) -> Option<&'t str> {
        Some(self.regex()?.captures(text)?.get(1)?.as_str())
    }
}

/// Why a text is not a pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}` is not a regular expression: {reason}")]
pub struct PatternError {
    pattern: String,
    reason: String,
}

impl TryFrom<String> for Pattern {
    type Error = PatternError;

    fn try_from(pattern: String) -> Result<Self, PatternError> {
        match regex_lite::Regex::new(&pattern) {
            Ok(_) => Ok(Pattern(pattern)),
            Err(error) => Err(PatternError { pattern, reason: error.to_string() }),
        }
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> String {
        pattern.0
    }
}

/// How the source file is called inside the box.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceSpec {
    /// The name when nothing else decides.
    pub name: String,
    /// The name that the user's file has is kept if this is found in it.
    #[serde(default)]
    pub keep: Option<Pattern>,
    /// Names that follow from what is in the source; the first rule that fits decides.
    #[serde(default)]
    pub rules: Vec<SourceRule>,
    /// Group 1 is the package that stands before the class name.
    #[serde(default)]
    pub package: Option<Pattern>,
}

/// A name that follows from what is in the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceRule {
    /// Must be found in the source.
    pub pattern: Pattern,
    /// Must not be found in the source.
    #[serde(default)]
    pub unless: Option<Pattern>,
    /// The name; `$1` is group 1 of the pattern.
    pub name: String,
}

/// The name of a source file and of the class in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceName {
    /// File name inside the box: one plain component.
    pub file: String,
    /// Its stem, behind its package where the language has packages.
    pub class: String,
}

impl SourceSpec {
    /// The name for this source; `given` is the name of the user's file, if there was one.
    pub fn name_for(&self, source: &[u8], given: Option<&str>) -> SourceName {
        let kept = given.filter(|name| {
            is_plain(name) && self.keep.as_ref().is_some_and(|keep| keep.is_match(name))
        });
        if let Some(name) = kept
            && self.package.is_none()
        {
            return SourceName { file: name.to_owned(), class: stem(name).to_owned() };
        }
        let text = String::from_utf8_lossy(&source[..source.len().min(SEARCHED_BYTES)]);
        let file = kept
            .map(str::to_owned)
            .or_else(|| self.rules.iter().find_map(|rule| rule.name_for(&text)))
            .unwrap_or_else(|| self.name.clone());
        let class = match self.package.as_ref().and_then(|package| package.capture(&text)) {
            Some(package) => format!("{package}.{}", stem(&file)),
            None => stem(&file).to_owned(),
        };
        SourceName { file, class }
    }
}

impl SourceRule {
    fn name_for(&self, text: &str) -> Option<String> {
        if self.unless.as_ref().is_some_and(|unless| unless.is_match(text)) {
            return None;
        }
        let name = if self.name.contains("$1") {
            self.name.replace("$1", self.pattern.capture(text)?)
        } else if self.pattern.is_match(text) {
            self.name.clone()
        } else {
            return None;
        };
        Some(name).filter(|name| is_plain(name))
    }
}

fn stem(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name,
    }
}

/// Names a file in its own directory and nothing else.
fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name != "."
        && name != ".."
        && name.len() <= LONGEST_NAME
        && !name.contains(|c: char| c == '/' || c.is_control())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Registry;

    fn name(language: &str, source: &str, given: Option<&str>) -> SourceName {
        Registry::builtin().find(language).unwrap().source.name_for(source.as_bytes(), given)
    }

    #[test]
    fn java_files_are_named_after_their_class() {
        for (source, file, class) in [
            ("public class Hello { }", "Hello.java", "Hello"),
            ("package a.b;\npublic final class Hi {}", "Hi.java", "a.b.Hi"),
            ("class A {}\npublic record B(int x) {}", "B.java", "B"),
            (
                "class Node {}\nclass App {\n  static class Inner {}\n  \
                 public static void main(String[] a) {}\n}\n",
                "App.java",
                "App",
            ),
            (
                "class App {\n  static void main(String[] a) {}\n}\nclass Helper {}\n",
                "App.java",
                "App",
            ),
            ("  class Far {\n    public static void main(String... a) {} }", "Far.java", "Far"),
            ("// public class Comment\nclass Real { static void main() {} }", "Real.java", "Real"),
            (
                "public class Main {\n  public static class Inner {}\n  \
                 public static void main(String[] a) {}\n}",
                "Main.java",
                "Main",
            ),
            ("void main() { }", "Main.java", "Main"),
            ("@Deprecated public class Marked { }", "Marked.java", "Marked"),
        ] {
            let expected = SourceName { file: file.to_owned(), class: class.to_owned() };
            assert_eq!(name("java", source, Some("x.java")), expected, "{source}");
        }
    }

    #[test]
    fn given_names_are_kept_where_the_language_does_not_care() {
        assert_eq!(name("python", "", Some("a-b c.py")).file, "a-b c.py");
        assert_eq!(name("python", "", None).file, "main.py");
        assert_eq!(name("go", "", Some("tool.go")).file, "tool.go");
        assert_eq!(name("go", "", Some("tool_test.go")).file, "main.go");
        assert_eq!(name("go", "", Some("tool_windows.go")).file, "main.go");
        assert_eq!(name("c", "", Some("noextension")).file, "main.c");
        assert_eq!(name("cpp", "", Some("x.cc")).file, "x.cc");
    }

    #[test]
    fn a_name_never_leaves_its_directory() {
        for given in ["../x.py", "/etc/x.py", "..", ".", "", "a\0.py", "a\n.py"] {
            assert_eq!(name("python", "", Some(given)).file, "main.py", "{given:?}");
        }
        assert_eq!(name("python", "", Some(&"x".repeat(256))).file, "main.py");
    }

    #[test]
    fn javascript_modules_are_recognized() {
        for (source, file) in [
            ("import fs from 'node:fs'\n", "main.mjs"),
            ("import 'node:fs'\n", "main.mjs"),
            ("import {\n  a,\n} from './x.js'\n", "main.mjs"),
            ("export default 3\n", "main.mjs"),
            ("const fs = require('fs')\n", "main.js"),
            ("const s = `\nimport x from 'y'\n`; require('fs')\n", "main.js"),
            ("import('fs').then(console.log)\n", "main.js"),
        ] {
            assert_eq!(name("javascript", source, None).file, file, "{source}");
        }
    }

    #[test]
    fn source_that_is_not_text_has_a_name_too() {
        let java = Registry::builtin().find("java").unwrap();
        assert_eq!(java.source.name_for(&[0xff; 300_000], None).file, "Main.java");
    }
}
