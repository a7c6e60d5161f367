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

mod archive;
mod backend;
pub mod bootstrap;
pub mod config;
mod doctor;
mod error;
#[doc(hidden)]
pub mod fuzzing;
pub mod image;
pub mod ledger;
mod overlay;
pub mod places;
pub mod policy;
mod resolve;
mod run;
mod sandbox;
mod select;
pub mod toolchain;
mod tree;
pub mod verify;
mod volume;
mod within;

pub use fumehood_core::*;
#[doc(hidden)]
pub use fumehood_gate::Check;
pub use fumehood_gate::{Resolve, ResolveError, Resolving, SystemResolver, TableResolver};

pub use self::{
    archive::{ArchiveError, Refusal},
    backend::{EngineDefaults, EngineProblem},
    config::{ConfigError, Configuration},
    doctor::{BackendHealth, Examination, LanguageHealth, LayerHealth},
    error::Error,
    image::{DefaultImages, ImageError, Images},
    overlay::{
        Applied, Conflict, FileStatistics, LeftOut, Overlay, OverlayError, Overlays, Reason,
    },
    run::{Canceller, Run, StdinWriter},
    sandbox::{LedgerPlace, Sandbox, SandboxBuilder},
    volume::{Volume, VolumeError, Volumes},
    within::{Listed, Within, WithinError},
};
