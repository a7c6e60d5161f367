//! The languages that fumehood knows. Each file is read when it is first asked for, since every
//! start of the command line would otherwise pay for all of them.

use std::{path::Path, sync::OnceLock};

use super::spec::Language;
use crate::nearest;

/// A language file and the names it goes by. The names stand here a second time so that finding
/// one language does not read the others; a test compares them with the files.
struct File {
    name: &'static str,
    aliases: &'static [&'static str],
    extensions: &'static [&'static str],
    text: &'static str,
}

macro_rules! file {
    ($name:literal, $aliases:expr, $extensions:expr) => {
        File {
            name: $name,
            aliases: &$aliases,
            extensions: &$extensions,
            text: include_str!(concat!("../../../../languages/", $name, ".toml")),
        }
    };
}

const FILES: [File; 9] = [
    file!("python", ["py", "python3"], ["py", "pyw"]),
    file!("javascript", ["js", "node", "nodejs"], ["js", "mjs", "cjs"]),
    file!("typescript", ["ts"], ["ts", "mts", "cts", "tsx"]),
    file!("go", ["golang"], ["go"]),
    file!("rust", ["rs"], ["rs"]),
    file!("java", ["jdk"], ["java"]),
    file!("bash", ["sh", "shell"], ["sh", "bash"]),
    file!("c", ["gcc"], ["c"]),
    file!("cpp", ["c++", "cxx", "cc", "g++"], ["cpp", "cc", "cxx", "c++"]),
];

static BUILTIN: Registry = Registry { files: &FILES, read: [const { OnceLock::new() }; 9] };

/// The known languages.
pub struct Registry {
    files: &'static [File; 9],
    read: [OnceLock<Language>; 9],
}

/// A language that is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown language `{given}`; {}", advice(.near))]
pub struct UnknownLanguage {
    /// The name as given.
    pub given: String,
    /// Known languages with a similar name, nearest first.
    pub near: Vec<&'static str>,
}

fn advice(near: &[&str]) -> String {
    if near.is_empty() {
        let names: Vec<&str> = BUILTIN.names().collect();
        return format!(
            "the languages are {} (`fumehood languages` lists their other names)",
            names.join(", ")
        );
    }
    let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
    format!("did you mean {}? `fumehood languages` lists them all", near.join(" or "))
}

impl Registry {
    /// A number that changes whenever one of the language files does.
    pub const EDITION: u64 = edition(&FILES);

    /// The languages that come with fumehood.
    pub fn builtin() -> &'static Registry {
        &BUILTIN
    }

    /// Names of all languages, without reading their files.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.files.iter().map(|file| file.name)
    }

    /// The language with this name or alias; upper and lower case are the same.
    pub fn find(&self, given: &str) -> Result<&Language, UnknownLanguage> {
        let name = given.trim().to_ascii_lowercase();
        match self.files.iter().position(|file| file.is_called(&name)) {
            Some(index) => Ok(self.language(index)),
            None => Err(UnknownLanguage { given: given.to_owned(), near: self.near(&name) }),
        }
    }

    /// The language that files with this ending are in.
    pub fn by_path(&self, path: &Path) -> Option<&Language> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        let index =
            self.files.iter().position(|file| file.extensions.contains(&extension.as_str()))?;
        Some(self.language(index))
    }

    /// Every language, in a fixed order. Reads all files.
    pub fn all(&self) -> impl Iterator<Item = &Language> {
        (0..self.files.len()).map(|index| self.language(index))
    }

    fn language(&self, index: usize) -> &Language {
        let file = &self.files[index];
        self.read[index].get_or_init(|| {
            Language::parse(file.name, file.text)
                .expect("the file is part of the program, and a test reads every one of them")
        })
    }

    fn near(&self, name: &str) -> Vec<&'static str> {
        let known = self.files.iter().flat_map(File::names);
        let mut near = Vec::new();
        for called in nearest(name, known) {
            let name = self.files.iter().find(|file| file.is_called(called)).map(|file| file.name);
            near.extend(name.filter(|name| !near.contains(name)));
        }
        near
    }
}

impl File {
    fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    fn is_called(&self, name: &str) -> bool {
        self.names().any(|called| called == name)
    }
}

/// FNV-1a over all texts: it tells editions apart, and nothing depends on it being hard to forge.
const fn edition(files: &[File]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut file = 0;
    while file < files.len() {
        let text = files[file].text.as_bytes();
        let mut index = 0;
        while index < text.len() {
            hash = (hash ^ text[index] as u64).wrapping_mul(0x0100_0000_01b3);
            index += 1;
        }
        file += 1;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_loads_and_goes_by_the_names_in_the_table() {
        for (file, language) in FILES.iter().zip(BUILTIN.all()) {
            assert_eq!(file.name, language.name);
            assert_eq!(file.aliases, language.aliases, "{}", file.name);
            assert_eq!(file.extensions, language.extensions, "{}", file.name);
        }
        assert_eq!(BUILTIN.all().count(), 9);
    }

    #[test]
    fn no_name_and_no_ending_means_two_languages() {
        let mut names: Vec<&str> = FILES.iter().flat_map(File::names).collect();
        let mut endings: Vec<&str> =
            FILES.iter().flat_map(|file| file.extensions).copied().collect();
        for list in [&mut names, &mut endings] {
            let all = list.len();
            list.sort_unstable();
            list.dedup();
            assert_eq!(list.len(), all);
        }
    }

    #[test]
    fn languages_are_found_by_name_alias_and_path() {
        for (given, name) in [
            ("python", "python"),
            ("PY", "python"),
            ("golang", "go"),
            ("c++", "cpp"),
            ("sh", "bash"),
        ] {
            assert_eq!(BUILTIN.find(given).unwrap().name, name);
        }
        for (path, name) in
            [("a/b.py", "python"), ("X.JAVA", "java"), ("x.test.ts", "typescript"), ("x.cc", "cpp")]
        {
            assert_eq!(BUILTIN.by_path(Path::new(path)).unwrap().name, name);
        }
        for path in ["Makefile", ".py", "x.", "x.docx"] {
            assert!(BUILTIN.by_path(Path::new(path)).is_none(), "{path}");
        }
    }

    #[test]
    fn an_unknown_name_says_what_to_type() {
        for (given, message) in [
            (
                "pyhton",
                "unknown language `pyhton`; did you mean `python`? `fumehood languages` lists them \
                 all",
            ),
            (
                "brainfuck",
                "unknown language `brainfuck`; the languages are python, javascript, typescript, \
                 go, rust, java, bash, c, cpp (`fumehood languages` lists their other names)",
            ),
        ] {
            assert_eq!(BUILTIN.find(given).unwrap_err().to_string(), message);
        }
        let near = BUILTIN.find("javascrpt").unwrap_err().near;
        assert_eq!(near.first(), Some(&"javascript"));
    }
}
