//! Proof: every attack of the catalogue made in real boxes, and what became of it.
//!
//! A [`Row`] is one attack: what it tries, what it must get, which layer stops it, and its *twin*,
//! the same attack where that layer is off. A refusal proves something only if the same program can
//! tell when nothing refuses it. What happens inside a box is done by the program `attacks/`; this
//! side prepares, looks and judges.

mod catalogue;
mod files;
mod finding;
mod given;
mod host;
mod judge;
mod kernel;
mod network;
mod residue;
mod resources;
mod row;
mod runner;
mod server;
mod stage;
mod supervisor;

pub use self::{
    catalogue::{NOT_NOTICED, Unnoticed, rows, select},
    finding::{Answer, Finding, TwinFinding, TwinVerdict, Verdict},
    row::{Family, Row, UnknownRow},
    runner::{Found, Verification},
    server::names,
};
