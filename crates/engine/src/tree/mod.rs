//! Directory trees that a stranger may have made: any depth, any names, any permissions. They are
//! walked step by step with one open directory, and no symbolic link is ever followed.

mod measure;
mod remove;
mod walk;

pub(crate) use self::{measure::measure, remove::remove};
