//! Setting and listing values by the names of their keys.

use serde_json::Value;

use super::{Key, Settings, keys, settings::is_default};
use crate::{
    nearest,
    source::{Origin, Problem},
};

/// A key and its value, for people and programs.
pub struct Shown<'a> {
    /// The key.
    pub key: &'static Key,
    /// The value; nothing if it is absent.
    pub value: Value,
    /// Where it came from.
    pub origin: &'a Origin,
    /// True if nobody chose it.
    pub is_default: bool,
}

impl Settings {
    /// Sets a value from a text, as in a variable or behind a flag: lists with commas, maps as
    /// `NAME=VALUE` with commas. The origin is the variable or the flag.
    pub fn set(&mut self, name: &str, text: &str, origin: Origin) -> Result<(), Problem> {
        let Some(key) = keys().find(|key| key.name == name) else {
            let problem = Problem::of(origin, format!("unknown key `{name}`"));
            return Err(match nearest(name, keys().map(|key| key.name)).first() {
                Some(near) => problem.hint(format!("did you mean `{near}`?")),
                None => problem.hint("`fumehood config show` lists them all"),
            });
        };
        self.set_key(key, text, origin)
    }

    /// The same for a key that is known.
    pub fn set_key(&mut self, key: &Key, text: &str, origin: Origin) -> Result<(), Problem> {
        (key.get_mut)(self).parse(text, origin.clone()).map_err(|error| {
            let problem = Problem::of(origin, format!("`{}`: {error}", key.name));
            match error.hint() {
                Some(hint) => problem.hint(hint),
                None => problem,
            }
        })
    }

    /// Every key with its value and where that came from.
    pub fn shown(&self) -> impl Iterator<Item = Shown<'_>> {
        keys().map(|key| {
            let slot = (key.get)(self);
            let origin = slot.origin();
            Shown { key, value: slot.show(), origin, is_default: is_default(origin) }
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{BackendName, config::BackendChoice};

    #[test]
    fn a_flag_is_set_and_remembered() {
        let mut settings = Settings::default();
        settings.set("executor.type", "podman", Origin::named("--executor")).unwrap();
        settings.set("docker.env", "A=1, B=x=y", Origin::named("--x")).unwrap();
        assert_eq!(settings.executor.kind.value, BackendChoice::Named(BackendName::Podman));
        assert_eq!(settings.executor.kind.origin.to_string(), "--executor");
        let shown = settings.shown().find(|shown| shown.key.name == "docker.env").unwrap();
        assert_eq!((shown.value, shown.is_default), (json!({"A": "1", "B": "x=y"}), false));
        assert_eq!(settings.shown().filter(|shown| !shown.is_default).count(), 2);
    }

    #[test]
    fn what_cannot_be_set_changes_nothing() {
        let mut settings = Settings::default();
        for (name, text, message, hint) in [
            ("limits.memroy", "1g", "unknown key `limits.memroy`", "did you mean `limits.memory`?"),
            ("zzz", "1", "unknown key `zzz`", "`fumehood config show` lists them all"),
            (
                "executor.order",
                "native,docer",
                "`executor.order`: `docer` is not one of",
                "`docker`",
            ),
            ("limits.pids", "0", "`limits.pids`: `0` is not a number from 1", ""),
            ("limits.pids", "+5", "`limits.pids`: `+5` is not a number from 1", ""),
            ("ledger.enabled", "yes", "`ledger.enabled`: `yes` is neither true nor false", ""),
            ("docker.env", "A", "`docker.env`: `A` is not NAME=VALUE", ""),
            ("images", "py=a,python=b", "`images`: `python` is there twice", ""),
        ] {
            let problem = settings.set(name, text, Origin::named("--flag")).unwrap_err();
            assert!(problem.message().starts_with(message), "{problem}");
            assert!(problem.to_string().contains(hint), "{problem}");
        }
        assert_eq!(settings, Settings::default());
    }
}
