//! Tools of agents, and what those may ask for who ask through somebody else.

use super::{document, merged, policy};
use crate::{
    Bytes,
    policy::{Layered, Policy, Rank, ToolVerdict, merge},
    source::Problem,
};

fn verdict(policy: &Policy, tool: &str) -> ToolVerdict {
    policy.tool_decision(tool).verdict
}

#[test]
fn commands_go_to_a_box_unless_somebody_says_otherwise() {
    let policy = policy("");
    assert_eq!(verdict(&policy, "Bash"), ToolVerdict::Rewrite);
    assert_eq!(verdict(&policy, "mcp__fumehood__sandboxed_code_run"), ToolVerdict::Allow);
    assert_eq!(verdict(&policy, "mcp__fumehood"), ToolVerdict::Pass);
    for other in ["Read", "Write", "WebFetch", "bash", ""] {
        assert_eq!(verdict(&policy, other), ToolVerdict::Pass, "{other}");
    }
}

#[test]
fn the_tightest_list_counts() {
    let both = merged(
        "tools: {allow: [Read, Bash, 'mcp__*']}",
        "tools: {deny: ['mcp__evil__*'], rewrite: [Shell]}",
    )
    .unwrap();
    assert_eq!(verdict(&both, "Read"), ToolVerdict::Allow);
    assert_eq!(verdict(&both, "Bash"), ToolVerdict::Rewrite, "allowing does not undo a rewrite");
    assert_eq!(verdict(&both, "Shell"), ToolVerdict::Rewrite);
    assert_eq!(verdict(&both, "mcp__evil__read"), ToolVerdict::Deny);
    let decision = both.tool_decision("mcp__evil__read");
    let (pattern, origin) = decision.rule.unwrap();
    assert_eq!((pattern.to_string().as_str(), &*origin.name), ("mcp__evil__*", "project.yaml"));
}

#[test]
fn a_project_lets_through_only_what_its_user_does() {
    let problem = merged("", "tools: {allow: [Write]}").unwrap_err().to_string();
    assert!(problem.contains("`tools.allow` asks for Write"), "{problem}");
    assert!(merged("", "tools: {allow: ['mcp__fumehood__sandboxed_*']}").is_ok());
    assert!(merged("tools: {allow: [Write]}", "tools: {allow: [Write]}").is_ok());
    let ceiling = "ceiling: {tools: [Read, 'mcp__*']}";
    assert!(merged(ceiling, "tools: {allow: [Read, mcp__a__b]}").is_ok());
    assert!(merged(ceiling, "tools: {allow: [Write]}").is_err());
    let own = "ceiling: {tools: ['*']}\ntools: {allow: [Write]}";
    assert!(merged("", own).is_err(), "nobody gives leave to themselves");
    let lowered = merged("tools: {allow: [Read]}", "ceiling: {tools: []}").unwrap();
    assert_eq!(verdict(&lowered, "Read"), ToolVerdict::Pass);
}

fn asked_by_a_guest(user: &str, guest: &str) -> Result<Policy, Problem> {
    let (user, guest) = (document("user.yaml", user), document("sandboxPolicy", guest));
    merge(&[Layered::new(Rank::User, &user), Layered::new(Rank::Guest, &guest)])
}

#[test]
fn a_guest_loosens_only_where_somebody_set_a_ceiling() {
    for guest in [
        "proc: {memory: 2g}",
        "proc: {timeout: 1h}",
        "fs: {mounts: [{source: /etc, target: /e}]}",
        "fs: {git: rw}",
        "net: {mode: localhost}",
        "net: {allow: [example.com]}",
        "env: {pass: [HOME]}",
        "tools: {allow: [Write]}",
        "ceiling: {memory: 1t}",
        "extends: build",
        "extends: strict",
    ] {
        assert!(asked_by_a_guest("", guest).is_err(), "{guest}");
    }
    let problem = asked_by_a_guest("", "proc: {memory: 2g}").unwrap_err().to_string();
    assert!(problem.contains("nobody has set a ceiling"), "{problem}");
    let raised = asked_by_a_guest("ceiling: {memory: 4g}", "proc: {memory: 2g}").unwrap();
    assert_eq!(raised.limits().memory, Bytes::mib(2048));
    assert!(asked_by_a_guest("ceiling: {memory: 4g}", "proc: {memory: 8g}").is_err());
}

#[test]
fn a_guest_tightens_freely_and_keeps_what_holds() {
    let user = "fs: {mounts: [{source: /data, target: /data}]}\nenv: {pass: [LANG]}";
    let tight = asked_by_a_guest(user, "proc: {memory: 64m}\nfs: {workspace: ro}").unwrap();
    assert_eq!(tight.limits().memory, Bytes::mib(64));
    assert_eq!(tight.fs.mounts.len(), 1, "mounts of others stay");
    assert_eq!(tight.env.pass.len(), 1);
}
