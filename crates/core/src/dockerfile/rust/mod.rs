//! Rust: a static program on Alpine, or one that links libraries of Debian.

mod crates;
mod libraries;

use self::{crates::Crates, libraries::Libraries};
use super::{
    base::{Base, Choice, Wish, install},
    part::Part,
    recipe::{Command, Recipe, Role, Runtime, Stage, Steps, run},
    releases::{ALPINE, RUST},
    version::{Mention, Pin, only_line, tool_versions},
};

const REGISTRY_CACHE: &str = "target=/usr/local/cargo/registry";

/// True if this is the root of a package or workspace.
pub(super) fn is_here(part: &Part) -> bool {
    part.has("Cargo.toml")
}

/// What to make of it.
pub(super) fn recipe(part: &Part, wish: Option<&Wish>) -> Recipe {
    let crates = Crates::read(part);
    let libraries = Libraries::read(part);
    let toolchain = Toolchain::read(part, &crates);
    let base = Choice::make(wish, libraries.glibc(), "no library of the system is linked");
    let release = RUST.debian(&toolchain.pin.version);
    let version = &toolchain.pin.version;
    let image = match (base.base, release) {
        (Base::Alpine, _) => format!("rust:{version}-alpine"),
        (Base::Debian, Some(release)) => format!("rust:{version}-slim-{release}"),
        (Base::Debian, None) => format!("rust:{version}-slim"),
    };
    let locked = if part.has("Cargo.lock") { " --locked" } else { "" };
    let begin = Steps::new().steps(install(base.base, &libraries.build_packages(base.base)));
    let needed = toolchain.needed;
    let fetch = |caches: &[&str]| fetch(part, &crates, needed, caches, locked);

    let mut recipe = Recipe {
        language: "Rust",
        role: Role::Program,
        stages: Vec::new(),
        runtime: Runtime {
            image: image.clone(),
            notes: Vec::new(),
            packages: libraries.build_packages(base.base),
            variables: vec![("CARGO_TARGET_DIR", "/home/app/target".to_owned())],
            contents: fetch(&[]).step(part.copy_all()),
            port: None,
            command: Command::start(
                &["cargo", "test"],
                "no program was found, so the tests are run",
            ),
        },
        pin: toolchain.pin,
        base,
        ignored: vec!["target"],
        carries_assets: false,
    };
    recipe.ignored.extend(toolchain.ignored);
    let Some(program) = crates.program() else { return recipe };

    let name = &program.name;
    let package = match &program.package {
        Some(package) => format!(" --package {package}"),
        None => String::new(),
    };
    // A cache of its own: two projects in the same directory must not share their results.
    let results = format!("id={name}-target,target=/app/target");
    let build = format!(
        "cargo build --release{locked}{package} --bin {name} \\\n    && install -D target/release/{name} /out/{name}"
    );
    let stage = part.stage("build");
    let steps = begin
        .step("WORKDIR /app")
        .then(fetch(&[REGISTRY_CACHE]))
        .step(part.copy_all())
        .step(run(&[REGISTRY_CACHE, &results], &build));
    let debian = recipe.base.is_debian();
    let mut packages = libraries.runtime_packages(recipe.base.base);
    if debian {
        packages.push("ca-certificates");
    }
    recipe.stages = vec![Stage { name: stage.clone(), image, notes: Vec::new(), steps }];
    recipe.runtime = Runtime {
        image: match debian {
            true => format!("debian:{}-slim", release.unwrap_or("bookworm")),
            false => ALPINE.to_owned(),
        },
        notes: Vec::new(),
        packages,
        variables: Vec::new(),
        contents: Steps::new().step(format!("COPY --from={stage} /out/{name} ./{name}")),
        port: None,
        command: Command::start(&[format!("/app/{name}")], program.because),
    };
    recipe
}

/// The dependencies, in a layer that changes only when the manifests do.
fn fetch(
    part: &Part,
    crates: &Crates,
    toolchain: Option<&str>,
    caches: &[&str],
    locked: &str,
) -> Steps {
    let Some(stubs) = crates.stubs() else {
        return Steps::new()
            .note("Not every package was seen, so dependencies are fetched by the build alone.");
    };
    let mut manifests = part.present(&["Cargo.toml", "Cargo.lock"]);
    manifests.extend(toolchain.map(str::to_owned));
    manifests.extend(crates.members());
    let mut directories: Vec<&str> =
        stubs.iter().filter_map(|stub| Some(stub.rsplit_once('/')?.0)).collect();
    directories.sort_unstable();
    directories.dedup();
    let command = format!(
        "mkdir -p {} \\\n    && touch {} \\\n    && cargo fetch{locked}",
        directories.join(" "),
        stubs.join(" ")
    );
    Steps::new()
        .steps(part.copy(&manifests))
        .note("Cargo wants to see the sources before it fetches; empty ones will do.")
        .step(run(caches, &command))
}

/// The compiler, and what is done with the file that pins it.
struct Toolchain {
    pin: Pin,
    /// It must stay out of the image.
    ignored: Option<&'static str>,
    /// It must be there when Cargo first runs.
    needed: Option<&'static str>,
}

impl Toolchain {
    fn read(part: &Part, crates: &Crates) -> Toolchain {
        let (file, mention) = match channel(part) {
            Some((file, mention)) => (Some(file), Some(mention)),
            None => (None, tool_versions(part, "rust").or_else(|| crates.rust_version())),
        };
        let version = mention.as_ref().and_then(|mention| mention.says.parse().ok());
        let pin = match (&mention, version) {
            (Some(mention), Some(version)) => mention.pin(version),
            (Some(mention), None) if mention.says == "stable" => {
                let version = RUST.default_version();
                mention.pin_but(version, Some("this is a stable one".to_owned()))
            }
            (Some(mention), None) => {
                let but = "there is no image of it, so rustup fetches it".to_owned();
                mention.pin_but(RUST.default_version(), Some(but))
            }
            (None, _) => Pin::default_of(&RUST),
        };
        let mut pin = pin.at_most_numbers(3);
        if file.is_none() {
            pin = crates.lifted(pin);
        }
        // A number or `stable` names the compiler of the image; rustup would fetch it again under
        // that name. Other channels and further targets have to be fetched.
        let of_image = mention.as_ref().is_some_and(|mention| {
            mention.says == "stable" || mention.says.starts_with(|c: char| c.is_ascii_digit())
        });
        let targets = part.text("rust-toolchain.toml").is_some_and(|text| text.contains("targets"));
        let fits = of_image && !targets;
        Toolchain { pin, ignored: file.filter(|_| fits), needed: file.filter(|_| !fits) }
    }
}

/// What `rust-toolchain` names.
fn channel(part: &Part) -> Option<(&'static str, Mention)> {
    let of_table = |file: &'static str| {
        let text = part.text(file)?;
        let (index, line) =
            text.lines().enumerate().find(|(_, line)| line.trim_start().starts_with("channel"))?;
        let says = line.split('"').nth(1)?.to_owned();
        Some((file, Mention { path: part.shown(file), line: index + 1, says }))
    };
    let of_line = |file: &'static str| Some((file, only_line(part, file)?));
    of_table("rust-toolchain.toml")
        .or_else(|| of_table("rust-toolchain"))
        .or_else(|| of_line("rust-toolchain"))
}
