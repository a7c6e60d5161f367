//! One part of a project: a directory in one language, with the names it has in a Dockerfile.

use super::files::Files;

/// The files that a frontend's build stage leaves, for parts that carry them.
#[derive(Clone, Debug)]
pub(super) struct Assets {
    /// Directory of the frontend, from the root of the project.
    pub dir: String,
    /// The stage that has them.
    pub stage: String,
    /// Where they are in that stage, below `/app`.
    pub output: String,
}

impl Assets {
    /// `COPY` into a stage that has the root of the project at `/app`, or a part below it.
    pub fn copy(&self, below: &str) -> String {
        let prefix = if below.is_empty() { String::new() } else { format!("{below}/") };
        let dir = self.dir.strip_prefix(&prefix).unwrap_or(&self.dir);
        let target = if dir.is_empty() { String::new() } else { format!("{dir}/") };
        let Assets { stage, output, .. } = self;
        format!("COPY --from={stage} /app/{output}/ ./{target}{output}/")
    }
}

/// A directory in one language.
#[derive(Clone, Debug)]
pub(super) struct Part<'a> {
    files: &'a Files,
    /// From the root of the project; empty for the root itself.
    pub dir: String,
    /// What it is called in stages and comments.
    pub name: String,
    /// The only part of the project.
    pub alone: bool,
    /// What frontends of the same project leave.
    pub assets: Vec<Assets>,
}

impl<'a> Part<'a> {
    /// The only part of a project.
    pub fn alone(files: &'a Files, dir: &str) -> Part<'a> {
        let (dir, name) = (dir.to_owned(), "app".to_owned());
        Part { files, dir, name, alone: true, assets: Vec::new() }
    }

    /// The text of one of its files.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        self.files.get(&self.shown(name))
    }

    /// The text of a file here or in the nearest directory around, with its name from the root.
    pub fn text_around(&self, name: &str) -> Option<(String, &'a str)> {
        let mut dir = self.dir.as_str();
        loop {
            let shown = if dir.is_empty() { name.to_owned() } else { format!("{dir}/{name}") };
            match self.files.get(&shown) {
                Some(text) => return Some((shown, text)),
                None if dir.is_empty() => return None,
                None => dir = dir.rsplit_once('/').map_or("", |(parent, _)| parent),
            }
        }
    }

    /// True if it has this file.
    pub fn has(&self, name: &str) -> bool {
        self.text(name).is_some()
    }

    /// Those of these files that are there.
    pub fn present(&self, names: &[&str]) -> Vec<String> {
        names.iter().filter(|name| self.has(name)).map(|name| (*name).to_owned()).collect()
    }

    /// All its files, with paths relative to it.
    pub fn all(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let files: &'a Files = self.files;
        let below: Vec<_> = files.below(&self.dir).collect();
        // The paths borrow from the files, not from this part.
        below.into_iter()
    }

    /// The name of one of its files from the root of the project.
    pub fn shown(&self, name: &str) -> String {
        match self.dir.as_str() {
            "" => name.to_owned(),
            dir => format!("{dir}/{name}"),
        }
    }

    /// The name of a stage.
    pub fn stage(&self, what: &str) -> String {
        match self.alone {
            true => what.to_owned(),
            false => format!("{}-{what}", self.name),
        }
    }

    /// `COPY` of some of its files to the same place below the working directory.
    pub fn copy(&self, names: &[String]) -> Vec<String> {
        let mut directories: Vec<(&str, Vec<String>)> = Vec::new();
        for name in names {
            let directory = name.rsplit_once('/').map_or("", |(directory, _)| directory);
            match directories.iter_mut().find(|(known, _)| *known == directory) {
                Some((_, shown)) => shown.push(self.shown(name)),
                None => directories.push((directory, vec![self.shown(name)])),
            }
        }
        let slash = |directory: &str| match directory {
            "" => String::new(),
            directory => format!("{directory}/"),
        };
        directories
            .into_iter()
            .map(|(directory, shown)| format!("COPY {} ./{}", shown.join(" "), slash(directory)))
            .collect()
    }

    /// `COPY` of everything.
    pub fn copy_all(&self) -> String {
        match self.dir.as_str() {
            "" => "COPY . .".to_owned(),
            dir => format!("COPY {dir}/ ./"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_copied_to_where_they_were() {
        let files = Files::new();
        let part = Part::alone(&files, "api");
        let names = ["go.mod", "go.sum", "lib/go.mod"].map(str::to_owned);
        let expected = ["COPY api/go.mod api/go.sum ./", "COPY api/lib/go.mod ./lib/"];
        assert_eq!(part.copy(&names), expected);
        assert_eq!(part.copy_all(), "COPY api/ ./");
    }

    #[test]
    fn assets_land_beside_the_part_that_carries_them() {
        let assets = |dir: &str| Assets {
            dir: dir.to_owned(),
            stage: "web-build".to_owned(),
            output: "dist".to_owned(),
        };
        assert_eq!(assets("web").copy(""), "COPY --from=web-build /app/dist/ ./web/dist/");
        assert_eq!(assets("api/ui").copy("api"), "COPY --from=web-build /app/dist/ ./ui/dist/");
        assert_eq!(assets("").copy(""), "COPY --from=web-build /app/dist/ ./dist/");
    }
}
