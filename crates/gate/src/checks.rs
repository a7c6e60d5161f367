//! What a gate looks at, and what a test may leave out of it to show what it is good for.

/// One thing that a gate looks at.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Check {
    /// Whether a rule means the name or address that is dialled.
    Rules,
    /// Whether the addresses of a name are ones that it may have.
    Addresses,
    /// Whether what is said is meant for who was dialled.
    Speech,
    /// Whether there is room for one more connection.
    Room,
}

/// Everything, but for what a test leaves out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checks {
    left_out: Vec<Check>,
}

impl Checks {
    pub(crate) fn without(checks: &[Check]) -> Checks {
        Checks { left_out: checks.to_vec() }
    }

    /// Whether this is looked at.
    pub(crate) fn include(&self, check: Check) -> bool {
        !self.left_out.contains(&check)
    }
}
