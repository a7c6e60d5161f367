//! The tool that installs modules: npm, pnpm or Yarn, in the version that the project uses.

use super::{
    super::{
        files::base_name,
        part::Part,
        recipe::{Steps, run},
    },
    Manifest,
};

/// The tool and how it gets into the image.
pub(super) enum Manager {
    /// With the lockfile, if there is one.
    Npm { lock: Option<&'static str> },
    /// For example `pnpm@9.1.0`.
    Pnpm { package: String },
    /// Comes with the image.
    YarnClassic,
    /// Version 2 and later, which corepack fetches.
    YarnModern,
}

impl Manager {
    pub fn of(part: &Part, manifest: &Manifest) -> Manager {
        let named = manifest.package_manager().unwrap_or("");
        // What follows a plus sign is a digest, which npm does not take.
        let named = named.split('+').next().unwrap_or("");
        if part.has("pnpm-lock.yaml") {
            let version = named.strip_prefix("pnpm@").filter(|version| is_version(version));
            let package = format!("pnpm@{}", version.unwrap_or_else(|| pnpm_of_lock(part)));
            return Manager::Pnpm { package };
        }
        if part.has("yarn.lock") {
            let modern = part.has(".yarnrc.yml")
                || named.strip_prefix("yarn@").is_some_and(|version| !version.starts_with('1'));
            return if modern { Manager::YarnModern } else { Manager::YarnClassic };
        }
        let locks = ["package-lock.json", "npm-shrinkwrap.json"];
        Manager::Npm { lock: locks.into_iter().find(|name| part.has(name)) }
    }

    /// The command that runs a script of the package.
    pub fn run_script(&self, script: &str) -> String {
        match self {
            Manager::Npm { .. } => format!("npm run {script}"),
            Manager::Pnpm { .. } => format!("pnpm run {script}"),
            Manager::YarnClassic | Manager::YarnModern => format!("yarn run {script}"),
        }
    }

    /// Manifests first, then the modules: they are fetched again only when the manifests change.
    pub fn install(&self, part: &Part, manifest: &Manifest, production: bool) -> Steps {
        let mut names = part.present(&["package.json"]);
        names.extend(part.present(self.files()));
        if npmrc_is_secret(part) {
            names.retain(|name| name != ".npmrc");
        }
        if manifest.has_workspaces() || part.has("pnpm-workspace.yaml") {
            let nested = part.all().map(|(path, _)| path);
            let nested = nested.filter(|path| path.contains('/'));
            let nested = nested.filter(|path| base_name(path) == "package.json");
            names.extend(nested.map(str::to_owned));
        }
        let copied = Steps::new().steps(part.copy(&names));
        if manifest.is_free() && !manifest.has_workspaces() {
            return copied.note("The package has no dependencies.");
        }
        let steps = match self {
            Manager::Pnpm { package } => {
                Steps::new().step(format!("RUN npm install --global {package}")).then(copied)
            }
            Manager::YarnModern => Steps::new()
                .step("RUN npm install --global --force corepack && corepack enable")
                .then(copied),
            Manager::Npm { lock: None } => {
                copied.note("There is no lockfile: commit one to get the same modules every time.")
            }
            _ => copied,
        };
        let (cache, command) = self.command(production);
        if npmrc_is_secret(part) {
            let source = part.shown(".npmrc");
            let secret = "--mount=type=secret,id=npmrc,target=/app/.npmrc";
            return steps
                .note(format!("{source} holds a token, so it is lent to this command only:"))
                .note(format!("`docker build --secret id=npmrc,src={source} .`"))
                .step(run(&[cache], &format!("{secret} \\\n    {command}")));
        }
        steps.step(run(&[cache], &command))
    }

    fn files(&self) -> &'static [&'static str] {
        match self {
            Manager::Npm { .. } => &["package-lock.json", "npm-shrinkwrap.json", ".npmrc"],
            Manager::Pnpm { .. } => &["pnpm-lock.yaml", "pnpm-workspace.yaml", ".npmrc"],
            Manager::YarnClassic => &["yarn.lock", ".npmrc"],
            Manager::YarnModern => &["yarn.lock", ".yarnrc.yml"],
        }
    }

    /// Where the tool keeps what it fetched, and the command that installs.
    fn command(&self, production: bool) -> (&'static str, String) {
        let only = |flag: &'static str| if production { flag } else { "" };
        match self {
            Manager::Npm { lock: Some(_) } => {
                ("target=/root/.npm", format!("npm ci{}", only(" --omit=dev")))
            }
            Manager::Npm { lock: None } => {
                ("target=/root/.npm", format!("npm install{}", only(" --omit=dev")))
            }
            Manager::Pnpm { .. } => (
                "target=/pnpm/store",
                format!(
                    "pnpm install --frozen-lockfile --store-dir=/pnpm/store{}",
                    only(" --prod")
                ),
            ),
            Manager::YarnClassic => (
                "target=/usr/local/share/.cache/yarn",
                format!("yarn install --frozen-lockfile{}", only(" --production")),
            ),
            Manager::YarnModern => match production {
                true => ("target=/root/.yarn", "yarn workspaces focus --production".to_owned()),
                false => ("target=/root/.yarn", "yarn install --immutable".to_owned()),
            },
        }
    }
}

/// True if `.npmrc` holds a token, which must not get into a layer.
pub(super) fn npmrc_is_secret(part: &Part) -> bool {
    part.text(".npmrc").is_some_and(|text| text.contains("_auth") || text.contains("_password"))
}

fn is_version(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '.')
}

/// The oldest release of pnpm that writes lockfiles of this form.
fn pnpm_of_lock(part: &Part) -> &'static str {
    let first = part.text("pnpm-lock.yaml").unwrap_or("").lines().next().unwrap_or("");
    let version = first.split(':').nth(1).unwrap_or("").trim().trim_matches(['\'', '"']);
    match version.split('.').next() {
        Some("5") => "7",
        Some("6") => "8",
        _ => "9",
    }
}
