//! The profiles that come with fumehood.

use super::{document, merged, policy};
use crate::{
    Bytes, LimitOverrides, Limits, WorkspaceMode,
    policy::{Layered, NetMode, ProfileName, Rank, merge},
};

fn profile(name: ProfileName) -> crate::policy::Policy {
    merge(&[Layered::new(Rank::BuiltIn, name.document())]).unwrap()
}

#[test]
fn every_profile_is_read_and_merged() {
    for name in ProfileName::ALL {
        let merged = profile(*name);
        assert_eq!(ProfileName::find(name.name()), Ok(*name));
        if let Some(extends) = &name.document().extends {
            assert_eq!(extends.value, ProfileName::Default, "profiles build on the default only");
        }
        assert!(merged.protects_path(".git/hooks/pre-commit").is_some());
    }
    assert!(ProfileName::find("stirct").unwrap_err().to_string().contains("`strict`"));
}

#[test]
fn the_default_says_everything_and_agrees_with_the_limits() {
    let policy = merge(&[]).unwrap();
    for entry in policy.entries() {
        assert_eq!(&*entry.origin.name, "built-in profile default", "{}", entry.key);
        assert!(entry.origin.place.is_some(), "{} is not said", entry.key);
    }
    assert_eq!(policy.limits(), Limits::default());
    assert_eq!(policy.net.mode.value, NetMode::None);
    assert_eq!(policy.fs.workspace.value, WorkspaceMode::ReadWrite);
    assert!(policy.fs.deny.is_empty());
}

#[test]
fn strict_and_agent_hide_secrets() {
    for name in [ProfileName::Strict, ProfileName::Agent] {
        let policy = profile(name);
        for path in [".env", "a/.env.local", ".ssh/id_rsa", "x/server.PEM", ".aws/credentials"] {
            assert!(policy.denies_path(path).is_some(), "{name:?}: {path}");
        }
        for path in ["src/main.rs", "environment.md", "keys.rs"] {
            assert!(policy.denies_path(path).is_none(), "{name:?}: {path}");
        }
        assert!(!policy.env_decision("AWS_SECRET_ACCESS_KEY").allowed);
    }
    assert_eq!(profile(ProfileName::Strict).fs.workspace.value, WorkspaceMode::ReadOnly);
    assert_eq!(profile(ProfileName::Agent).fs.workspace.value, WorkspaceMode::Overlay);
}

#[test]
fn a_project_cannot_trade_the_profile_of_its_user_for_a_looser_one() {
    for project in ["", "extends: default", "extends: build", "extends: agent"] {
        let policy = merged("extends: strict", project).unwrap();
        assert_eq!(policy.fs.workspace.value, WorkspaceMode::ReadOnly, "{project}");
        assert_eq!(policy.net.mode.value, NetMode::None, "{project}");
        assert_eq!(policy.limits().memory, Bytes::mib(256), "{project}");
    }
    let same = merged("extends: build", "extends: strict").unwrap();
    assert_eq!(same.digest(), merged("extends: strict", "extends: build").unwrap().digest());
}

#[test]
fn a_language_gets_what_it_needs_unless_somebody_decided() {
    let needs = LimitOverrides { memory: Some(Bytes::mib(1024)), ..LimitOverrides::default() };
    assert_eq!(policy("").limits_for(&needs).memory, Bytes::mib(1024));
    assert_eq!(policy("proc: {memory: 64m}").limits_for(&needs).memory, Bytes::mib(64));
    assert_eq!(policy("extends: strict").limits_for(&needs).memory, Bytes::mib(256));
    let ceiling = policy("ceiling: {memory: 700m}");
    assert_eq!(ceiling.limits_for(&needs).memory, Bytes::mib(700));
}

#[test]
fn a_profile_is_the_same_yaml() {
    for name in ProfileName::ALL {
        let own = document("copy.yaml", &name.text().replace("version: 1\n", ""));
        let copied = merge(&[Layered::new(Rank::BuiltIn, &own)]).unwrap();
        assert_eq!(copied.digest(), profile(*name).digest(), "{name:?}");
    }
}
