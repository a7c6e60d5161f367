//! What one layer may do to those under it.

use super::{document, merged, policy};
use crate::{
    Bytes, LimitOverrides, WorkspaceMode,
    policy::{Document, Layered, NetMode, Overrides, Policy, PolicyMount, Rank, Spoken, merge},
    source::Problem,
};

fn with_request(project: &str, overrides: Overrides) -> Result<Policy, Problem> {
    let project = document("sandbox.policy.yaml", project);
    let request = Document::from_overrides(overrides)?;
    merge(&[Layered::new(Rank::Project, &project), Layered::new(Rank::Request, &request)])
}

fn memory(bytes: u64) -> Overrides {
    let memory = Some(Bytes::new(bytes));
    Overrides {
        limits: LimitOverrides { memory, ..LimitOverrides::default() },
        ..Overrides::default()
    }
}

#[test]
fn eight_gigabytes_over_a_ceiling_of_one_are_refused_with_its_line() {
    let project = "proc:\n  memory: 256m\nceiling:\n  memory: 1g\n";
    let problem = with_request(project, memory(8 << 30)).unwrap_err().to_string();
    assert_eq!(
        problem,
        "`proc.memory` asks for 8GiB, and the ceiling is 1GiB (sandbox.policy.yaml:5)\n \
         --> --memory\n \
         --> sandbox.policy.yaml:5:11\n  |\n5 |   memory: 1g\n  |           ^^ the ceiling\n  \
         = help: ask for no more than the ceiling, or raise it where it stands"
    );
    let policy = with_request(project, memory(64 << 20)).unwrap();
    assert_eq!(policy.limits().memory, Bytes::mib(64));
    let looser = with_request(project, memory(1 << 30)).unwrap();
    assert_eq!(looser.limits().memory, Bytes::mib(1024), "up to the ceiling it may loosen");
}

#[test]
fn a_request_may_speak_in_fields() {
    let overrides = Overrides { spoken: Spoken::Fields, ..memory(8 << 30) };
    let problem = with_request("ceiling: {memory: 1g}", overrides).unwrap_err();
    assert_eq!(problem.origin().unwrap().to_string(), "request.memory");
}

#[test]
fn nothing_goes_past_a_ceiling() {
    for (user, project, key) in [
        ("ceiling: {memory: 1g}", "proc: {memory: 2g}", "proc.memory"),
        ("ceiling: {memory: 1g}", "ceiling: {memory: 2g}", "ceiling.memory"),
        ("ceiling: {cpus: 2}", "proc: {cpus: 2.5}", "proc.cpus"),
        ("ceiling: {timeout: 1m}", "proc: {grace: 2m}", "proc.grace"),
        ("ceiling: {disk: 1g}", "fs: {disk: 2g}", "fs.disk"),
        ("ceiling: {workspace: ro}", "fs: {workspace: overlay}", "fs.workspace"),
        ("ceiling: {workspace: overlay}", "ceiling: {workspace: rw}", "ceiling.workspace"),
        ("ceiling: {mounts: ro}", "fs: {mounts: [{source: a, target: /a, mode: rw}]}", "fs.mounts"),
        ("ceiling: {mounts: none}", "fs: {mounts: [{source: a, target: /a}]}", "fs.mounts"),
        ("ceiling: {mounts: none}", "fs: {deps: a}", "fs.deps"),
        ("ceiling: {mounts: none}", "fs: {candidate: a}", "fs.candidate"),
        ("ceiling: {mounts: none}", "fs: {datasets: {a: a}}", "fs.datasets.a"),
        ("ceiling: {git: off}", "fs: {git: ro}", "fs.git"),
        ("ceiling: {net: none}", "net: {mode: localhost}", "net.mode"),
        ("ceiling: {net: localhost}", "net: {allow: [a.com]}", "net.allow"),
        ("ceiling: {net: ['*.a.com']}", "net: {allow: [a.com]}", "net.allow"),
        ("ceiling: {net: ['*.a.com']}", "ceiling: {net: ['*']}", "ceiling.net"),
        ("ceiling: {env: [LC_*]}", "env: {pass: [HOME]}", "env.pass"),
        ("ceiling: {env: [LC_*]}", "ceiling: {env: ['*']}", "ceiling.env"),
        ("extends: strict", "fs: {workspace: rw}", "fs.workspace"),
    ] {
        let problem = merged(user, project).unwrap_err();
        let message = problem.message();
        assert!(message.starts_with(&format!("`{key}` asks for")), "{user} {project}: {problem}");
        let shown = problem.to_string();
        assert!(shown.contains("--> project.yaml:2:"), "{shown}");
        assert!(shown.contains("the ceiling\n"), "{shown}");
        assert!(shown.contains("user.yaml:2:") || user.starts_with("extends"), "{shown}");
    }
}

#[test]
fn values_above_a_ceiling_that_was_lowered_are_lowered_too() {
    let under = "fs: {mounts: [{source: a, target: /a, mode: rw}]}\n\
                 net: {allow: [x.a.com, b.com]}\nenv: {pass: [HOME, LC_*]}\nproc: {memory: 1g}";
    let lowered = merged(
        under,
        "ceiling: {memory: 256m, mounts: ro, net: ['*.a.com'], env: [LC_*], workspace: overlay}",
    )
    .unwrap();
    assert_eq!(lowered.limits().memory, Bytes::mib(256));
    assert_eq!(
        lowered.limits[crate::policy::LimitKey::Memory].origin.to_string(),
        "project.yaml:2"
    );
    assert_eq!(lowered.fs.mounts[0].value.access, crate::Access::ReadOnly);
    assert_eq!(lowered.fs.workspace.value, WorkspaceMode::Overlay);
    assert!(lowered.host_decision("x.a.com", 443).allowed);
    assert!(!lowered.host_decision("b.com", 443).allowed);
    assert!(lowered.env_decision("LC_ALL").allowed && !lowered.env_decision("HOME").allowed);

    let none = merged(under, "ceiling: {mounts: none, net: [c.com]}").unwrap();
    assert!(none.fs.mounts.is_empty());
    assert_eq!(none.net.mode.value, NetMode::Localhost);
}

#[test]
fn lists_of_denials_only_grow() {
    let policy = merged(
        "fs: {deny: [a], protect: [b]}\nnet: {deny: [a.com]}\nenv: {deny: [A]}\nrequire: [seccomp]",
        "fs: {deny: [c], protect: [d]}\nnet: {deny: [c.com]}\nenv: {deny: [C]}\nrequire: [landlock]",
    )
    .unwrap();
    assert!(policy.denies_path("a").is_some() && policy.denies_path("c/d").is_some());
    assert!(policy.protects_path("b").is_some() && policy.protects_path("d").is_some());
    assert_eq!((policy.net.deny.len(), policy.env.deny.len(), policy.require.len()), (2, 2, 2));
}

#[test]
fn switches_stay_on_the_tight_side() {
    for (user, project, key) in [
        ("net: {dns: false}", "net: {dns: true}", "net.dns"),
        ("ledger: {required: true}", "ledger: {required: false}", "ledger.required"),
        ("ledger: {record_code: false}", "ledger: {record_code: true}", "ledger.record_code"),
        ("ledger: {record_env: false}", "ledger: {record_env: true}", "ledger.record_env"),
    ] {
        let problem = merged(user, project).unwrap_err();
        assert!(problem.message().starts_with(&format!("`{key}` is")), "{problem}");
        assert!(problem.to_string().contains("--> user.yaml:2:"), "{problem}");
        assert!(merged("", project).is_ok(), "{project}: nobody had decided");
        assert!(merged(project, user).is_ok(), "{user}: tightening is free");
    }
}

#[test]
fn a_denied_variable_cannot_be_set() {
    let problem = merged("env: {deny: [AWS_*]}", "env: {set: {AWS_REGION: x}}").unwrap_err();
    assert!(problem.to_string().contains("denied by user.yaml:2"), "{problem}");
    let dropped = merged("env: {set: {AWS_REGION: x}}", "env: {deny: [AWS_*]}").unwrap();
    assert!(dropped.env.set.is_empty());
}

#[test]
fn a_tighter_network_forgets_the_hosts() {
    let policy = merged("net: {allow: [a.com]}", "net: {mode: none}").unwrap();
    assert!(policy.net.allow.is_empty());
    assert!(!policy.host_decision("a.com", 443).allowed);
}

#[test]
fn a_mount_is_replaced_by_one_with_the_same_target() {
    let policy = merged(
        "fs: {mounts: [{source: a, target: /d, mode: rw}]}",
        "fs: {mounts: [{source: a, target: /d}]}",
    )
    .unwrap();
    assert_eq!(policy.fs.mounts.len(), 1);
    assert_eq!(policy.fs.mounts[0].origin.to_string(), "project.yaml:2");
}

#[test]
fn equals_that_contradict_each_other_are_refused() {
    for (one, other) in [
        ("env: {set: {A: x}}", "env: {set: {A: y}}"),
        ("fs: {deps: a}", "fs: {deps: b}"),
        ("fs: {datasets: {d: a}}", "fs: {datasets: {d: b}}"),
        ("fs: {mounts: [{source: a, target: /d}]}", "fs: {mounts: [{source: b, target: /d}]}"),
    ] {
        let (one, other) = (document("one.yaml", one), document("other.yaml", other));
        let equals = [Layered::new(Rank::Project, &one), Layered::new(Rank::Project, &other)];
        let problem = merge(&equals).unwrap_err().to_string();
        assert!(problem.contains("one.yaml:2:") && problem.contains("other.yaml:2:"), "{problem}");
    }
}

#[test]
fn an_equal_that_asks_for_less_does_not_excuse_the_other() {
    let user = document("user.yaml", "ceiling: {memory: 1g}");
    let (less, more) =
        (document("less.yaml", "proc: {memory: 64m}"), document("more.yaml", "proc: {memory: 8g}"));
    for (one, other) in [(&less, &more), (&more, &less)] {
        let layers = [
            Layered::new(Rank::User, &user),
            Layered::new(Rank::Project, one),
            Layered::new(Rank::Project, other),
        ];
        assert!(merge(&layers).unwrap_err().to_string().contains("more.yaml:2:"));
    }
}

#[test]
fn a_request_that_contradicts_itself_names_its_flags() {
    let overrides = Overrides {
        network: Some(NetMode::None),
        allow: vec!["a.com".parse().unwrap()],
        ..Overrides::default()
    };
    let problem = with_request("", overrides).unwrap_err().to_string();
    assert!(problem.contains("--> --allow") && problem.contains("--> --network"), "{problem}");
}

#[test]
fn every_override_arrives() {
    let overrides = Overrides {
        workspace: Some(WorkspaceMode::ReadOnly),
        mounts: vec![PolicyMount {
            source: "/a".into(),
            target: "/b".into(),
            access: crate::Access::ReadOnly,
        }],
        deps: Some("/deps".into()),
        candidate: Some("/candidate".into()),
        datasets: [("d".to_owned(), "/d".into())].into(),
        deny: vec!["x".parse().unwrap()],
        protect: vec!["y".parse().unwrap()],
        allow: vec!["a.com".parse().unwrap()],
        deny_hosts: vec!["b.com".parse().unwrap()],
        dns: Some(false),
        pass: vec!["LANG".parse().unwrap()],
        env: [("A".to_owned(), "b".to_owned())].into(),
        require: vec![crate::Layer::Seccomp],
        ledger_required: Some(true),
        ..memory(1 << 20)
    };
    let policy = with_request("", overrides).unwrap();
    let mut said: Vec<String> = policy
        .entries()
        .iter()
        .filter(|entry| entry.origin.place.is_none())
        .map(|entry| entry.origin.to_string())
        .collect();
    said.sort();
    said.dedup();
    assert_eq!(
        said,
        [
            "--allow",
            "--allow-dns",
            "--candidate",
            "--dataset d",
            "--deny",
            "--deny-host",
            "--deps",
            "--env",
            "--env A",
            "--ledger",
            "--memory",
            "--mount",
            "--protect",
            "--require",
            "--workspace",
        ]
    );
}

#[test]
fn the_digest_is_of_values_and_not_of_places() {
    let one = policy("proc: {memory: 1g}\nfs: {deny: [a, b]}");
    let same = policy("\n\nfs:\n  deny: [b, a]\nproc:\n  memory: 1024m\n");
    let other = policy("proc: {memory: 1g}\nfs: {deny: [a]}");
    assert_eq!(one.digest(), same.digest());
    assert_ne!(one.digest(), other.digest());
}
