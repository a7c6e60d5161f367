//! From a question to a decision: the policy is asked, a command is put into a box, and what was
//! decided is recorded.

use std::{
    env,
    path::{Path, PathBuf},
};

use fumehood::{
    Configuration, PolicyChoice,
    ledger::{Ledger, Settings, ToolRecord, ledger_dir},
    policy::{self, Overrides, Policy, ToolVerdict},
};
use serde_json::{Map, Value};

use super::{
    GenericArgs,
    agent::{Agent, Question},
};

/// Why a question has no answer. The tool is blocked then.
#[derive(Debug, thiserror::Error)]
pub(super) enum HookFailure {
    #[error(
        "the question is not understood ({reason}): the tool is blocked; see `fumehood hook --help`"
    )]
    Input { reason: String },
    #[error("the event `{name}` is not known: install the hook for PreToolUse only")]
    Event { name: String },
    #[error("the tool is blocked, since there is no policy to go by: {0}")]
    Policy(#[from] fumehood::policy::PolicyError),
    #[error("the tool is blocked, since the configuration is wrong: {0}")]
    Config(#[from] fumehood::ConfigError),
    #[error("the tool is blocked, since the decision must be in the ledger and is not: {reason}")]
    Unrecorded { reason: String },
    #[error(
        "the tool is blocked, since this program does not know where it is ({reason}): start it by its path"
    )]
    NoProgram { reason: String },
}

/// An answer.
#[derive(Debug, PartialEq)]
pub(super) struct Decided {
    pub(super) verdict: ToolVerdict,
    pub(super) reason: String,
    /// What the tool is to do now.
    pub(super) input: Map<String, Value>,
}

pub(super) fn decide(
    agent: Agent,
    question: &Question,
    given: &GenericArgs,
) -> Result<Decided, HookFailure> {
    // The project is what the agent was started in; where its shell has gone since does not decide
    // which policy holds.
    let project = env::var_os("CLAUDE_PROJECT_DIR").map(PathBuf::from);
    let project = project.filter(|_| agent == Agent::ClaudeCode).or_else(|| question.cwd.clone());
    let project = project.unwrap_or_else(|| PathBuf::from("."));
    let settings = Configuration::load(&project, env::vars_os())?.settings;
    let otherwise = settings.policy.profile.value;
    let choice = match (&given.policy, given.profile) {
        (Some(file), _) => PolicyChoice::File(file.clone()),
        (None, Some(profile)) => PolicyChoice::Profile(profile),
        (None, None) => PolicyChoice::Discover { from: project.clone(), otherwise },
    };
    let wishes = Overrides { further: given.overrides.clone(), ..Overrides::default() };
    let policy = policy::load(&choice, &settings.limits.overrides(), wishes)?;
    let found = policy.tool_decision(&question.tool);
    let by = match found.rule {
        Some((pattern, origin)) => format!("`{pattern}` ({origin})"),
        None => "no rule of `tools`".to_owned(),
    };
    let mut decided =
        Decided { verdict: found.verdict, reason: String::new(), input: question.input.clone() };
    match found.verdict {
        ToolVerdict::Allow => decided.reason = format!("allowed by {by}"),
        ToolVerdict::Pass => decided.reason = format!("named by {by}: the agent decides"),
        ToolVerdict::Deny => {
            decided.reason = format!(
                "{} is denied by {by}: use the fumehood tools, which run in a box",
                question.tool
            );
        }
        ToolVerdict::Rewrite if given.no_rewrite || given.overrides.is_some() => {
            decided.verdict = ToolVerdict::Deny;
            decided.reason = format!(
                "{} must run in a box, because of {by}: use the fumehood tools, which run in one",
                question.tool
            );
        }
        ToolVerdict::Rewrite => {
            let chosen = match &choice {
                PolicyChoice::File(file) => ["--policy".to_owned(), absolute(file)],
                PolicyChoice::Profile(profile) => ["--profile".to_owned(), profile.to_string()],
                _ => match policy::find(&project)? {
                    Some(file) => ["--policy".to_owned(), absolute(&file)],
                    None => ["--profile".to_owned(), otherwise.to_string()],
                },
            };
            match boxed(&question.input, &chosen)? {
                Some(command) => {
                    decided.reason = format!("carried out in a box, because of {by}");
                    decided.input.insert("command".into(), command.into());
                }
                None => {
                    decided.verdict = ToolVerdict::Deny;
                    decided.reason = format!(
                        "{} must run in a box, because of {by}, and has no `command` that could: use the fumehood tools",
                        question.tool
                    );
                }
            }
        }
    }
    record(agent, question, &policy, &decided, &settings)?;
    Ok(decided)
}

fn absolute(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).to_string_lossy().into_owned()
}

/// The same command, carried out in a box.
fn boxed(input: &Map<String, Value>, chosen: &[String]) -> Result<Option<String>, HookFailure> {
    let Some(command) = input.get("command").and_then(Value::as_str) else { return Ok(None) };
    if command.contains('\0') {
        return Ok(None);
    }
    let program =
        env::current_exe().map_err(|error| HookFailure::NoProgram { reason: error.to_string() })?;
    let program = quoted(&program.to_string_lossy());
    let chosen: Vec<String> = chosen.iter().map(|word| quoted(word)).collect();
    Ok(Some(format!("{program} exec {} -- bash -c {}", chosen.join(" "), quoted(command))))
}

/// One word of a shell, whatever is in it.
pub(super) fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:@%+,".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

fn record(
    agent: Agent,
    question: &Question,
    policy: &Policy,
    decided: &Decided,
    settings: &fumehood::config::Settings,
) -> Result<(), HookFailure> {
    let unrecorded = |reason: String| match policy.ledger.required.value {
        true => Err(HookFailure::Unrecorded { reason }),
        false => {
            crate::output::line_for_people(&format!("the decision is not in the ledger: {reason}"));
            Ok(())
        }
    };
    if !settings.ledger.enabled.value {
        return match policy.ledger.required.value {
            true => unrecorded("`ledger.enabled` is false".to_owned()),
            false => Ok(()),
        };
    }
    let written = settings.ledger.directory().map_or_else(ledger_dir, Ok).and_then(|directory| {
        let kept = Settings { rotate_at: settings.ledger.rotate_at.value, ..Settings::default() };
        let ledger = Ledger::open(&directory, kept)?;
        let mut decision = policy.tool_decision(&question.tool);
        decision.verdict = decided.verdict;
        // Strings and numbers, which always serialize.
        let input = serde_json::to_vec(&question.input).unwrap_or_default();
        let extras = ledger.extras(Some(policy.digest()), Vec::new());
        let session = question.session.as_deref();
        let tool = &question.tool;
        let name = question.agent.as_deref().unwrap_or(agent.name());
        ledger.append_tool(ToolRecord::new(name, session, tool, &input, &decision, extras))
    });
    match written {
        Ok(_) => Ok(()),
        Err(error) => unrecorded(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_one_word_of_the_new_one() {
        let input = |command: &str| {
            let mut input = Map::new();
            input.insert("command".into(), command.into());
            input
        };
        let chosen = ["--profile".to_owned(), "default".to_owned()];
        let command = boxed(&input("echo 'a'; rm -r ~"), &chosen).unwrap().unwrap();
        let end = r"exec --profile default -- bash -c 'echo '\''a'\''; rm -r ~'";
        assert!(command.ends_with(end), "{command}");
        assert_eq!(boxed(&input("a\0b"), &chosen).unwrap(), None);
        assert_eq!(boxed(&Map::new(), &chosen).unwrap(), None);
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("$(x)"), "'$(x)'");
    }
}
