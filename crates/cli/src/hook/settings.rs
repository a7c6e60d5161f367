//! The settings of Claude Code, with our hook in them or without. Pure: text in, text out.

use super::tree::Tree;

/// How our command ends. Whatever stands before it is the program's path.
const OURS: &str = " hook claude-code || exit 2";

/// Why settings cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum SettingsError {
    #[error("it is not JSON ({reason})")]
    NotJson { reason: String },
    #[error("`{key}` is not {wanted}")]
    Shape { key: &'static str, wanted: &'static str },
}

/// The command that a program at this path has the agent run. If the program is gone one day, the
/// tool is blocked.
pub(super) fn command(program: &str) -> String {
    format!("{}{OURS}", super::decide::quoted(program))
}

/// Settings with our hook; none if they have it already.
pub(super) fn with_hook(text: &str, command: &str) -> Result<Option<String>, SettingsError> {
    let mut root = read(text)?;
    let wanted = Tree::Object(vec![
        ("type".into(), Tree::text("command")),
        ("command".into(), Tree::text(command)),
    ]);
    let groups = groups(&mut root)?;
    let ours: Vec<&Tree> = groups.iter().flat_map(hooks).filter(|hook| is_ours(hook)).collect();
    if ours.len() == 1 && *ours[0] == wanted {
        return Ok(None);
    }
    take_out(groups);
    groups.push(Tree::Object(vec![
        ("matcher".into(), Tree::text("*")),
        ("hooks".into(), Tree::Array(vec![wanted])),
    ]));
    write(&root).map(Some)
}

/// Settings without our hook; none if they do not have it.
pub(super) fn without_hook(text: &str) -> Result<Option<String>, SettingsError> {
    let mut root = read(text)?;
    let has_groups = root.get("hooks").and_then(|hooks| hooks.get("PreToolUse")).is_some();
    if !has_groups {
        return Ok(None);
    }
    let groups = groups(&mut root)?;
    if !take_out(groups) {
        return Ok(None);
    }
    if groups.is_empty() {
        drop_key(&mut root, &["hooks", "PreToolUse"]);
        if matches!(root.get("hooks"), Some(Tree::Object(entries)) if entries.is_empty()) {
            drop_key(&mut root, &["hooks"]);
        }
    }
    write(&root).map(Some)
}

fn read(text: &str) -> Result<Tree, SettingsError> {
    let text = if text.trim().is_empty() { "{}" } else { text };
    let root = serde_json::from_str(text)
        .map_err(|error| SettingsError::NotJson { reason: error.to_string() })?;
    match root {
        Tree::Object(_) => Ok(root),
        _ => Err(SettingsError::Shape { key: "the file", wanted: "an object" }),
    }
}

fn write(root: &Tree) -> Result<String, SettingsError> {
    let text = serde_json::to_string_pretty(root)
        .map_err(|error| SettingsError::NotJson { reason: error.to_string() })?;
    Ok(format!("{text}\n"))
}

/// The value of a key, which is made if it is not there.
fn entry<'a>(
    object: &'a mut Tree,
    key: &'static str,
    new: Tree,
) -> Result<&'a mut Tree, SettingsError> {
    let Tree::Object(entries) = object else {
        return Err(SettingsError::Shape { key: "hooks", wanted: "an object" });
    };
    let at = match entries.iter().position(|(name, _)| name == key) {
        Some(at) => at,
        None => {
            entries.push((key.to_owned(), new));
            entries.len() - 1
        }
    };
    Ok(&mut entries[at].1)
}

/// The groups of hooks that are asked before a tool.
fn groups(root: &mut Tree) -> Result<&mut Vec<Tree>, SettingsError> {
    let hooks = entry(root, "hooks", Tree::Object(Vec::new()))?;
    match entry(hooks, "PreToolUse", Tree::Array(Vec::new()))? {
        Tree::Array(groups) => Ok(groups),
        _ => Err(SettingsError::Shape { key: "hooks.PreToolUse", wanted: "a list" }),
    }
}

fn hooks(group: &Tree) -> &[Tree] {
    match group.get("hooks") {
        Some(Tree::Array(hooks)) => hooks,
        _ => &[],
    }
}

fn is_ours(hook: &Tree) -> bool {
    hook.get("command").and_then(Tree::as_text).is_some_and(|command| command.ends_with(OURS))
}

/// Takes our hook out of all groups, and a group that was there for it alone. True if it was there.
fn take_out(groups: &mut Vec<Tree>) -> bool {
    let mut found = false;
    groups.retain_mut(|group| {
        let Tree::Object(entries) = group else { return true };
        let Some((_, Tree::Array(hooks))) = entries.iter_mut().find(|(key, _)| key == "hooks")
        else {
            return true;
        };
        let before = hooks.len();
        hooks.retain(|hook| !is_ours(hook));
        found |= hooks.len() < before;
        hooks.len() == before || !hooks.is_empty()
    });
    found
}

fn drop_key(tree: &mut Tree, path: &[&str]) {
    let (Tree::Object(entries), [key, rest @ ..]) = (tree, path) else { return };
    if rest.is_empty() {
        entries.retain(|(name, _)| name != key);
    } else if let Some((_, below)) = entries.iter_mut().find(|(name, _)| name == key) {
        drop_key(below, rest);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    const FOREIGN: &str = r#"{
  "zeta": 1,
  "alpha": {"b": [1, 2.5, null], "a": "x"},
  "hooks": {
    "PostToolUse": [{"matcher": "Edit", "hooks": [{"type": "command", "command": "fmt"}]}],
    "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "check.sh"}]}]
  }
}"#;

    #[test]
    fn what_others_wrote_stays() {
        let installed = with_hook(FOREIGN, &command("/opt/fume hood")).unwrap().unwrap();
        assert!(installed.find("zeta") < installed.find("alpha"), "{installed}");
        assert!(installed.contains(r#""command": "'/opt/fume hood' hook claude-code || exit 2""#));
        let value: Value = serde_json::from_str(&installed).unwrap();
        assert_eq!(value["hooks"]["PreToolUse"].as_array().unwrap().len(), 2);
        assert_eq!(with_hook(&installed, &command("/opt/fume hood")).unwrap(), None);
        let moved = with_hook(&installed, &command("/new")).unwrap().unwrap();
        assert!(!moved.contains("fume hood'") && moved.contains("/new hook"), "{moved}");
        let removed = without_hook(&moved).unwrap().unwrap();
        let back: Tree = serde_json::from_str(&removed).unwrap();
        assert_eq!(back, serde_json::from_str::<Tree>(FOREIGN).unwrap(), "order and all");
        assert_eq!(without_hook(&removed).unwrap(), None);
    }

    #[test]
    fn settings_that_are_none_are_left_alone() {
        for (text, word) in [
            ("{", "JSON"),
            ("[]", "an object"),
            (r#"{"hooks": []}"#, "an object"),
            (r#"{"hooks": {"PreToolUse": {}}}"#, "a list"),
        ] {
            let error = with_hook(text, "c").unwrap_err().to_string();
            assert!(error.contains(word), "{text}: {error}");
        }
        let made = with_hook("", &command("f")).unwrap().unwrap();
        assert_eq!(without_hook(&made).unwrap().unwrap(), "{}\n");
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[a-z\"\\\\]{0,4}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-z]{1,4}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn installing_twice_is_installing_once_and_removing_undoes_it(
            settings in prop::collection::btree_map("[a-z]{1,6}", any_json(), 0..4),
            groups in prop::collection::vec(any_json(), 0..3),
        ) {
            let mut settings = Value::Object(settings.into_iter().collect());
            if !groups.is_empty() {
                settings["hooks"] = json!({"PreToolUse": groups, "Stop": []});
            } else if let Some(object) = settings.as_object_mut() {
                object.remove("hooks");
            }
            let text = settings.to_string();
            let command = command("/usr/bin/fumehood");
            let once = with_hook(&text, &command).unwrap().unwrap();
            prop_assert_eq!(with_hook(&once, &command).unwrap(), None);
            let removed = without_hook(&once).unwrap().unwrap();
            prop_assert_eq!(serde_json::from_str::<Value>(&removed).unwrap(), settings);
        }
    }
}
