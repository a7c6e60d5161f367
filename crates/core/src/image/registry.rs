//! The images that fumehood knows. As with languages, a file is read when it is first asked for.

use std::sync::OnceLock;

use super::spec::ImageSpec;
use crate::nearest;

/// An image file, its name and its languages. They stand here a second time so that the image of a
/// language is found without reading any; a test compares them with the files.
struct File {
    name: &'static str,
    languages: &'static [&'static str],
    text: &'static str,
}

macro_rules! file {
    ($name:literal, $languages:expr) => {
        File {
            name: $name,
            languages: &$languages,
            text: include_str!(concat!("../../../../images/", $name, ".toml")),
        }
    };
}

const FILES: [File; 8] = [
    file!("base", ["bash"]),
    file!("python", ["python"]),
    file!("javascript", ["javascript", "typescript"]),
    file!("go", ["go"]),
    file!("rust", ["rust"]),
    file!("java", ["java"]),
    file!("c", ["c"]),
    file!("cpp", ["cpp"]),
];

/// The image for commands, and for languages that have none of their own.
const BASE: &str = "base";

static BUILTIN: ImageRegistry =
    ImageRegistry { files: &FILES, read: [const { OnceLock::new() }; 8] };

/// The known images.
pub struct ImageRegistry {
    files: &'static [File; 8],
    read: [OnceLock<ImageSpec>; 8],
}

/// An image that is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown image `{given}`; {}", advice(.near))]
pub struct UnknownImage {
    /// The name as given.
    pub given: String,
    /// Known images with a similar name, nearest first.
    pub near: Vec<&'static str>,
}

fn advice(near: &[&str]) -> String {
    match near.first() {
        Some(name) => format!("did you mean `{name}`? `fumehood image ls` lists them all"),
        None => {
            let names: Vec<&str> = BUILTIN.names().collect();
            format!("the images are {}", names.join(", "))
        }
    }
}

impl ImageRegistry {
    /// The images that come with fumehood.
    pub fn builtin() -> &'static ImageRegistry {
        &BUILTIN
    }

    /// Names of all images, without reading their files.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.files.iter().map(|file| file.name)
    }

    /// The name of the image of a language, or of plain commands.
    pub fn name_for(&self, language: Option<&str>) -> &'static str {
        let serves = |file: &&File| language.is_some_and(|name| file.languages.contains(&name));
        self.files.iter().find(serves).map_or(BASE, |file| file.name)
    }

    /// The image with this name, or that of the language with this name.
    pub fn find(&self, given: &str) -> Result<&ImageSpec, UnknownImage> {
        let by_name = |name: &str| self.files.iter().position(|file| file.name == name);
        let by_language =
            |name: &str| self.files.iter().position(|file| file.languages.contains(&name));
        match by_name(given).or_else(|| by_language(given)) {
            Some(index) => Ok(self.spec(index)),
            None => {
                let near = nearest(given, self.files.iter().map(|file| file.name));
                Err(UnknownImage { given: given.to_owned(), near })
            }
        }
    }

    /// Every image, in a fixed order. Reads all files.
    pub fn all(&self) -> impl Iterator<Item = &ImageSpec> {
        (0..self.files.len()).map(|index| self.spec(index))
    }

    fn spec(&self, index: usize) -> &ImageSpec {
        let file = &self.files[index];
        self.read[index].get_or_init(|| {
            ImageSpec::parse(file.name, file.text)
                .expect("the file is part of the program, and a test reads every one of them")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Registry;

    #[test]
    fn every_file_loads_and_says_what_the_table_says() {
        for (file, spec) in FILES.iter().zip(BUILTIN.all()) {
            assert_eq!(file.name, spec.name);
            assert_eq!(file.languages, spec.languages, "{}", file.name);
            assert!(!spec.description.is_empty() && spec.epoch > 0, "{}", file.name);
        }
    }

    #[test]
    fn every_language_has_one_image() {
        for language in Registry::builtin().names() {
            let serving = FILES.iter().filter(|file| file.languages.contains(&language)).count();
            assert_eq!(serving, 1, "{language}");
        }
        for file in &FILES {
            for language in file.languages {
                assert!(Registry::builtin().find(language).is_ok(), "{language}");
            }
        }
        assert_eq!(BUILTIN.name_for(Some("typescript")), "javascript");
        assert_eq!(BUILTIN.name_for(Some("bash")), "base");
        assert_eq!(BUILTIN.name_for(None), "base");
    }

    #[test]
    fn images_are_found_by_their_name_and_by_their_language() {
        assert_eq!(BUILTIN.find("python").unwrap().name, "python");
        assert_eq!(BUILTIN.find("bash").unwrap().name, "base");
        assert_eq!(
            BUILTIN.find("pyton").unwrap_err().to_string(),
            "unknown image `pyton`; did you mean `python`? `fumehood image ls` lists them all"
        );
        let unknown = BUILTIN.find("something-else").unwrap_err().to_string();
        assert!(unknown.contains("the images are base, python"), "{unknown}");
    }
}
