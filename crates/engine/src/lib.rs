//! Run code that nobody should trust.
//!
//! ```no_run
//! # async fn example() -> Result<(), fumehood::Error> {
//! use fumehood::{Request, Sandbox};
//!
//! let sandbox = Sandbox::new()?;
//! let outcome = sandbox.run(Request::code("python", "print(6 * 7)")).await?;
//! assert_eq!(outcome.stdout.text(), "42\n");
//! # Ok(())
//! # }
//! ```
//!
//! A [`Sandbox`] resolves a [`Request`] into a [`Plan`], opens a box for it on a backend, and
//! gives back an [`Outcome`]. [`Sandbox::start`] gives a [`Run`] instead, whose events arrive as
//! they happen.

#![forbid(unsafe_code)]

mod backend;
pub mod bootstrap;
mod doctor;
mod error;
mod resolve;
mod run;
mod sandbox;
pub mod toolchain;

pub use fumehood_core::*;

pub use self::{
    doctor::{BackendHealth, Examination, LanguageHealth, LayerHealth},
    error::Error,
    run::{Canceller, Run, StdinWriter},
    sandbox::{Sandbox, SandboxBuilder},
};
