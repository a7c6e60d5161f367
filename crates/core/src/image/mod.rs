//! Images as data: what is in the image of a language, and which images may go.
//!
//! One file per image stands in `images/`. Making, fetching and removing them is left to those who
//! can speak to an engine.

mod prune;
mod registry;
mod spec;

pub use self::{
    prune::{PrunePolicy, PruneReason, Weighed, doomed},
    registry::{ImageRegistry, UnknownImage},
    spec::{ImageSpec, ImageSpecError},
};
