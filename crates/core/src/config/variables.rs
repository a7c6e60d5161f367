//! Variables of the environment: those that name places, and those that were probably meant.

use super::keys;
use crate::nearest;

/// What all variables of fumehood begin with.
const PREFIX: &str = "FUMEHOOD_";

/// Variables that say where fumehood keeps its files. They are not keys: the configuration itself
/// is found with one of them. Name, what is kept there, and where without it.
pub const PLACES: &[(&str, &str, &str)] = &[
    ("FUMEHOOD_CONFIG_DIR", "the user's configuration", "`~/.config/fumehood`"),
    ("FUMEHOOD_STATE_DIR", "the ledger", "`~/.local/state/fumehood`"),
    ("FUMEHOOD_CACHE_DIR", "what can be made again", "`~/.cache/fumehood`"),
];

/// The variable that was meant by one that nobody knows, if it is close to one.
pub fn misspelt(variable: &str) -> Option<&'static str> {
    let given = variable.strip_prefix(PREFIX)?;
    let places = PLACES.iter().map(|(name, ..)| *name);
    let known: Vec<&'static str> = keys().map(|key| key.variable).chain(places).collect();
    if known.contains(&variable) {
        return None;
    }
    // Without the part that all of them share, which would make all of them alike.
    let bare: Vec<String> =
        known.iter().map(|name| name.trim_start_matches(PREFIX).to_ascii_lowercase()).collect();
    let near = *nearest(given, bare.iter().map(String::as_str)).first()?;
    known.into_iter().find(|name| name.trim_start_matches(PREFIX).eq_ignore_ascii_case(near))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_near_misses_are_noticed() {
        for (given, meant) in [
            ("FUMEHOOD_MEMROY", Some("FUMEHOOD_MEMORY")),
            ("FUMEHOOD_EXECUTER", Some("FUMEHOOD_EXECUTOR")),
            ("FUMEHOOD_DOCKER_IMGAE", Some("FUMEHOOD_DOCKER_IMAGE")),
            ("FUMEHOOD_STATEDIR", Some("FUMEHOOD_STATE_DIR")),
            ("FUMEHOOD_MEMORY", None),
            ("FUMEHOOD_CACHE_DIR", None),
            ("FUMEHOOD_BIN", None),
            ("FUMEHOOD_TEST_ALL_LANGUAGES", None),
            ("FUMEHOOD_SOMETHING_ELSE", None),
            ("MEMROY", None),
        ] {
            assert_eq!(misspelt(given), meant, "{given}");
        }
    }
}
