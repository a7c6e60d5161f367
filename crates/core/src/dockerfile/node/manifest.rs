//! What `package.json` says.

use serde_json::Value;

use super::super::{
    base::{Base, Packages},
    files::line_with,
    part::Part,
    version::Mention,
};

/// Modules with compiled code, or that bring programs made for glibc.
const NATIVE: &[&str] = &[
    "@tensorflow/tfjs-node",
    "argon2",
    "bcrypt",
    "better-sqlite3",
    "canvas",
    "cpu-features",
    "fibers",
    "grpc",
    "isolated-vm",
    "kerberos",
    "leveldown",
    "libxmljs",
    "libxmljs2",
    "node-gyp",
    "node-pty",
    "node-sass",
    "oracledb",
    "playwright",
    "prisma",
    "@prisma/client",
    "puppeteer",
    "re2",
    "robotjs",
    "serialport",
    "sharp",
    "snappy",
    "sqlite3",
    "usb",
    "zeromq",
];

/// Modules that need a package of the base when they run.
const PACKAGES: &[(&str, Packages)] = &[
    ("@prisma/client", Packages { debian: &["openssl"], alpine: &["openssl"] }),
    ("oracledb", Packages { debian: &["libaio1"], alpine: &["libaio"] }),
];

/// Tools that turn a frontend into files, and where they put them.
const BUNDLERS: &[(&str, &str)] = &[
    ("react-scripts", "build"),
    ("vite", "dist"),
    ("@vue/cli-service", "dist"),
    ("parcel", "dist"),
    ("webpack", "dist"),
    ("rollup", "dist"),
    ("esbuild", "dist"),
];

/// Modules that answer requests.
const SERVERS: &[&str] = &[
    "express",
    "fastify",
    "koa",
    "next",
    "nuxt",
    "@nestjs/core",
    "@hapi/hapi",
    "hono",
    "restify",
    "@hono/node-server",
    "@remix-run/node",
    "@sveltejs/adapter-node",
    "socket.io",
    "ws",
];

/// The text and what could be read of it. A file that is not JSON says nothing.
pub(super) struct Manifest {
    shown: String,
    text: String,
    json: Value,
}

impl Manifest {
    pub fn read(part: &Part) -> Manifest {
        let text = part.text("package.json").unwrap_or("").to_owned();
        let json = serde_json::from_str(&text).unwrap_or(Value::Null);
        Manifest { shown: part.shown("package.json"), text, json }
    }

    pub fn script(&self, name: &str) -> Option<&str> {
        self.json["scripts"][name].as_str()
    }

    pub fn main(&self) -> Option<&str> {
        let main = self.json["main"].as_str()?;
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
        main.chars().all(plain).then_some(main)
    }

    pub fn engine(&self) -> Option<&str> {
        self.json["engines"]["node"].as_str()
    }

    pub fn volta(&self) -> Option<&str> {
        self.json["volta"]["node"].as_str()
    }

    /// For example `pnpm@9.1.0+sha512.abc`.
    pub fn package_manager(&self) -> Option<&str> {
        self.json["packageManager"].as_str()
    }

    pub fn has_workspaces(&self) -> bool {
        !self.json["workspaces"].is_null()
    }

    /// The line of a key below another, such as `node` below `engines`.
    pub fn mention(&self, section: &str, says: &str) -> Mention {
        let start = line_with(&self.text, &format!("\"{section}\"")).unwrap_or(1);
        let lines = self.text.lines().enumerate().skip(start - 1);
        let node = lines.into_iter().find(|(_, line)| line.contains("\"node\""));
        let line = node.map_or(start, |(index, _)| index + 1);
        Mention { path: self.shown.clone(), line, says: says.to_owned() }
    }

    fn is_in(&self, section: &str, module: &str) -> bool {
        !self.json[section][module].is_null()
    }

    fn uses(&self, module: &str) -> bool {
        self.is_in("dependencies", module) || self.is_in("optionalDependencies", module)
    }

    pub fn is_dev_dependency(&self, module: &str) -> bool {
        self.is_in("devDependencies", module)
    }

    pub fn has_dependencies(&self) -> bool {
        let sections = ["dependencies", "optionalDependencies"];
        sections.iter().any(|section| {
            self.json[*section].as_object().is_some_and(|modules| !modules.is_empty())
        })
    }

    /// True if nothing at all has to be installed.
    pub fn is_free(&self) -> bool {
        let dev = self.json["devDependencies"].as_object();
        !self.has_dependencies() && dev.is_none_or(|modules| modules.is_empty())
    }

    /// Why compiled code is to be expected.
    pub fn native(&self) -> Option<String> {
        let module = NATIVE.iter().find(|module| self.uses(module))?;
        let line = line_with(&self.text, &format!("\"{module}\"")).unwrap_or(1);
        let place = format!("{}:{line}", self.shown);
        Some(format!("the module {module} ({place}) brings compiled code for glibc"))
    }

    /// Packages of the base that modules need when they run.
    pub fn runtime_packages(&self, base: Base) -> Vec<&'static str> {
        let wanted = PACKAGES.iter().filter(|(module, _)| self.uses(module));
        wanted.flat_map(|(_, packages)| packages.of(base)).copied().collect()
    }

    pub fn has_server(&self) -> bool {
        SERVERS.iter().any(|module| self.uses(module))
    }

    /// True if the script `start` runs a file with node.
    pub fn starts_node(&self) -> bool {
        self.script("start").is_some_and(|start| start.split_whitespace().next() == Some("node"))
    }

    /// Where the bundler of a frontend puts its files.
    pub fn bundler_output(&self) -> Option<&'static str> {
        let used = |module: &str| self.uses(module) || self.is_dev_dependency(module);
        BUNDLERS.iter().find(|(module, _)| used(module)).map(|(_, output)| *output)
    }

    /// Where the build of a server puts its files, where that is sure.
    pub fn compiler_output(&self, part: &Part) -> Option<String> {
        let build = self.script("build")?;
        let plain_compiler = build == "tsc" || build.starts_with("tsc ") || build == "nest build";
        if !plain_compiler {
            return None;
        }
        let output = out_dir(part.text("tsconfig.json")?)?;
        // Whatever is started must be among it.
        let started = self.script("start").or(self.main()).unwrap_or("");
        started.contains(&format!("{output}/")).then_some(output)
    }
}

/// `outDir` of `tsconfig.json`, which may hold comments and so is not read as JSON.
fn out_dir(tsconfig: &str) -> Option<String> {
    let line = tsconfig.lines().find(|line| line.trim_start().starts_with("\"outDir\""))?;
    let value = line.split_once(':')?.1.split('"').nth(1)?;
    let value = value.trim_start_matches("./").trim_end_matches('/');
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    (!value.is_empty() && value.chars().all(plain)).then(|| value.to_owned())
}
