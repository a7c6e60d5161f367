//! The whole catalogue, and which layers no single attack notices.

use super::{
    files, kernel, network, resources,
    row::{Family, Row, UnknownRow},
    supervisor,
};
use crate::Layer;

/// Every row, in the order of the catalogue.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    [kernel::ROWS, resources::ROWS, files::ROWS, network::ROWS, supervisor::ROWS]
        .into_iter()
        .flatten()
}

/// The rows that these words name: families by their letter, rows by their id, all where there are
/// none.
pub fn select(words: &[String]) -> Result<Vec<&'static Row>, UnknownRow> {
    if words.is_empty() {
        return Ok(rows().collect());
    }
    let names = |word: &str, row: &Row| {
        let letter = |family: Family| word.len() == 1 && word.starts_with(family.letter());
        row.id == word || letter(row.family())
    };
    let words: Vec<String> = words.iter().map(|word| word.to_ascii_uppercase()).collect();
    match words.iter().find(|word| !rows().any(|row| names(word, row))) {
        Some(word) => Err(UnknownRow { given: word.clone() }),
        None => Ok(rows().filter(|row| words.iter().any(|word| names(word, row))).collect()),
    }
}

/// A layer that can be taken away without any attack getting through, and why that is so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unnoticed {
    /// The layer.
    pub layer: Layer,
    /// Why.
    pub reason: &'static str,
}

/// Layers that no single attack notices on the native backend.
pub const NOT_NOTICED: &[Unnoticed] = &[
    Unnoticed {
        layer: Layer::UserNamespace,
        reason: "no box is built without it: whoever has none may not make the others",
    },
    Unnoticed {
        layer: Layer::MountNamespace,
        reason: "no box is built without it: there would be no root to go into",
    },
    Unnoticed {
        layer: Layer::PidNamespace,
        reason: "ending a box means ending every process in sight, so none is opened without it",
    },
    Unnoticed {
        layer: Layer::NoNewPrivileges,
        reason: "the kernel takes neither filter nor rule set without it, so no box is built",
    },
    Unnoticed {
        layer: Layer::Nesting,
        reason: "the second wall behind seccomp; K6 shows it where the first is gone",
    },
    Unnoticed {
        layer: Layer::Descriptors,
        reason: "closed twice, by init and before the program starts; K2 shows a program without a box",
    },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_row_of_the_catalogue_is_there_once() {
        let counts = [('K', 23), ('R', 14), ('F', 12), ('N', 14), ('S', 7)];
        let expected: Vec<String> = counts
            .into_iter()
            .flat_map(|(letter, count)| (1..=count).map(move |n| format!("{letter}{n}")))
            .collect();
        let ids: Vec<&str> = rows().map(|row| row.id).collect();
        assert_eq!(ids, expected);
    }

    #[test]
    fn rows_are_found_by_family_and_id() {
        let ids = |words: &[&str]| -> Result<Vec<&str>, UnknownRow> {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            Ok(select(&words)?.into_iter().map(|row| row.id).collect())
        };
        assert_eq!(ids(&["k6", "S7"]), Ok(vec!["K6", "S7"]));
        assert_eq!(ids(&["S"]).map(|ids| ids.len()), Ok(7));
        assert_eq!(ids(&[]).map(|ids| ids.len()), Ok(70));
        assert!(ids(&["K99"]).is_err());
    }

    #[test]
    fn every_layer_is_named_by_a_row_or_explained() {
        let named: BTreeSet<Layer> = rows().flat_map(|row| row.layers).copied().collect();
        let explained: BTreeSet<Layer> = NOT_NOTICED.iter().map(|one| one.layer).collect();
        let missing: Vec<_> = Layer::ALL
            .iter()
            .filter(|layer| !named.contains(layer) && !explained.contains(layer))
            .collect();
        assert_eq!(missing, [] as [&Layer; 0]);
    }
}
