//! Sample projects and the files that are made for them, compared word by word.
//!
//! `UPDATE_SNAPSHOTS=1 cargo test -p fumehood-core --test bootstrap` writes what is expected anew.

use std::{fs, path::Path};

use fumehood_core::dockerfile::{Base, Files, Generated, generate, worth_entering, worth_reading};
use proptest::prelude::*;

const SAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/bootstrap");

fn samples() -> Vec<String> {
    let entries = fs::read_dir(SAMPLES).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn read(name: &str) -> Files {
    let mut files = Files::new();
    add(&Path::new(SAMPLES).join(name), "", &mut files);
    files
}

fn add(directory: &Path, prefix: &str, files: &mut Files) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{prefix}{}", entry.file_name().into_string().unwrap());
        if entry.file_type().unwrap().is_dir() {
            if worth_entering(&path) {
                add(&entry.path(), &format!("{path}/"), files);
            }
        } else if worth_reading(&path) {
            assert!(files.insert(&path, &fs::read_to_string(entry.path()).unwrap()), "{path}");
        }
    }
}

fn generated(name: &str, base: Option<Base>) -> Generated {
    generate(&read(name), base).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn every_sample_gives_what_is_expected() {
    let update = std::env::var_os("UPDATE_SNAPSHOTS").is_some();
    let mut wrong = Vec::new();
    for name in samples() {
        let Generated { dockerfile, dockerignore, .. } = generated(&name, None);
        let directory = Path::new(SAMPLES).join(&name);
        for (file, text) in
            [("Dockerfile.expected", dockerfile), ("dockerignore.expected", dockerignore)]
        {
            let path = directory.join(file);
            if update {
                fs::write(&path, &text).unwrap();
            }
            let expected = fs::read_to_string(&path).unwrap_or_default();
            if expected != text {
                wrong.push(format!("{name}/{file} is now\n{text}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(samples().len() >= 15);
}

/// What a reader of Dockerfiles would object to.
fn problems(dockerfile: &str) -> Vec<String> {
    const KNOWN: &[&str] =
        &["FROM", "RUN", "COPY", "WORKDIR", "ENV", "USER", "EXPOSE", "ENTRYPOINT", "CMD"];
    const IMAGES: &[&str] = &[
        "golang",
        "node",
        "python",
        "rust",
        "eclipse-temurin",
        "maven",
        "gradle",
        "alpine",
        "debian",
    ];
    let mut problems = Vec::new();
    let mut stages: Vec<&str> = Vec::new();
    let mut current = Vec::new();
    let mut continued = false;
    let mut last: Vec<&str> = Vec::new();
    for line in dockerfile.lines() {
        let mut object = |why: &str| problems.push(format!("{why}: {line}"));
        if continued || line.is_empty() || line.starts_with("# ") {
            if continued && (line.is_empty() || line.starts_with('#')) {
                object("the line before does not end");
            }
            continued = line.ends_with('\\') && !line.starts_with('#');
            continue;
        }
        continued = line.ends_with('\\');
        let (instruction, rest) = line.split_once(' ').unwrap_or((line, ""));
        if !KNOWN.contains(&instruction) {
            object("not an instruction");
        }
        if let Some(from) = rest.strip_prefix("--from=") {
            let stage = from.split(' ').next().unwrap();
            if !stages.contains(&stage) {
                object("no such stage");
            }
        }
        match instruction {
            "FROM" => {
                let words: Vec<&str> = rest.split(' ').collect();
                match words[0].split_once(':') {
                    Some((image, tag)) if IMAGES.contains(&image) && tag != "latest" => {}
                    None if stages.contains(&words[0]) => {}
                    _ => object("an image that is not known or not pinned"),
                }
                last = vec![instruction];
                current = vec![words.get(2).copied()];
            }
            "CMD" | "ENTRYPOINT" => {
                if serde_json::from_str::<Vec<String>>(rest).is_err() {
                    object("not in the form without a shell");
                }
                last.push(instruction);
            }
            instruction => last.push(instruction),
        }
        if let Some(Some(name)) = current.pop() {
            if stages.contains(&name) {
                problems.push(format!("the stage {name} is there twice"));
            }
            stages.push(name);
        }
    }
    let from_stage = dockerfile.lines().rev().find(|line| line.starts_with("FROM"));
    let inherits = from_stage.is_some_and(|line| !line.contains(':'));
    if !last.contains(&"USER") && !inherits {
        problems.push("the last stage runs as root".to_owned());
    }
    if !last.iter().any(|instruction| matches!(*instruction, "CMD" | "ENTRYPOINT")) {
        problems.push("the last stage runs nothing".to_owned());
    }
    if continued {
        problems.push("the last line does not end".to_owned());
    }
    problems
}

#[test]
fn every_sample_is_sound_on_every_base() {
    for name in samples() {
        for base in [None, Some(Base::Alpine), Some(Base::Debian)] {
            let Generated { dockerfile, .. } = generated(&name, base);
            let problems = problems(&dockerfile);
            assert!(problems.is_empty(), "{name} on {base:?}: {problems:#?}\n{dockerfile}");
        }
    }
}

#[test]
fn the_check_can_fail() {
    let end = "USER 1:1\nCMD [\"a\"]\n";
    for (text, words) in [
        ("FROM alpine:3.22\nUSER 1:1\n", "runs nothing"),
        ("FROM alpine:3.22\nCMD [\"a\"]\n", "as root"),
        (&format!("FROM alpine\n{end}"), "not pinned"),
        (&format!("FROM ghcr.io/a/b:1\n{end}"), "not known"),
        (&format!("FROM alpine:3.22\nCOPY --from=x a b\n{end}"), "no such stage"),
        (&format!("FROM alpine:3.22\nHELLO\n{end}"), "not an instruction"),
        (&format!("FROM alpine:3.22\nRUN a \\\n\n{end}"), "does not end"),
        ("FROM alpine:3.22\nUSER 1:1\nCMD a\n", "without a shell"),
    ] {
        let found = problems(text);
        assert!(found.iter().any(|problem| problem.contains(words)), "{text}: {found:?}");
    }
    assert!(problems(&format!("FROM alpine:3.22\n{end}")).is_empty());
}

#[test]
fn dependencies_come_before_sources() {
    for name in samples() {
        let Generated { dockerfile, .. } = generated(&name, None);
        for stage in dockerfile.split("\nFROM ") {
            let fetch = [
                "go mod download",
                "npm ci",
                "pnpm install",
                "-r requirements.txt",
                "cargo fetch",
                "dependency:go-offline",
                "gradle --no-daemon dependencies",
            ];
            let Some(fetched) = fetch.iter().find_map(|words| stage.find(words)) else { continue };
            let sources = stage.find("COPY . .").unwrap_or(stage.len());
            assert!(fetched < sources, "{name}: {stage}");
        }
    }
}

#[test]
fn secrets_stay_out() {
    for name in samples() {
        let Generated { dockerfile, dockerignore, .. } = generated(&name, None);
        assert!(dockerignore.lines().any(|line| line == "**/.env"), "{name}");
        for line in dockerfile.lines().filter(|line| line.starts_with("COPY")) {
            assert!(!line.contains(".npmrc"), "{name}: {line}");
        }
    }
    let Generated { dockerfile, dockerignore, .. } = generated("node-workspaces", None);
    assert!(dockerfile.contains("--mount=type=secret,id=npmrc"), "{dockerfile}");
    assert!(dockerignore.lines().any(|line| line == ".npmrc"), "{dockerignore}");
}

/// Files of a project, and words that its Dockerfile must hold.
type Case = (&'static [(&'static str, &'static str)], &'static [&'static str]);

const MAIN_GO: (&str, &str) = ("main.go", "package main\n\nfunc main() {}\n");

const CASES: &[Case] = &[
    // Go.
    (
        &[
            ("go.mod", "module a\n\ngo 1.22.3\n"),
            MAIN_GO,
            ("c.go", "package main\n\nimport \"C\"\n"),
        ],
        &["golang:1.22.3-bookworm", "`import \"C\"` in c.go:3 needs cgo", "CGO_ENABLED=1"],
    ),
    (
        &[("go.mod", "module a\n\ngo 1.22\n"), MAIN_GO, ("c_test.go", "import \"C\"\n")],
        &["golang:1.22-alpine"],
    ),
    (
        &[
            ("go.work", "go 1.24\n\nuse (\n\t./api\n\t./lib\n)\n"),
            ("api/go.mod", "module api\n\ngo 1.21\n"),
            ("lib/go.mod", "module lib\n\ngo 1.21\n"),
            ("api/main.go", MAIN_GO.1),
        ],
        &["golang:1.24-alpine", "COPY api/go.mod ./api/", "COPY lib/go.mod ./lib/", "./api\n"],
    ),
    (&[("go.mod", "module a\n"), MAIN_GO], &["the project pins no version"]),
    // Node.
    (
        &[
            (
                "package.json",
                r#"{"packageManager": "yarn@4.5.0", "main": "a.js", "dependencies": {"koa": "2"}}"#,
            ),
            ("yarn.lock", ""),
        ],
        &["corepack enable", "CMD [\"node\", \"a.js\"]"],
    ),
    (
        &[
            ("package.json", r#"{"dependencies": {"koa": "2"}}"#),
            ("pnpm-lock.yaml", "lockfileVersion: '6.0'\n"),
            ("server.js", ""),
        ],
        &["npm install --global pnpm@8\n", "CMD [\"node\", \"server.js\"]"],
    ),
    (
        &[("package.json", r#"{"dependencies": {"koa": "2"}, "main": "a.js"}"#)],
        &["There is no lockfile", "npm install --omit=dev"],
    ),
    (
        // What is started is a tool for development, so all modules are needed.
        &[(
            "package.json",
            r#"{"scripts": {"start": "tsx a.ts"}, "dependencies": {"koa": "2"}, "devDependencies": {"tsx": "4"}}"#,
        )],
        &["npm install\n", "COPY --from=build /app/ ./", "CMD [\"npm\", \"start\"]"],
    ),
    (
        &[("package.json", r#"{"main": "a.js", "dependencies": {"@prisma/client": "6"}}"#)],
        &["node:24-trixie AS modules", "node:24-trixie-slim", "openssl"],
    ),
    // Python.
    (
        &[("requirements.txt", "-e .\n"), ("setup.py", "setup(python_requires='>=3.11')\n")],
        &["COPY . .\nRUN --mount=type=cache,target=/root/.cache/pip \\\n    pip install -r"],
    ),
    (
        &[("requirements.txt", "flask @ git+https://example.com/flask\n"), ("main.py", "")],
        &["RUN apk add --no-cache git"],
    ),
    (
        &[("requirements.txt", "left-pad-native\n"), ("runtime.txt", "python-3.11.9\n")],
        &["python:3.11.9-slim", "left-pad-native (requirements.txt:1) may bring compiled code"],
    ),
    (
        &[("requirements.txt", "flask\n"), ("web/__init__.py", "app = Flask(__name__)\n")],
        &["[\"flask\", \"--app\", \"web\", \"run\"", "add gunicorn"],
    ),
    // Rust.
    (
        &[
            (
                "Cargo.toml",
                "[package]\nname = \"a\"\nedition = \"2024\"\nrust-version = \"1.80\"\n",
            ),
            ("Cargo.lock", "name = \"frobnicate-sys\"\n"),
            ("src/main.rs", ""),
        ],
        &["rust:1.85-slim-bookworm", "edition 2024", "frobnicate-sys (Cargo.lock:1) may link"],
    ),
    (
        &[
            ("Cargo.toml", "[package]\nname = \"a\"\n"),
            (
                "Cargo.lock",
                "name = \"openssl-src\"\nname = \"openssl-sys\"\nname = \"tonic-build\"\n",
            ),
            ("src/bin/one.rs", ""),
        ],
        &["-alpine", "build-base perl protobuf-dev", "--bin one"],
    ),
    (
        &[
            ("Cargo.toml", "[package]\nname = \"a\"\n\n[dependencies]\nnative-tls = \"0.2\"\n"),
            ("src/main.rs", ""),
        ],
        &["openssl-sys (Cargo.toml:5) links", "libssl-dev", "cargo fetch\n"],
    ),
    // Java.
    (
        &[(
            "build.gradle",
            "plugins {\n  id 'org.springframework.boot' version '3.4.0'\n}\nsourceCompatibility = '1.8'\n",
        )],
        &["gradle:8-jdk8", "bootJar", "eclipse-temurin:8-jre"],
    ),
    (
        &[
            (
                "build.gradle",
                "plugins { id 'java' }\njava.sourceCompatibility = JavaVersion.VERSION_17\n",
            ),
            ("buildSrc/build.gradle", ""),
        ],
        &["jdk17", "made of sources itself", "It could not be decided what to run"],
    ),
    (
        &[
            (
                "pom.xml",
                "<project><artifactId>a</artifactId><artifactId>quarkus-maven-plugin</artifactId></project>",
            ),
            (".sdkmanrc", "java=21.0.5-tem\n"),
        ],
        &["maven:3.9-eclipse-temurin-21", "quarkus-run.jar", "`java=21.0.5-tem` in .sdkmanrc:1"],
    ),
    // Several, of which one is the servant of the other.
    (
        &[
            ("go.mod", "module a\n\ngo 1.22\n"),
            MAIN_GO,
            ("package.json", "{\"devDependencies\": {\"husky\": \"9\"}}"),
            ("docs/requirements.txt", "sphinx\n"),
        ],
        &["golang:1.22-alpine AS build"],
    ),
];

#[test]
fn small_things_are_noticed() {
    for (texts, words) in CASES {
        let mut files = Files::new();
        for (path, text) in *texts {
            assert!(files.insert(path, text), "{path}");
        }
        let Generated { dockerfile, .. } = generate(&files, None).unwrap();
        assert!(problems(&dockerfile).is_empty(), "{dockerfile}");
        for words in *words {
            assert!(dockerfile.contains(words), "{words} is not in\n{dockerfile}");
        }
    }
}

#[test]
fn nothing_is_made_of_nothing() {
    let mut files = Files::new();
    files.insert("script.py", "print(1)\n");
    let error = generate(&files, None).unwrap_err().to_string();
    for language in ["Go", "Node", "Python", "Rust", "Java"] {
        assert!(error.contains(language), "{error}");
    }
}

#[test]
fn texts_of_a_project_cannot_become_instructions() {
    let mut files = Files::new();
    let evil = "x\\nRUN evil\\n\"]";
    let manifest = format!(
        r#"{{"main":"{evil}","scripts":{{"start":"node a.js\nRUN evil"}},"engines":{{"node":">=18\nRUN evil"}},"packageManager":"pnpm@9; evil"}}"#
    );
    files.insert("package.json", &manifest);
    files.insert("pnpm-lock.yaml", "");
    files.insert("go.mod", "module example.com/a;evil\ngo 1.22\nRUN evil\n");
    files.insert("main.go", "package main\nfunc main() {}\n");
    files
        .insert("Cargo.toml", "[package]\nname = \"a;evil\"\nrust-version = \"1.80\\nRUN evil\"\n");
    files.insert("src/main.rs", "");
    files.insert("pom.xml", "<release>17\nRUN evil</release><mainClass>a\nRUN evil</mainClass>");
    files.insert(".python-version", "3.12\u{0}\nRUN evil\n");
    files.insert("requirements.txt", "a;evil\nRUN evil\n");
    let Generated { dockerfile, dockerignore, .. } = generate(&files, None).unwrap();
    assert!(problems(&dockerfile).is_empty(), "{dockerfile}");
    for line in dockerfile.lines().chain(dockerignore.lines()) {
        assert!(line.starts_with('#') || !line.contains("evil"), "{line}\n{dockerfile}");
    }
}

proptest! {
    #[test]
    fn no_project_is_too_strange(
        names in prop::sample::subsequence(STRANGE.to_vec(), 1..5),
        text in "([a-z<>{}=\"':.,\\[\\]()#|/é -]{0,12}[0-9.]{0,5}\n?){0,12}",
    ) {
        let mut files = Files::new();
        for name in names {
            files.insert(name, &text);
            // The same below the head that such a file begins with.
            files.insert(&format!("part/{name}"), &format!("{}{text}", head(name)));
        }
        if let Ok(Generated { dockerfile, .. }) = generate(&files, None) {
            prop_assert!(problems(&dockerfile).is_empty(), "{dockerfile}");
        }
    }
}

const STRANGE: &[&str] = &[
    "go.mod",
    "go.work",
    "main.go",
    "package.json",
    ".nvmrc",
    "tsconfig.json",
    "pnpm-lock.yaml",
    "requirements.txt",
    "pyproject.toml",
    "Pipfile",
    "setup.cfg",
    "manage.py",
    "app.py",
    "poetry.lock",
    "Cargo.toml",
    "Cargo.lock",
    "rust-toolchain.toml",
    "rust-toolchain",
    "src/main.rs",
    "pom.xml",
    "build.gradle",
    "settings.gradle",
    ".sdkmanrc",
    ".tool-versions",
];

fn head(name: &str) -> &'static str {
    match name {
        "go.mod" => "module x\n\ngo ",
        "package.json" => {
            r#"{"scripts": {"build": "tsc", "start": "node a"}, "engines": {"node": ""#
        }
        "pyproject.toml" => "[project]\nrequires-python = \"",
        "Cargo.toml" => "[package]\nname = \"x\"\nrust-version = \"",
        "rust-toolchain.toml" => "[toolchain]\nchannel = \"",
        "pom.xml" => "<project><artifactId>x</artifactId><release>",
        "build.gradle" => "id 'application'\nsourceCompatibility = ",
        "app.py" => "app = FastAPI(",
        _ => "",
    }
}
