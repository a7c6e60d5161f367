//! Values that the gate puts into requests, and that no box ever sees.

use std::{collections::BTreeMap, fmt};

/// Values by the name of the variable that holds them.
#[derive(Clone, Default)]
pub struct Secrets {
    values: BTreeMap<String, String>,
}

impl Secrets {
    /// None.
    pub fn none() -> Secrets {
        Secrets::default()
    }

    /// The value, if it can stand in a header.
    pub(crate) fn header_value(&self, name: &str) -> Option<&str> {
        let sound =
            |value: &&String| value.bytes().all(|b| b == b'\t' || (0x20..0x7f).contains(&b));
        self.values.get(name).filter(sound).map(String::as_str)
    }
}

impl FromIterator<(String, String)> for Secrets {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(values: I) -> Secrets {
        Secrets { values: values.into_iter().collect() }
    }
}

/// The names only.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.values.keys()).finish()
    }
}
