//! The text of `.dockerignore`: what the builder must not see.

use super::{part::Part, recipe::Recipe};

const ALWAYS: &str = "\
# Made by `fumehood bootstrap`: what the builder must not see.
.git
.gitignore
.gitattributes
.github
.gitlab-ci.yml
.idea
.vscode
**/.DS_Store
Dockerfile*
.dockerignore
docker-compose*.yml
compose*.yaml

# Secrets.
**/.env
**/.env.*
!**/.env.example
**/*.pem
**/*.key
**/*.p12
**/id_rsa*
**/id_ed25519*
**/.netrc
**/.aws
**/.ssh
";

/// The whole file.
pub(super) fn dockerignore(made: &[(Part, Recipe)]) -> String {
    let mut patterns: Vec<String> = Vec::new();
    for (part, recipe) in made {
        for pattern in &recipe.ignored {
            let pattern = match pattern.starts_with("**/") {
                true => (*pattern).to_owned(),
                false => part.shown(pattern),
            };
            if !patterns.contains(&pattern) {
                patterns.push(pattern);
            }
        }
    }
    if patterns.is_empty() {
        return ALWAYS.to_owned();
    }
    format!("{ALWAYS}\n# Results and tools of the project.\n{}\n", patterns.join("\n"))
}
