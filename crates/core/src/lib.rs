//! Data and rules of fumehood. Nothing here touches a file, a clock or a socket.
//!
//! A [`Request`] says what a caller wants, a [`Plan`] says exactly what will be done, an
//! [`Outcome`] says what happened. The [`protocol`] module is the language spoken between the
//! supervisor and the init program of every box; it also builds without the standard library.

#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;

mod layer;
pub mod protocol;

#[cfg(feature = "std")]
mod change;
#[cfg(feature = "std")]
pub mod config;
#[cfg(feature = "std")]
mod digest;
#[cfg(feature = "std")]
pub mod dockerfile;
#[cfg(feature = "std")]
pub mod egress;
#[cfg(feature = "std")]
mod enforced;
#[cfg(feature = "std")]
mod event;
#[cfg(feature = "std")]
mod id;
#[cfg(feature = "std")]
pub mod image;
#[cfg(feature = "std")]
pub mod language;
#[cfg(feature = "std")]
pub mod ledger;
#[cfg(feature = "std")]
mod limits;
#[cfg(feature = "std")]
mod names;
#[cfg(feature = "std")]
mod nearest;
#[cfg(feature = "std")]
mod outcome;
#[cfg(feature = "std")]
mod plan;
#[cfg(feature = "std")]
pub mod policy;
#[cfg(feature = "std")]
mod request;
#[cfg(feature = "std")]
mod selection;
#[cfg(feature = "std")]
pub mod source;
#[cfg(feature = "std")]
mod text;

pub use layer::{Layer, Strength};

#[cfg(feature = "std")]
pub use self::{
    change::{Change, ChangeKind, FileKind, FilePath},
    config::BackendChoice,
    digest::{Digest, DigestBuilder},
    enforced::{Enforced, LayerReport},
    event::{Event, Phase, StreamName},
    id::RunId,
    limits::{Bytes, Cores, LimitError, LimitOverrides, Limits, TimeSpan},
    names::{Dataset, DatasetName, NameError, VolumeMount, VolumeName},
    nearest::nearest,
    outcome::{Captured, Outcome, PhaseOutcome, Stats, Status, Violation, ViolationKind},
    plan::{
        Access, BackendName, BoxPlan, Command, Container, Identity, Link, Mount, MountSource,
        Network, Note, Plan, PlannedCompile, PlannedFile, PlannedPrepare, PlannedRecord, Tmpfs,
        UnknownBackend,
    },
    request::{Helper, PolicyChoice, Program, Request, StdinSource, Workspace, WorkspaceMode},
    selection::{Candidate, PassedOver, Selection},
    text::escape_controls,
};
