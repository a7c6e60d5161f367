//! Which limits the kernel holds for a box by cgroups. Told to the box, which does by lesser means
//! what is left over, and reports both.

use fumehood_core::Layer;

/// A set of limits, and of which version of cgroups.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Held(u8);

/// How a limit is held.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Means {
    Version1,
    Version2,
}

const LAYERS: [Layer; 3] = [Layer::Memory, Layer::Pids, Layer::Cpu];

impl Held {
    pub(crate) fn add(&mut self, layer: Layer, means: Means) {
        if let Some(index) = LAYERS.iter().position(|known| *known == layer) {
            let shift = 2 * index + usize::from(means == Means::Version2);
            self.0 |= 1 << shift;
        }
    }

    pub(crate) fn means(self, layer: Layer) -> Option<Means> {
        let index = LAYERS.iter().position(|known| *known == layer)?;
        match self.0 >> (2 * index) & 0b11 {
            0 => None,
            1 => Some(Means::Version1),
            _ => Some(Means::Version2),
        }
    }

    pub(crate) fn bits(self) -> u8 {
        self.0
    }

    pub(crate) fn from_bits(bits: u8) -> Held {
        Held(bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_is_there_and_nothing_else() {
        let mut held = Held::default();
        held.add(Layer::Pids, Means::Version1);
        held.add(Layer::Cpu, Means::Version2);
        let held = Held::from_bits(held.bits());
        assert!(held.means(Layer::Memory).is_none());
        assert!(held.means(Layer::Pids) == Some(Means::Version1));
        assert!(held.means(Layer::Cpu) == Some(Means::Version2));
        assert!(held.means(Layer::Seccomp).is_none());
    }
}
