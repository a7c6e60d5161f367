//! What was really applied to a box, layer by layer.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Layer, Strength};

/// How one layer was applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerReport {
    /// How far it holds.
    pub strength: Strength,
    /// By what means, or why not.
    pub detail: String,
}

/// Every layer's report. A layer without an entry was not applied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Enforced(BTreeMap<Layer, LayerReport>);

impl Enforced {
    /// The report for a backend that isolates nothing.
    pub fn nothing(reason: &str) -> Enforced {
        let mut all = Enforced::default();
        for layer in Layer::ALL {
            all.record(*layer, Strength::Off, reason);
        }
        all
    }

    /// Sets the report of one layer.
    pub fn record(&mut self, layer: Layer, strength: Strength, detail: impl Into<String>) {
        self.0.insert(layer, LayerReport { strength, detail: detail.into() });
    }

    /// The report of one layer.
    pub fn get(&self, layer: Layer) -> Option<&LayerReport> {
        self.0.get(&layer)
    }

    /// How far one layer holds.
    pub fn strength(&self, layer: Layer) -> Strength {
        self.get(layer).map_or(Strength::Off, |report| report.strength)
    }

    /// Every layer with its report, in the order in which a box is built.
    pub fn iter(&self) -> impl Iterator<Item = (Layer, &LayerReport)> {
        self.0.iter().map(|(layer, report)| (*layer, report))
    }
}
