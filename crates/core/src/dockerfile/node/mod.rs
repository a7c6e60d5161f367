//! Node: a server with its modules, or a frontend that a build turns into files.

mod manifest;
mod packages;

use self::{manifest::Manifest, packages::Manager};
use super::{
    base::{Base, Choice, Wish},
    files::base_name,
    part::Part,
    recipe::{Command, Recipe, Role, Runtime, Stage, Steps},
    releases::{ALPINE, NODE},
    version::{Mention, Pin, node_alias, only_line, tool_versions},
};

/// Files that are started where no script says what is.
const ENTRIES: &[&str] =
    &["server.js", "index.js", "app.js", "main.js", "index.mjs", "src/index.js"];

/// The port that servers of Node usually take.
const PORT: u16 = 3000;

/// True if this is the root of a package.
pub(super) fn is_here(part: &Part) -> bool {
    part.has("package.json")
}

/// True if the package only brings tools for another part in the same directory.
pub(super) fn is_only_tools(part: &Part) -> bool {
    let manifest = Manifest::read(part);
    let scripts = ["build", "start"].iter().any(|name| manifest.script(name).is_some());
    !scripts && !manifest.has_workspaces()
}

/// What to make of it.
pub(super) fn recipe(part: &Part, wish: Option<&Wish>) -> Recipe {
    let manifest = Manifest::read(part);
    let need = manifest.native();
    let native = need.is_some();
    let base = Choice::make(wish, need, "no module with compiled code was found");
    let package = Package {
        part,
        manager: Manager::of(part, &manifest),
        pin: pin(part, &manifest),
        manifest,
        native,
        base,
    };
    match package.frontend_output() {
        Some(output) => package.frontend(output),
        None => package.server(),
    }
}

/// A package and what was decided about it.
struct Package<'a> {
    part: &'a Part<'a>,
    manifest: Manifest,
    manager: Manager,
    pin: Pin,
    base: Choice,
    /// Modules may have to be compiled.
    native: bool,
}

impl Package<'_> {
    /// The image: `full` has a compiler.
    fn image(&self, full: bool) -> String {
        let version = &self.pin.version;
        // Only some patch releases have an image per Debian; all have one without its name.
        let release = NODE.debian(version).filter(|_| version.numbers().len() == 1);
        match (self.base.base, release, full) {
            (Base::Alpine, ..) => format!("node:{version}-alpine"),
            (Base::Debian, Some(release), true) => format!("node:{version}-{release}"),
            (Base::Debian, Some(release), false) => format!("node:{version}-{release}-slim"),
            (Base::Debian, None, true) => format!("node:{version}"),
            (Base::Debian, None, false) => format!("node:{version}-slim"),
        }
    }

    /// The start of a stage that installs modules.
    fn install(&self, production: bool) -> Steps {
        let mut steps = Steps::new();
        if self.native && self.base.base == Base::Alpine {
            steps = steps.step("RUN apk add --no-cache build-base python3");
        }
        steps.step("WORKDIR /app").then(self.manager.install(self.part, &self.manifest, production))
    }

    fn build_stage(&self, finish: Option<&str>) -> Stage {
        let build = self.manager.run_script("build");
        let build = finish.map_or(build.clone(), |finish| format!("{build} && {finish}"));
        Stage {
            name: self.part.stage("build"),
            image: self.image(self.native),
            notes: Vec::new(),
            steps: self.install(false).step(self.part.copy_all()).step(format!("RUN {build}")),
        }
    }

    fn recipe(self, role: Role, stages: Vec<Stage>, runtime: Runtime) -> Recipe {
        let mut ignored = vec!["**/node_modules", "**/npm-debug.log*"];
        if self.manifest.script("build").is_some() {
            ignored.extend(["dist", ".next", ".nuxt", "*.tsbuildinfo"]);
            // A directory `build` holds sources in some projects.
            ignored.extend(self.manifest.bundler_output().filter(|output| *output != "dist"));
        }
        if packages::npmrc_is_secret(self.part) {
            ignored.push(".npmrc");
        }
        Recipe {
            language: "Node",
            pin: self.pin,
            base: self.base,
            role,
            stages,
            runtime,
            ignored,
            carries_assets: false,
        }
    }

    /// The directory that the build of a frontend leaves, if this is one.
    fn frontend_output(&self) -> Option<&'static str> {
        let serves = self.manifest.has_server() || self.manifest.starts_node();
        let builds = self.manifest.script("build").is_some();
        (builds && !serves).then(|| self.manifest.bundler_output())?
    }

    fn frontend(self, output: &str) -> Recipe {
        let stage = self.build_stage(None);
        let contents = format!("COPY --from={} /app/{output}/ ./", stage.name);
        let command = ["httpd", "-f", "-p", "8080", "-h", "/app"];
        let runtime = Runtime {
            image: ALPINE.to_owned(),
            notes: vec!["Only files are served: a small web server is enough.".to_owned()],
            packages: vec!["busybox-extras"],
            variables: Vec::new(),
            contents: Steps::new().step(contents),
            port: Some(8080),
            command: Command::start(&command, format!("the build leaves files in {output}")),
        };
        let role = Role::Frontend { stage: stage.name.clone(), output: output.to_owned() };
        self.recipe(role, vec![stage], runtime)
    }

    fn server(self) -> Recipe {
        let part = self.part;
        let command = self.command();
        let mut runtime = Runtime {
            image: self.image(false),
            notes: Vec::new(),
            packages: self.manifest.runtime_packages(self.base.base),
            variables: vec![("NODE_ENV", "production".to_owned())],
            contents: Steps::new(),
            port: matches!(command, Command::Start { .. }).then_some(PORT),
            command,
        };
        let builds = self.manifest.script("build").is_some();
        if !builds && !self.native && !self.starts_dev_tool() {
            let install = self.manager.install(part, &self.manifest, true);
            runtime.contents = install.step(part.copy_all());
            return self.recipe(Role::Program, Vec::new(), runtime);
        }
        if self.manifest.has_workspaces() || self.starts_dev_tool() {
            // Modules lie in several places, or all of them are needed: take everything.
            let stage = self.everything(builds);
            let contents = format!("COPY --from={} /app/ ./", stage.name);
            runtime.contents = Steps::new().step(contents);
            return self.recipe(Role::Program, vec![stage], runtime);
        }
        let modules = Stage {
            name: part.stage("modules"),
            image: self.image(self.native),
            notes: Vec::new(),
            steps: self.install(true),
        };
        let from_modules =
            format!("COPY --from={} /app/node_modules/ ./node_modules/", modules.name);
        let mut contents = Steps::new();
        if self.has_modules() {
            contents = contents.step(from_modules);
        }
        let mut stages = vec![modules];
        if builds {
            let output = self.manifest.compiler_output(part);
            let finish = output.is_none().then_some("rm -rf node_modules");
            let mut stage = self.build_stage(finish);
            stage.notes = vec!["The build needs more modules than the program.".to_owned()];
            contents = match output {
                Some(output) => contents
                    .steps(part.copy(&["package.json".to_owned()]))
                    .step(format!("COPY --from={} /app/{output}/ ./{output}/", stage.name)),
                None => contents.step(format!("COPY --from={} /app/ ./", stage.name)),
            };
            stages.push(stage);
        } else {
            contents = contents.step(part.copy_all());
        }
        runtime.contents = contents;
        self.recipe(Role::Program, stages, runtime)
    }

    fn everything(&self, builds: bool) -> Stage {
        let mut stage = self.build_stage(None);
        if !builds {
            stage.steps = self.install(false).step(self.part.copy_all());
        }
        stage
    }

    fn has_modules(&self) -> bool {
        self.manifest.has_dependencies()
    }

    /// True if what is started comes with the modules for development.
    fn starts_dev_tool(&self) -> bool {
        let first = self.manifest.script("start").and_then(|start| start.split_whitespace().next());
        first.is_some_and(|tool| self.manifest.is_dev_dependency(tool))
    }

    fn command(&self) -> Command {
        let shown = self.part.shown("package.json");
        if let Some(start) = self.manifest.script("start") {
            let words: Vec<&str> = start.split_whitespace().collect();
            let plain = start.chars().all(|c| c.is_ascii_alphanumeric() || " ./_-=:@".contains(c));
            return match words.as_slice() {
                ["node", _, ..] if plain => {
                    Command::start(&words, format!("the script `start` in {shown}"))
                }
                _ => Command::start(
                    &["npm", "start"],
                    format!("the script `start` in {shown} is more than a call of node"),
                ),
            };
        }
        if let Some(main) = self.manifest.main() {
            return Command::start(&["node", main], format!("`main` in {shown}"));
        }
        match ENTRIES.iter().find(|name| self.part.has(name)) {
            Some(name) => Command::start(&["node", name], format!("{} is there", base_name(name))),
            None => Command::Unknown {
                because: format!("{shown} has neither a script `start` nor `main`"),
            },
        }
    }
}

fn pin(part: &Part, manifest: &Manifest) -> Pin {
    let file = |mention: Option<Mention>| {
        let mention = mention?;
        Some(mention.pin(node_alias(&mention.says, &NODE)?))
    };
    let written = |key: &str, says: Option<&str>| {
        let mention = manifest.mention(key, says?);
        mention.pin_range(&NODE)
    };
    file(only_line(part, ".nvmrc"))
        .or_else(|| file(only_line(part, ".node-version")))
        .or_else(|| file(tool_versions(part, "nodejs")))
        .or_else(|| file(tool_versions(part, "node")))
        .or_else(|| written("volta", manifest.volta()))
        .or_else(|| written("engines", manifest.engine()))
        .unwrap_or_else(|| Pin::default_of(&NODE))
        .at_most_numbers(3)
}
