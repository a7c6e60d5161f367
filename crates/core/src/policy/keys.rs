//! Every key of a policy: what it means, what it takes, an example. The schema is made from this
//! table, and a test holds it against the parser.

use super::{GitAccess, NetMode, ProfileName, choice::Choice, limit::LimitKey};
use crate::{Layer, WorkspaceMode, egress::TlsRule};

/// What a key takes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Takes {
    /// The number of the format.
    Version,
    /// One of these words.
    Word(fn() -> Vec<&'static str>),
    /// A list of these words.
    Words(fn() -> Vec<&'static str>),
    /// Bytes.
    Size,
    /// Processors.
    Cores,
    /// A whole number.
    Count,
    /// A length of time.
    Time,
    /// `true` or `false`.
    Flag,
    /// A path of the host.
    HostPath,
    /// A path in the box.
    BoxPath,
    /// A list of file patterns.
    Globs,
    /// A list of host patterns.
    Hosts,
    /// A list of host patterns, or of sections whose keys are those of this key.
    Rules,
    /// A host pattern.
    Host,
    /// A list of ports and ranges of ports.
    Ports,
    /// A section whose keys are those of this key.
    Section,
    /// The name of a header.
    Header,
    /// Where a secret is.
    Secret,
    /// A network of IPv4 addresses.
    Network,
    /// A list of names of variables.
    Names,
    /// A list of patterns for variables.
    Variables,
    /// A list of patterns for tools.
    Tools,
    /// Names with paths.
    NamedPaths,
    /// Variables with values.
    NamedTexts,
    /// A list of mounts, whose keys are those of `fs.mounts`.
    Mounts,
    /// `none`, `localhost` or a list like that of `Rules`.
    NetCeiling,
}

/// One key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    /// The section; empty at the top.
    pub section: &'static str,
    /// The name.
    pub name: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// What it means.
    pub about: &'static str,
    /// A value that works, as YAML.
    pub example: &'static str,
}

/// A section and what it is about.
pub(super) const SECTIONS: &[(&str, &str)] = &[
    ("fs", "Files: what can be read, written, seen."),
    ("net", "The network: what can be reached."),
    ("proc", "Processes: what they may use."),
    ("env", "Variables: what enters."),
    ("tools", "The tools of an agent: what `fumehood hook` says about them."),
    ("ledger", "The record of runs."),
    ("ceiling", "How far later layers may loosen. Only ever lowered."),
];

fn words<T: Choice>() -> Vec<&'static str> {
    T::ALL.iter().map(|choice| choice.word()).collect()
}

fn read_or_write() -> Vec<&'static str> {
    vec!["ro", "rw"]
}

fn mount_leave() -> Vec<&'static str> {
    words::<super::MountLeave>()
}

const fn key(
    section: &'static str,
    name: &'static str,
    takes: Takes,
    about: &'static str,
    example: &'static str,
) -> Key {
    Key { section, name, takes, about, example }
}

/// The kind of each limit.
pub(super) fn takes(limit: LimitKey) -> Takes {
    match limit {
        LimitKey::Memory | LimitKey::Output | LimitKey::Disk | LimitKey::FileSize => Takes::Size,
        LimitKey::Cpus => Takes::Cores,
        LimitKey::Pids | LimitKey::OpenFiles => Takes::Count,
        LimitKey::Timeout | LimitKey::Grace => Takes::Time,
    }
}

fn about(limit: LimitKey) -> &'static str {
    match limit {
        LimitKey::Memory => "Memory of all processes together. Swap is off.",
        LimitKey::Cpus => "Processors, also parts of one.",
        LimitKey::Pids => "Processes and threads alive at once.",
        LimitKey::Timeout => "Wall time of the run.",
        LimitKey::Grace => "Time between the polite signal and the final one.",
        LimitKey::Output => "Bytes of both output streams together.",
        LimitKey::Disk => "Writable space that is not a mounted directory of the caller.",
        LimitKey::OpenFiles => "Open files of each process.",
        LimitKey::FileSize => "Size of one file.",
    }
}

/// Every key.
pub(super) fn keys() -> Vec<Key> {
    let mut keys = vec![
        key("", "version", Takes::Version, "The version of the format. Always 1.", "1"),
        key(
            "",
            "extends",
            Takes::Word(words::<ProfileName>),
            "The built-in profile below. Absent: default.",
            "strict",
        ),
        key(
            "",
            "require",
            Takes::Words(words::<Layer>),
            "Layers of isolation without which nothing runs.",
            "[seccomp]",
        ),
        key(
            "fs",
            "workspace",
            Takes::Word(words::<WorkspaceMode>),
            "The workspace: ro can only be read, overlay keeps changes beside it, rw is written.",
            "ro",
        ),
        key(
            "fs",
            "mounts",
            Takes::Mounts,
            "Further directories of the host.",
            "[{source: a, target: /a}]",
        ),
        key(
            "fs.mounts",
            "source",
            Takes::HostPath,
            "The path on the host. Relative to the file.",
            "data",
        ),
        key("fs.mounts", "target", Takes::BoxPath, "The path in the box. Absolute.", "/data"),
        key("fs.mounts", "mode", Takes::Word(read_or_write), "ro, the default, or rw.", "ro"),
        key("fs", "deps", Takes::HostPath, "A directory of dependencies, to be read.", "vendor"),
        key(
            "fs",
            "candidate",
            Takes::HostPath,
            "A directory with what is to be tried, to be read.",
            "work",
        ),
        key(
            "fs",
            "datasets",
            Takes::NamedPaths,
            "Data to be read, by name.",
            "{irises: irises.csv}",
        ),
        key(
            "fs",
            "deny",
            Takes::Globs,
            "What cannot be seen. Adds to the layers below.",
            "[\"**/.env\"]",
        ),
        key(
            "fs",
            "protect",
            Takes::Globs,
            "What cannot be changed. Adds to the layers below.",
            "[Makefile]",
        ),
        key(
            "fs",
            "git",
            Takes::Word(words::<GitAccess>),
            "The repository that the .git file of a worktree points to.",
            "ro",
        ),
        key(
            "net",
            "mode",
            Takes::Word(words::<NetMode>),
            "none: nothing. localhost: the loopback of the box. allow: the listed hosts too.",
            "localhost",
        ),
        key(
            "net",
            "allow",
            Takes::Rules,
            "Hosts that can be reached. Alone it means mode allow.",
            "[example.com:443]",
        ),
        key("net.allow", "host", Takes::Host, "The hosts.", "example.com"),
        key("net.allow", "ports", Takes::Ports, "The ports. Absent: all.", "[80, 443]"),
        key(
            "net.allow",
            "tls",
            Takes::Word(words::<TlsRule>),
            "required: TLS for the name that was dialled. any: also something else.",
            "required",
        ),
        key(
            "net.allow",
            "inject",
            Takes::Section,
            "A secret for every request of plain HTTP, which the box does not see.",
            "{header: Authorization, from: env:TOKEN}",
        ),
        key("net.allow.inject", "header", Takes::Header, "The header.", "Authorization"),
        key("net.allow.inject", "from", Takes::Secret, "Where its value is.", "env:TOKEN"),
        key(
            "net",
            "deny",
            Takes::Hosts,
            "Hosts that cannot be reached. Wins.",
            "[\"*.example.com\"]",
        ),
        key(
            "net",
            "dns",
            Takes::Flag,
            "Whether names are answered. Only allowed ones ever are.",
            "true",
        ),
        key(
            "net",
            "synthetic",
            Takes::Network,
            "Where the addresses come from that stand for names in the box.",
            "198.18.0.0/15",
        ),
        key("net", "limits", Takes::Section, "How much may be used.", "{connections: 16}"),
        key("net.limits", "connections", Takes::Count, "Connections at once.", "16"),
        key("net.limits", "bytes", Takes::Size, "Bytes in both directions together.", "100m"),
        key("net.limits", "rate", Takes::Size, "Bytes in each second.", "1m"),
        key("env", "pass", Takes::Variables, "Variables of the caller that enter.", "[LANG, LC_*]"),
        key("env", "set", Takes::NamedTexts, "Variables with fixed values.", "{CI: \"true\"}"),
        key("env", "deny", Takes::Variables, "Variables that never enter. Wins.", "[AWS_*]"),
        key(
            "tools",
            "allow",
            Takes::Tools,
            "Tools that need no further question.",
            "[mcp__fumehood__*]",
        ),
        key("tools", "deny", Takes::Tools, "Tools that are refused. Wins.", "[WebFetch]"),
        key(
            "tools",
            "rewrite",
            Takes::Tools,
            "Tools whose command is carried out in a box instead. Wins over allow.",
            "[Bash]",
        ),
        key("ledger", "required", Takes::Flag, "Whether a run must be recorded.", "true"),
        key("ledger", "record_code", Takes::Flag, "Whether the record holds the code.", "true"),
        key(
            "ledger",
            "record_env",
            Takes::Flag,
            "Whether the record holds the values of variables.",
            "false",
        ),
        key(
            "ceiling",
            "workspace",
            Takes::Word(words::<WorkspaceMode>),
            "The loosest workspace.",
            "overlay",
        ),
        key("ceiling", "mounts", Takes::Word(mount_leave), "Which mounts may be added.", "ro"),
        key(
            "ceiling",
            "net",
            Takes::NetCeiling,
            "none, localhost, or the hosts that may be allowed.",
            "[\"*.example.com\"]",
        ),
        key("ceiling.net", "host", Takes::Host, "The hosts.", "\"*.example.com\""),
        key(
            "ceiling.net",
            "tls",
            Takes::Word(words::<TlsRule>),
            "required: only rules that require TLS.",
            "required",
        ),
        key(
            "ceiling",
            "inject",
            Takes::Names,
            "Which variables files of projects may put into requests. Only the user's own file raises it.",
            "[API_TOKEN]",
        ),
        key("ceiling", "env", Takes::Variables, "Which variables may enter.", "[LC_*]"),
        key("ceiling", "git", Takes::Word(words::<GitAccess>), "The loosest repository.", "ro"),
        key("ceiling", "tools", Takes::Tools, "Which tools may be allowed.", "[mcp__fumehood__*]"),
    ];
    for limit in LimitKey::ALL {
        let (name, about, example) = (limit.word(), about(*limit), limit.example());
        keys.push(key(limit.section(), name, takes(*limit), about, example));
        if limit.ceiling() == *limit {
            keys.push(key("ceiling", name, takes(*limit), about, example));
        }
    }
    keys
}
