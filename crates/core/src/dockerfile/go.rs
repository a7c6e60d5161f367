//! Go: a static program on Alpine, or with cgo a program on Debian.

use super::{
    base::{Base, Choice, Wish},
    files::{base_name, line_with, plain_name},
    part::Part,
    recipe::{Command, Recipe, Role, Runtime, Stage, Steps, run},
    releases::{ALPINE, GO},
    version::{Mention, Pin, tool_versions},
};

/// Modules that hold C code.
const CGO_MODULES: &[&str] = &[
    "github.com/mattn/go-sqlite3",
    "github.com/confluentinc/confluent-kafka-go",
    "github.com/libgit2/git2go",
    "github.com/h2non/bimg",
    "github.com/davidbyttow/govips",
    "github.com/go-gl/",
    "github.com/veandco/go-sdl2",
    "gocv.io/x/gocv",
    "github.com/google/gopacket",
];

/// Names that programs to be served usually have.
const LIKELY: &[&str] = &["server", "api", "app", "web", "main"];

const MODULE_CACHE: &str = "target=/go/pkg/mod";
const BUILD_CACHE: &str = "target=/root/.cache/go-build";

/// True if this is the root of a Go module or workspace.
pub(super) fn is_here(part: &Part) -> bool {
    part.has("go.mod") || part.has("go.work")
}

/// What to make of it.
pub(super) fn recipe(part: &Part, wish: Option<&Wish>) -> Recipe {
    let pin = pin(part);
    let base = Choice::make(wish, cgo(part), "no cgo, so no C library is needed");
    let cgo = cgo(part).is_some();
    let release = GO.debian(&pin.version);
    let image = match (base.base, release) {
        (Base::Alpine, _) => format!("golang:{}-alpine", pin.version),
        (Base::Debian, Some(release)) => format!("golang:{}-{release}", pin.version),
        (Base::Debian, None) => format!("golang:{}", pin.version),
    };
    let recipe = Recipe {
        language: "Go",
        pin,
        role: Role::Program,
        stages: Vec::new(),
        runtime: library(part, &image, cgo, base.base),
        base,
        ignored: vec!["*.test", "*.out"],
        carries_assets: false,
    };
    let mains = mains(part);
    let Some(main) = choose_main(part, &mains) else { return recipe };
    let program = Program { part, name: program_name(part, main), main, others: mains.len() > 1 };
    program.complete(recipe, image, cgo, release.unwrap_or("bookworm"))
}

/// A program of the module.
struct Program<'a> {
    part: &'a Part<'a>,
    name: String,
    /// The directory of its package; empty for the root.
    main: &'a str,
    others: bool,
}

impl Program<'_> {
    fn complete(&self, mut recipe: Recipe, image: String, cgo: bool, release: &str) -> Recipe {
        let part = self.part;
        let stage = part.stage("build");
        let embeds = embeds_assets(part);
        let mut steps = Steps::new();
        if cgo && recipe.base.base == Base::Alpine {
            steps = steps.step("RUN apk add --no-cache build-base");
        }
        steps = steps.step("WORKDIR /app").then(fetch(part, &[MODULE_CACHE]));
        steps = steps.step(part.copy_all());
        if embeds {
            steps = steps
                .note("The program embeds the files of the frontend.")
                .steps(part.assets.iter().map(|assets| assets.copy(&part.dir)));
        }
        let package = if self.main.is_empty() { "." } else { &format!("./{}", self.main) };
        let command = format!(
            "CGO_ENABLED={} go build -trimpath -ldflags=\"-s -w\" -o /out/{} {package}",
            u8::from(cgo),
            self.name
        );
        steps = steps.step(run(&[MODULE_CACHE, BUILD_CACHE], &command));

        let debian = recipe.base.is_debian();
        let contents = format!("COPY --from={stage} /out/{0} ./{0}", self.name);
        let found = match self.main {
            "" => "package main in the root of the module".to_owned(),
            main => format!("package main in {}", part.shown(main)),
        };
        let because = match self.others {
            true => format!("{found}; the module has others, choose yours in `go build`"),
            false => found,
        };
        recipe.stages = vec![Stage { name: stage, image, notes: Vec::new(), steps }];
        recipe.runtime = Runtime {
            image: if debian { format!("debian:{release}-slim") } else { ALPINE.to_owned() },
            notes: Vec::new(),
            packages: if debian { vec!["ca-certificates"] } else { Vec::new() },
            variables: Vec::new(),
            contents: Steps::new().step(contents),
            port: None,
            command: Command::start(&[format!("/app/{}", self.name)], because),
        };
        recipe.carries_assets = embeds;
        recipe
    }
}

/// A module without a program: its tests are what can be run.
fn library(part: &Part, image: &str, cgo: bool, base: Base) -> Runtime {
    let contents =
        Steps::new().then(fetch(part, &[])).step(part.copy_all()).step("RUN go build ./...");
    Runtime {
        image: image.to_owned(),
        notes: Vec::new(),
        packages: if cgo && base == Base::Alpine { vec!["build-base"] } else { Vec::new() },
        variables: vec![("CGO_ENABLED", u8::from(cgo).to_string())],
        contents,
        port: None,
        command: Command::start(
            &["go", "test", "./..."],
            "no package main was found, so the tests are run",
        ),
    }
}

/// The dependencies, in layers that change only when they do.
fn fetch(part: &Part, caches: &[&str]) -> Steps {
    if part.has("vendor/modules.txt") {
        return Steps::new().note("The dependencies come with the sources, in vendor.");
    }
    let mut manifests = part.present(&["go.work", "go.work.sum", "go.mod", "go.sum"]);
    let nested = part.all().map(|(path, _)| path).filter(|path| path.contains('/'));
    let of_module = |path: &&str| matches!(base_name(path), "go.mod" | "go.sum");
    let nested: Vec<&str> = nested.filter(of_module).collect();
    if part.has("go.work") {
        manifests.extend(nested.iter().map(|path| (*path).to_owned()));
    } else {
        let replaced = replaced_directories(part.text("go.mod").unwrap_or(""));
        let is_replaced = |path: &str| {
            let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
            replaced.iter().any(|replaced| replaced == directory)
        };
        manifests.extend(nested.iter().filter(|path| is_replaced(path)).map(|p| (*p).to_owned()));
    }
    Steps::new().steps(part.copy(&manifests)).step(run(caches, "go mod download"))
}

/// Directories of this project that stand in for modules.
fn replaced_directories(go_mod: &str) -> Vec<String> {
    let local = |line: &str| {
        let (_, target) = line.split_once("=>")?;
        Some(target.trim().strip_prefix("./")?.trim_end_matches('/').to_owned())
    };
    go_mod.lines().filter_map(local).collect()
}

fn pin(part: &Part) -> Pin {
    let named = |file: &str, word: &str| {
        let prefix = format!("{word} ");
        let lines = part.text(file)?.lines().enumerate();
        lines
            .filter_map(|(index, line)| {
                let says = line.split("//").next()?.trim().to_owned();
                let version = says.strip_prefix(&prefix)?.trim().trim_start_matches("go");
                let version = version.parse().ok()?;
                Some(Mention { path: part.shown(file), line: index + 1, says }.pin(version))
            })
            .next()
    };
    let tools = || {
        let mention = tool_versions(part, "golang").or_else(|| tool_versions(part, "go"))?;
        Some(mention.pin(mention.says.parse().ok()?))
    };
    let pin = named("go.work", "toolchain")
        .or_else(|| named("go.mod", "toolchain"))
        .or_else(|| named("go.work", "go"))
        .or_else(|| named("go.mod", "go"))
        .or_else(tools);
    pin.unwrap_or_else(|| Pin::default_of(&GO)).at_most_numbers(3)
}

/// What makes the module use C, if anything does.
fn cgo(part: &Part) -> Option<String> {
    let sources = part.all().filter(|(path, _)| is_source(path));
    for (path, text) in sources {
        let line = text.lines().position(|line| matches!(line.trim(), "import \"C\"" | "\"C\""));
        if let Some(index) = line {
            let shown = part.shown(path);
            return Some(format!("`import \"C\"` in {shown}:{} needs cgo", index + 1));
        }
    }
    let manifest = part.text("go.mod")?;
    CGO_MODULES.iter().find_map(|module| {
        let line = line_with(manifest, module)?;
        let module = module.trim_end_matches('/');
        Some(format!("{module} in {}:{line} needs cgo", part.shown("go.mod")))
    })
}

fn is_source(path: &str) -> bool {
    path.ends_with(".go") && !path.ends_with("_test.go")
}

/// Directories with a package main, the root first.
fn mains<'a>(part: &Part<'a>) -> Vec<&'a str> {
    let is_main = |text: &str| {
        let line = |words: &str| text.lines().any(|line| line.trim_end().starts_with(words));
        line("package main") && line("func main()") && !line("//go:build ignore")
    };
    let mut found: Vec<&str> = part
        .all()
        .filter(|(path, text)| is_source(path) && is_main(text))
        .map(|(path, _)| path.rsplit_once('/').map_or("", |(directory, _)| directory))
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The program that is most likely the one to run.
fn choose_main<'a>(part: &Part, mains: &[&'a str]) -> Option<&'a str> {
    let named = |name: &str| mains.iter().find(|main| base_name(main) == name);
    let chosen = mains
        .iter()
        .find(|main| main.is_empty())
        .or_else(|| named(module_name(part)))
        .or_else(|| LIKELY.iter().find_map(|name| named(name)))
        .or_else(|| mains.iter().find(|main| main.starts_with("cmd/")))
        .or_else(|| mains.first());
    chosen.copied()
}

fn program_name(part: &Part, main: &str) -> String {
    let name = if main.is_empty() { module_name(part) } else { base_name(main) };
    plain_name(name).unwrap_or("app").to_owned()
}

/// The last part of the module's path, without the number of its version.
fn module_name<'a>(part: &Part<'a>) -> &'a str {
    let lines = part.text("go.mod").unwrap_or("").lines();
    let path = lines.filter_map(|line| line.strip_prefix("module ")).next().unwrap_or("app").trim();
    let is_version =
        |name: &str| name.strip_prefix('v').is_some_and(|number| number.parse::<u32>().is_ok());
    path.rsplit('/').find(|name| !is_version(name)).unwrap_or("app")
}

/// True if the sources embed a directory that a frontend makes.
fn embeds_assets(part: &Part) -> bool {
    let outputs: Vec<&str> = part.assets.iter().map(|assets| assets.output.as_str()).collect();
    let embeds = |line: &str| {
        let patterns = line.trim().strip_prefix("//go:embed ").unwrap_or("");
        outputs.iter().any(|output| patterns.contains(output))
    };
    part.all().any(|(path, text)| is_source(path) && text.lines().any(embeds))
}
