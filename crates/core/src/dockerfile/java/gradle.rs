//! Gradle: what the build files say, and the stage that builds with the wrapper's version.

use std::sync::LazyLock;

use regex_lite::Regex;

use super::{
    super::{
        files::{base_name, plain_name},
        part::Part,
        recipe::{Command, Steps, run},
        version::{Mention, Pin},
    },
    Built,
};

const CACHE: &str = "target=/home/gradle/.gradle";
const BUILD_FILES: &[&str] = &["build.gradle", "build.gradle.kts"];
const SETTINGS: &[&str] = &["settings.gradle", "settings.gradle.kts"];

static VERSION: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?:JavaLanguageVersion\.of\(|jvmToolchain\(|(?:source|target)Compatibility\s*=?\s*(?:JavaVersion\.VERSION_|['\x22])?)((?:1[._])?\d+)";
    Regex::new(pattern).expect("a constant that the tests compile")
});

static ROOT_NAME: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"rootProject\.name\s*=\s*['\x22]([A-Za-z0-9._-]+)['\x22]";
    Regex::new(pattern).expect("a constant that the tests compile")
});

static WRAPPER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"gradle-(\d+(?:\.\d+)*)-").expect("a constant that the tests compile")
});

/// True if this is the root of a Gradle build.
pub(super) fn is_here(part: &Part) -> bool {
    BUILD_FILES.iter().chain(SETTINGS).any(|name| part.has(name))
}

/// The version that the compiler is told to make code for.
pub(super) fn version(part: &Part) -> Option<Mention> {
    build_files(part).find_map(|(path, text)| {
        text.lines().enumerate().find_map(|(index, line)| {
            let code = line.split("//").next().unwrap_or("");
            let number = VERSION.captures(code)?.get(1)?.as_str().replace('_', ".");
            Some(Mention { path: part.shown(path), line: index + 1, says: number })
        })
    })
}

fn build_files<'a>(part: &Part<'a>) -> impl Iterator<Item = (&'a str, &'a str)> {
    part.all().filter(|(path, _)| BUILD_FILES.contains(&base_name(path)))
}

pub(super) fn build(part: &Part, pin: &Pin, stage: &str) -> Built {
    let mut manifests: Vec<String> = part
        .all()
        .map(|(path, _)| path)
        .filter(|path| {
            let name = base_name(path);
            let others = ["gradle.properties", "libs.versions.toml"];
            BUILD_FILES.contains(&name) || SETTINGS.contains(&name) || others.contains(&name)
        })
        .map(str::to_owned)
        .collect();
    manifests.sort_by_key(|path| path.contains('/'));
    let (task, copies, command, port) = result(part, stage);
    let dependencies = match task.rsplit_once(':') {
        Some((project, _)) => format!("{project}:dependencies"),
        None => "dependencies".to_owned(),
    };
    let mut steps = Steps::new().step("WORKDIR /app");
    steps = match needs_sources(part) {
        true => {
            steps.note("The build is made of sources itself, so nothing is fetched ahead of it.")
        }
        false => steps
            .steps(part.copy(&manifests))
            .step(run(&[CACHE], &format!("gradle --no-daemon {dependencies}"))),
    };
    let steps =
        steps.step(part.copy_all()).step(run(&[CACHE], &format!("gradle --no-daemon {task}")));
    let major = pin.version.numbers().first().copied().unwrap_or(0);
    let default = if major > 23 { "9" } else { "8" };
    let wrapper = part.text("gradle/wrapper/gradle-wrapper.properties");
    let wrapper = wrapper.and_then(|text| Some(WRAPPER.captures(text)?.get(1)?.as_str()));
    let image = format!("gradle:{}-jdk{}", wrapper.unwrap_or(default), pin.version);
    Built { image, steps, copies, command, port }
}

/// True if the build files need other files of the project.
fn needs_sources(part: &Part) -> bool {
    let in_sources = |path: &str| path.starts_with("buildSrc/");
    let included = |text: &str| text.contains("includeBuild") || text.contains("apply from");
    part.all().any(|(path, text)| {
        let name = base_name(path);
        let of_build = BUILD_FILES.contains(&name) || SETTINGS.contains(&name);
        in_sources(path) || (of_build && included(text))
    })
}

/// The task, what it leaves and how that is started.
fn result(part: &Part, stage: &str) -> (String, Vec<String>, Command, Option<u16>) {
    for (path, text) in build_files(part) {
        let project = path.rsplit_once('/').map_or("", |(directory, _)| directory);
        let task = |name: &str| match project {
            "" => name.to_owned(),
            project => format!(":{}:{name}", project.replace('/', ":")),
        };
        let output = match project {
            "" => "/app/build".to_owned(),
            project => format!("/app/{project}/build"),
        };
        let plugin = |names: &[&str]| names.iter().any(|name| applies(text, name));
        let jar = |name: &str, why: &str, port| {
            let copy = format!("COPY --from={stage} {output}/libs/*.jar ./app.jar");
            let because = format!("{why} in {}", part.shown(path));
            let start = Command::start(&["java", "-jar", "app.jar"], because);
            (task(name), vec![copy], start, port)
        };
        if plugin(&["org.springframework.boot"]) {
            return jar("bootJar", "the plugin of Spring Boot", Some(8080));
        }
        if plugin(&["com.github.johnrengelman.shadow", "com.gradleup.shadow"]) {
            return jar("shadowJar", "the shadow plugin", None);
        }
        if plugin(&["application"]) {
            let name = match project {
                "" => root_name(part),
                project => base_name(project).to_owned(),
            };
            let copy = format!("COPY --from={stage} {output}/install/{name}/ ./");
            let because = format!("the application plugin in {}", part.shown(path));
            let start = Command::start(&[format!("/app/bin/{name}")], because);
            return (task("installDist"), vec![copy], start, None);
        }
    }
    let copy = vec![format!("COPY --from={stage} /app/build/libs/ ./")];
    let because = "no plugin that makes something to start was found".to_owned();
    ("assemble".to_owned(), copy, Command::Unknown { because }, None)
}

/// True if a plugin is applied, and not only named with `apply false`.
fn applies(text: &str, plugin: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim();
        let quoted =
            line.contains(&format!("'{plugin}'")) || line.contains(&format!("\"{plugin}\""));
        let named = quoted && (line.contains("id") || line.contains("apply plugin"));
        (named || line == plugin) && !line.contains("apply false") && !line.starts_with("//")
    })
}

/// The name of the root project; without settings it is that of its directory.
fn root_name(part: &Part) -> String {
    let settings = SETTINGS.iter().find_map(|name| part.text(name)).unwrap_or("");
    let named = ROOT_NAME.captures(settings).and_then(|captures| captures.get(1));
    named.and_then(|name| plain_name(name.as_str())).unwrap_or("app").to_owned()
}
