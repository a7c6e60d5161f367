//! The value of a key without its type, so that one table can hold all keys.

use serde_json::Value;

use super::{
    Configured, Kind, ValueError,
    written::{Misfit, Written},
};
use crate::source::{Node, Origin};

/// Where the value of a key is kept.
pub trait Slot {
    /// What can be written there.
    fn kind(&self) -> Kind;

    /// Sets it from a file.
    fn read(&mut self, node: &Node, origin: Origin) -> Result<(), Misfit>;

    /// Sets it from a variable or a flag.
    fn parse(&mut self, text: &str, origin: Origin) -> Result<(), ValueError>;

    /// The value, for people and programs; nothing if it is absent.
    fn show(&self) -> Value;

    /// Where the value came from.
    fn origin(&self) -> &Origin;
}

impl<T: Written> Slot for Configured<T> {
    fn kind(&self) -> Kind {
        T::KIND
    }

    fn read(&mut self, node: &Node, origin: Origin) -> Result<(), Misfit> {
        *self = Configured { value: T::read(node)?, origin };
        Ok(())
    }

    fn parse(&mut self, text: &str, origin: Origin) -> Result<(), ValueError> {
        *self = Configured { value: T::parse(text)?, origin };
        Ok(())
    }

    fn show(&self) -> Value {
        self.value.show()
    }

    fn origin(&self) -> &Origin {
        &self.origin
    }
}
