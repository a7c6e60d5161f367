//! What is allowed: read from files that people write, merged layer by layer, asked by everybody.
//!
//! A [`Document`] is what one file says. [`merge`] makes a [`Policy`] of several of them, in which
//! every value knows its origin. An upper layer tightens freely and loosens only below the ceiling
//! of the layers under it. Everything here is pure; files are found and read by the engine.

mod ceiling;
mod choice;
mod document;
mod egress;
mod entries;
mod explain;
mod glob;
mod host;
mod join;
mod keys;
mod leave;
mod limit;
mod merge;
mod overrides;
mod profile;
mod quota;
mod read;
mod report;
mod resolved;
mod rule;
mod schema;
mod tools;
mod variable;

#[cfg(test)]
mod tests;

pub use self::{
    ceiling::Ceiling,
    choice::{GitAccess, MountLeave, NetMode},
    document::{
        CeilingSection, Document, EnvSection, FsSection, LedgerSection, NetCeiling, NetSection,
        PolicyMount, Said, Sourced, ToolsSection,
    },
    entries::{Entry, Shape},
    explain::{Decision, PathDecision},
    glob::{Glob, GlobError},
    host::{HostError, HostName, HostPattern},
    limit::{Amount, LimitKey, LimitTable, SaidLimits},
    merge::{Layered, Rank, merge},
    overrides::{Overrides, PolicyText, Spoken},
    profile::{ProfileName, UnknownProfile},
    quota::NetLimits,
    resolved::{Env, Fs, Ledger, Net, Policy},
    rule::{HostLeave, HostRule},
    schema::schema,
    tools::{ToolDecision, ToolPattern, ToolPatternError, ToolVerdict, Tools},
    variable::{VariableError, VariablePattern},
};
