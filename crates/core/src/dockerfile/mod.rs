//! A Dockerfile for a project that has none: what the project is, which versions it pins, which
//! base suits it, and the stages that build and run it.
//!
//! Nothing here reads a directory. [`Files`] holds what somebody read, [`generate`] does the rest,
//! so that every decision can be tested with a few texts.

mod base;
mod files;
mod go;
mod ignore;
mod java;
mod node;
mod part;
mod project;
mod python;
mod range;
mod recipe;
mod releases;
mod rust;
mod version;
mod write;

pub use self::{
    base::{Base, UnknownBase},
    files::{Files, is_source, worth_entering, worth_reading},
    project::{DETECTED, Found, Generated, NothingFound, generate},
};
