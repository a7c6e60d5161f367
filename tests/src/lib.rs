//! The vocabulary of the conformance cases, and the harness that runs them.
//!
//! A [`Case`] is written once. A [`Place`] is somewhere a case can be carried out: a backend under
//! a user. The harness makes one test of every case at every place where it applies, and shows as
//! ignored, with the reason, what does not apply. A new backend is a new place, not a new case.
//!
//! This is a library of tests: it panics where a test would.

mod attack;
mod case;
mod engines;
mod harness;
mod place;
mod programs;
mod proof;
mod scene;
mod seen;
mod server;

pub use self::{
    attack::{Attack, Weaker},
    case::{Case, Condition},
    harness::{Threads, conduct},
    place::Place,
    programs::{command_line, python, shell, with_limits},
    proof::program,
    scene::{FAR, NEAR, SENSITIVE, Scene},
    seen::{assert_ended, assert_printed, lines, printed},
    server::Server,
};
