//! Files that people write by hand: read into a tree in which every value knows its place, so that
//! whatever is wrong with it can be shown where it stands.
//!
//! YAML and JSON are read by [`read_yaml`], TOML by [`read_toml`]; both the policy and the
//! configuration are made from the tree with [`Fields`], which knows of misspelt, missing and
//! superfluous keys.

mod fields;
mod node;
mod place;
mod problem;
mod toml;
mod write;
mod yaml;

pub use self::{
    fields::Fields,
    node::{Entry, Key, Node, Value},
    place::{Origin, Place},
    problem::Problem,
    toml::read_toml,
    write::write_yaml,
    yaml::read_yaml,
};
