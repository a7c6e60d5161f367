//! The options that `run` and `exec` share, and what they make of a request.

use std::{
    env::{self, VarError},
    path::PathBuf,
};

use clap::{Args, ValueEnum};
use fumehood::{
    BackendChoice, PolicyChoice, Request, Workspace,
    policy::{GitAccess, HostPattern, NetMode, ProfileName},
};

use crate::{
    failure::Failure,
    limits::LimitArgs,
    render::Format,
    values::{DatasetArg, EnvArg, MountArg, StdinArg, VolumeArg, WorkspaceArg},
};

/// Options of every command that opens a box.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// The program's input: a text, @FILE, or - for your own.
    #[arg(long, value_name = "INPUT", allow_hyphen_values = true)]
    pub stdin: Option<StdinArg>,
    /// A variable for the program; without a value, your own is passed on.
    #[arg(long, value_name = "NAME[=VALUE]")]
    env: Vec<EnvArg>,
    /// The directory that becomes /workspace, or `none` for an empty one. Without a mode, as the
    /// policy says. With :overlay it stays as it is; see diff, apply and discard.
    #[arg(long, value_name = "DIR[:ro|rw|overlay]")]
    workspace: Option<WorkspaceArg>,
    /// A further file or directory in the box, read-only unless :rw is behind it.
    #[arg(long, value_name = "SOURCE:TARGET[:ro|rw]")]
    mount: Vec<MountArg>,
    /// A named volume, writable and kept between runs; made when first used.
    #[arg(long, value_name = "NAME:/PATH")]
    volume: Vec<VolumeArg>,
    /// A directory that appears read-only as /deps.
    #[arg(long, value_name = "DIR")]
    deps: Option<PathBuf>,
    /// A directory, or a tar, tar.gz or zip archive, that appears read-only as /candidate.
    #[arg(long, value_name = "PATH")]
    candidate: Option<PathBuf>,
    /// A file or directory that appears read-only as /datasets/NAME.
    #[arg(long, value_name = "NAME=PATH")]
    dataset: Vec<DatasetArg>,
    /// The git directory of a worktree as workspace: off, ro or rw. [default: ro]
    #[arg(long, value_enum, value_name = "ACCESS", hide_possible_values = true)]
    git: Option<GitArg>,
    /// The network inside: none, localhost for the box's own loopback, or allow for the hosts that
    /// the policy or --allow names. [default: as the policy says]
    #[arg(long, value_enum, value_name = "MODE", hide_possible_values = true)]
    network: Option<NetworkArg>,
    /// A host that can be reached, such as example.com:443 or *.example.com; host is this machine.
    #[arg(long, value_name = "HOST[:PORT]")]
    allow: Vec<HostPattern>,
    /// Answer the names of allowed hosts; with =false only addresses can be reached.
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        hide_possible_values = true
    )]
    allow_dns: Option<bool>,
    /// The policy file. [default: the nearest sandbox.policy.yaml upward from here]
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// A built-in policy instead of files: default, strict, build or agent.
    #[arg(long, value_name = "NAME", conflicts_with = "policy", value_parser = ProfileName::find)]
    profile: Option<ProfileName>,
    /// Leave this run out of the ledger, if the policy allows that.
    #[arg(long)]
    no_ledger: bool,
    /// What opens the box: auto, native, docker, podman, or local for no isolation at all. [default: auto]
    #[arg(long, visible_alias = "sandbox", value_name = "NAME")]
    backend: Option<BackendChoice>,
    /// The image of the box, for docker and podman. [default: fumehood/LANGUAGE]
    #[arg(long, value_name = "NAME")]
    image: Option<String>,
    /// The runtime that docker or podman uses, such as runsc. [default: the engine's own]
    #[arg(long, value_name = "NAME")]
    runtime: Option<String>,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    pub view: ViewArgs,
}

/// How the result is shown.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub struct ViewArgs {
    /// raw: as if started directly; text: a report; json: the outcome; jsonl: each event.
    #[arg(long, value_enum, hide_possible_values = true)]
    format: Option<Format>,
    /// Short for --format json.
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Print the plan and run nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Say more on standard error.
    #[arg(short, long)]
    pub verbose: bool,
}

impl ViewArgs {
    /// The format that was asked for.
    pub fn format(&self, default: Format) -> Format {
        if self.json { Format::Json } else { self.format.unwrap_or(default) }
    }
}

/// The network of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum NetworkArg {
    None,
    Localhost,
    Allow,
}

/// What a box gets of a worktree's git directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum GitArg {
    Off,
    Ro,
    Rw,
}

impl Options {
    /// Puts everything but the input on a request. `home` is the workspace if none is named.
    pub fn apply(self, mut request: Request, home: Option<Workspace>) -> Result<Request, Failure> {
        for variable in self.env {
            let value = match variable.value {
                Some(value) => value,
                None => callers_own(&variable.name)?,
            };
            request.env.insert(variable.name, value);
        }
        request.workspace = match self.workspace {
            Some(WorkspaceArg(workspace)) => workspace,
            None => home,
        };
        request.mounts = self.mount.into_iter().map(|MountArg(mount)| mount).collect();
        request.volumes = self.volume.into_iter().map(|VolumeArg(volume)| volume).collect();
        request.deps = self.deps;
        request.candidate = self.candidate;
        request.datasets = self.dataset.into_iter().map(|DatasetArg(dataset)| dataset).collect();
        request.git = self.git.map(|git| match git {
            GitArg::Off => GitAccess::Off,
            GitArg::Ro => GitAccess::ReadOnly,
            GitArg::Rw => GitAccess::ReadWrite,
        });
        request.network = self.network.map(|network| match network {
            NetworkArg::None => NetMode::None,
            NetworkArg::Localhost => NetMode::Localhost,
            NetworkArg::Allow => NetMode::Allow,
        });
        request.allow = self.allow;
        request.dns = self.allow_dns;
        request.policy = match (self.policy, self.profile) {
            (Some(file), _) => PolicyChoice::File(file),
            (None, Some(profile)) => PolicyChoice::Profile(profile),
            (None, None) => {
                PolicyChoice::Discover { from: PathBuf::from("."), otherwise: ProfileName::Default }
            }
        };
        request.unrecorded = self.no_ledger;
        request.backend = self.backend;
        request.image = self.image;
        request.runtime = self.runtime;
        request.limits = self.limits.overrides();
        Ok(request)
    }
}

fn callers_own(name: &str) -> Result<String, Failure> {
    env::var(name).map_err(|error| match error {
        VarError::NotPresent => Failure::VariableNotSet { name: name.to_owned() },
        VarError::NotUnicode(_) => Failure::VariableNotText { name: name.to_owned() },
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use fumehood::{Mount, TimeSpan, WorkspaceMode};

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    fn request(line: &[&str], home: Option<Workspace>) -> Result<Request, Failure> {
        let arguments = ["fumehood"].iter().chain(line);
        let options = Line::try_parse_from(arguments).expect("the test's line is right").options;
        options.apply(Request::command(["true"]), home)
    }

    fn home() -> Option<Workspace> {
        Some(Workspace { directory: ".".into(), mode: None })
    }

    #[test]
    fn every_option_arrives_in_the_request() {
        let line = [
            "--env=A=1",
            "--env",
            "B=",
            "--mount",
            "/x:/y:rw",
            "--network",
            "localhost",
            "--sandbox",
            "docker",
            "--image",
            "an/image",
            "--runtime",
            "runsc",
            "--timeout",
            "2s",
            "--pids",
            "7",
            "--output-limit",
            "1k",
        ];
        let request = request(&line, home()).unwrap();
        assert_eq!(request.env["A"], "1");
        assert_eq!(request.env["B"], "");
        assert_eq!(request.mounts, [Mount::read_write("/x", "/y")]);
        assert_eq!(request.network, Some(NetMode::Localhost));
        assert_eq!(request.backend, Some(fumehood::BackendName::Docker.into()));
        assert_eq!(request.image.as_deref(), Some("an/image"));
        assert_eq!(request.runtime.as_deref(), Some("runsc"));
        assert_eq!(request.limits.timeout, Some(TimeSpan::from_secs(2)));
        assert_eq!(request.limits.pids, Some(7));
        assert_eq!(request.limits.output.map(|bytes| bytes.get()), Some(1024));
        assert_eq!(request.limits.memory, None);
        assert_eq!(request.workspace, home());
    }

    #[test]
    fn what_else_is_mounted_arrives_in_the_request() {
        let line = [
            "--volume=cache:/cache-dir",
            "--deps=lib",
            "--candidate=c.zip",
            "--dataset=a=1",
            "--dataset=b=2",
            "--git=rw",
        ];
        let given = request(&line, None).unwrap();
        assert_eq!(given.volumes[0].name.as_str(), "cache");
        assert_eq!(given.deps, Some("lib".into()));
        assert_eq!(given.candidate, Some("c.zip".into()));
        assert_eq!(given.datasets.len(), 2);
        assert_eq!(given.git, Some(GitAccess::ReadWrite));
        assert_eq!(request(&[], None).unwrap().git, None);
    }

    #[test]
    fn the_network_arrives_in_the_request() {
        let line = ["--network=allow", "--allow", "a.com:443", "--allow=[::1]:80", "--allow-dns"];
        let given = request(&line, None).unwrap();
        assert_eq!((given.network, given.dns), (Some(NetMode::Allow), Some(true)));
        let hosts: Vec<String> = given.allow.iter().map(HostPattern::to_string).collect();
        assert_eq!(hosts, ["a.com:443", "[::1]:80"]);
        assert_eq!(request(&["--allow-dns=false"], None).unwrap().dns, Some(false));
        let nothing = request(&[], None).unwrap();
        assert_eq!((nothing.network, nothing.dns, nothing.allow.len()), (None, None, 0));
        // The flag takes no word that is not joined to it.
        assert!(Line::try_parse_from(["fumehood", "--allow-dns", "false"]).is_err());
        assert!(Line::try_parse_from(["fumehood", "--allow", "https://a.com"]).is_err());
    }

    #[test]
    fn a_named_workspace_replaces_the_default() {
        assert_eq!(request(&["--workspace", "none"], home()).unwrap().workspace, None);
        let named = request(&["--workspace", "/w:ro"], home()).unwrap().workspace.unwrap();
        assert_eq!(
            (named.directory.as_path(), named.mode),
            ("/w".as_ref(), Some(WorkspaceMode::ReadOnly))
        );
    }

    #[test]
    fn a_variable_that_is_not_set_cannot_be_copied() {
        let failure = request(&["--env", "FUMEHOOD_TEST_NOT_SET"], None).unwrap_err();
        assert_eq!(
            failure.to_string(),
            "the variable FUMEHOOD_TEST_NOT_SET is not set here: write --env FUMEHOOD_TEST_NOT_SET=VALUE"
        );
    }
}
