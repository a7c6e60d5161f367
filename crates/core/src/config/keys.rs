//! Every key of the configuration, described once.

use serde_json::Value;

use super::{Kind, Settings, slot::Slot};
use crate::source::Origin;
use InProject::{Any, Never, Not};

/// Keys that belong together.
pub struct Section {
    /// Its name in the file; empty for keys that stand at the top.
    pub name: &'static str,
    /// What its keys are about.
    pub about: &'static str,
    /// Its keys.
    pub keys: &'static [Key],
}

/// A key: everything that anybody needs to know about it.
pub struct Key {
    /// Its whole name: `executor.type`.
    pub name: &'static str,
    /// The variable that sets it, too.
    pub variable: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// A value, written as in the variable.
    pub example: &'static str,
    /// What a project may say.
    pub project: InProject,
    pub(super) get: fn(&Settings) -> &dyn Slot,
    pub(super) get_mut: fn(&mut Settings) -> &mut dyn Slot,
}

/// What the file of a project may say. It may come from a stranger, as its code may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InProject {
    /// Anything.
    Any,
    /// Anything but this value, also in a list.
    Not(&'static str),
    /// Nothing.
    Never,
}

impl Key {
    /// Its name within its section.
    pub fn short_name(&self) -> &'static str {
        self.name.rsplit('.').next().unwrap_or(self.name)
    }

    /// What can be written there.
    pub fn kind(&self) -> Kind {
        (self.get)(&Settings::default()).kind()
    }

    /// The value where nobody says anything; nothing if there is none.
    pub fn default(&self) -> Value {
        (self.get)(&Settings::default()).show()
    }

    /// The value of the example.
    pub fn example(&self) -> Value {
        let mut settings = Settings::default();
        let slot = (self.get_mut)(&mut settings);
        // A test reads every example.
        match slot.parse(self.example, Origin::named("example")) {
            Ok(()) => slot.show(),
            Err(_) => Value::Null,
        }
    }
}

/// All keys.
pub fn keys() -> impl Iterator<Item = &'static Key> {
    SECTIONS.iter().flat_map(|section| section.keys)
}

/// A row of the table.
macro_rules! key {
    ($name:expr, $variable:expr, $($field:ident).+, $project:expr, $example:expr, $about:expr) => {
        Key {
            name: $name,
            variable: $variable,
            about: $about,
            example: $example,
            project: $project,
            get: |settings| &settings.$($field).+,
            get_mut: |settings| &mut settings.$($field).+,
        }
    };
}

/// The rows of a container engine: name, field, part of the variable, name for people, socket.
macro_rules! engine {
    ($name:literal, $field:ident, $variable:literal, $called:literal, $socket:literal) => {
        Section {
            name: $name,
            about: concat!("Boxes made by ", $called, "."),
            keys: &[
                key!(concat!($name, ".host"), concat!("FUMEHOOD_", $variable, "_HOST"), $field.host, Never,
                    $socket, concat!("Where ", $called, " listens. Absent: where it usually does.")),
                key!(concat!($name, ".image"), concat!("FUMEHOOD_", $variable, "_IMAGE"), $field.image, Any,
                    "debian:stable-slim", "The image of boxes whose language has none in `images`."),
                key!(concat!($name, ".runtime"), concat!("FUMEHOOD_", $variable, "_RUNTIME"), $field.runtime, Never,
                    "runsc", "The OCI runtime. Absent: that of the engine."),
                key!(concat!($name, ".network"), concat!("FUMEHOOD_", $variable, "_NETWORK"), $field.network, Any,
                    "none", "The network of boxes. They never have one; egress is lent to them by the policy."),
                key!(concat!($name, ".readonly"), concat!("FUMEHOOD_", $variable, "_READONLY"), $field.readonly, Not("false"),
                    "true", "Whether the image cannot be written."),
                key!(concat!($name, ".tmpfs"), concat!("FUMEHOOD_", $variable, "_TMPFS"), $field.tmpfs, Any,
                    "/cache:64m", "Further directories in memory."),
                key!(concat!($name, ".volumes"), concat!("FUMEHOOD_", $variable, "_VOLUMES"), $field.volumes, Never,
                    "/srv/data:/data:ro", "Directories and files of the host that are in every box."),
                key!(concat!($name, ".env"), concat!("FUMEHOOD_", $variable, "_ENV"), $field.env, Any,
                    "LANG=C.UTF-8", "Variables that are set in every box."),
            ],
        }
    };
}

/// Every section, in the order in which they are shown.
#[rustfmt::skip]
pub static SECTIONS: &[Section] = &[
    Section {
        name: "executor",
        about: "What carries out runs.",
        keys: &[
            key!("executor.type", "FUMEHOOD_EXECUTOR", executor.kind, Not("local"),
                "docker", "Which executor is used. `auto`: the first of `executor.order` that works here."),
            key!("executor.order", "FUMEHOOD_EXECUTOR_ORDER", executor.order, Not("local"),
                "native,docker", "Which executors `auto` tries, in this order."),
            key!("executor.fallback", "FUMEHOOD_EXECUTOR_FALLBACK", executor.fallback, Not("local"),
                "none", "What `auto` does where none of them works. `local` runs code without any isolation."),
        ],
    },
    Section {
        name: "limits",
        about: "Limits of a run that neither its policy nor its caller sets.",
        keys: &[
            key!("limits.memory", "FUMEHOOD_MEMORY", limits.memory, Any,
                "512m", "Memory of all processes together."),
            key!("limits.cpus", "FUMEHOOD_CPUS", limits.cpus, Any,
                "0.5", "Processor cores, also parts of one."),
            key!("limits.pids", "FUMEHOOD_PIDS", limits.pids, Any,
                "100", "Processes and threads alive at once."),
            key!("limits.timeout", "FUMEHOOD_TIMEOUT", limits.timeout, Any,
                "30s", "Wall time; then the run is ended."),
            key!("limits.grace", "FUMEHOOD_GRACE", limits.grace, Any,
                "500ms", "Time between the polite signal and the final one."),
            key!("limits.output", "FUMEHOOD_OUTPUT_LIMIT", limits.output, Any,
                "16m", "Standard output and error together."),
            key!("limits.disk", "FUMEHOOD_DISK", limits.disk, Any,
                "1g", "Writable space besides the workspace."),
            key!("limits.open_files", "FUMEHOOD_OPEN_FILES", limits.open_files, Any,
                "1024", "Open files of one process."),
            key!("limits.file_size", "FUMEHOOD_FILE_SIZE", limits.file_size, Any,
                "256m", "Size of one file."),
        ],
    },
    engine!("docker", docker, "DOCKER", "Docker", "unix:///var/run/docker.sock"),
    engine!("podman", podman, "PODMAN", "Podman", "unix:///run/podman/podman.sock"),
    Section {
        name: "ledger",
        about: "The record of all outcomes.",
        keys: &[
            key!("ledger.enabled", "FUMEHOOD_LEDGER", ledger.enabled, Not("false"),
                "true", "Whether it is kept."),
            key!("ledger.directory", "FUMEHOOD_LEDGER_DIRECTORY", ledger.directory, Never,
                "/var/lib/fumehood/ledger", "Where it is kept. Absent: in the state directory."),
            key!("ledger.rotate_at", "FUMEHOOD_LEDGER_ROTATE_AT", ledger.rotate_at, Any,
                "64m", "The size at which a new file is begun."),
        ],
    },
    Section {
        name: "policy",
        about: "What is allowed.",
        keys: &[
            key!("policy.profile", "FUMEHOOD_POLICY_PROFILE", policy.profile, Any,
                "strict", "The built-in policy that is used where no policy file says otherwise."),
        ],
    },
    Section {
        name: "",
        about: "Images by language.",
        keys: &[
            key!("images", "FUMEHOOD_IMAGES", images, Any,
                "python=python:3.12-slim,go=golang:1.24", "The image of boxes for a language, under Docker and Podman."),
        ],
    },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_and_variables_are_unique_and_follow_one_form() {
        let names: BTreeSet<_> = keys().map(|key| key.name).collect();
        let variables: BTreeSet<_> = keys().map(|key| key.variable).collect();
        assert_eq!((names.len(), variables.len()), (keys().count(), keys().count()));
        assert!(variables.iter().all(|variable| variable.starts_with("FUMEHOOD_")));
        for section in SECTIONS {
            for key in section.keys {
                let whole = format!("{}.{}", section.name, key.short_name());
                assert_eq!(key.name, whole.trim_start_matches('.'));
                assert!(key.about.ends_with('.') && !key.about.contains('|'), "{}", key.name);
            }
        }
    }

    #[test]
    fn every_row_means_its_own_field() {
        for key in keys() {
            let mut settings = Settings::default();
            (key.get_mut)(&mut settings).parse(key.example, Origin::named("test")).unwrap();
            let set: Vec<_> = keys()
                .filter(|other| &*(other.get)(&settings).origin().name == "test")
                .map(|other| other.name)
                .collect();
            assert_eq!(set, [key.name]);
        }
    }

    #[test]
    fn what_a_project_must_not_say_can_be_said_at_all() {
        for key in keys() {
            if let Not(word) = key.project {
                let parsed =
                    (key.get_mut)(&mut Settings::default()).parse(word, Origin::named("test"));
                assert!(parsed.is_ok(), "{}: {parsed:?}", key.name);
            }
        }
    }
}
