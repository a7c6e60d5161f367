//! The configuration: which executor, which limits, which images, where nothing else says so.
//!
//! [`SECTIONS`] describes every key once. Files and variables are read with it, `fumehood config
//! show` lists with it, and the JSON Schema and the reference are written from it. [`Settings`]
//! holds the values, each with the place it came from.

mod engines;
mod executor;
mod file;
mod keys;
mod kind;
mod names;
mod reference;
mod schema;
mod set;
mod settings;
mod slot;
mod value_error;
mod variables;
mod words;
mod written;

pub use self::{
    engines::{EngineHost, EngineNetwork, RuntimeName, Tmpfs, Volume},
    executor::{BackendChoice, Fallback},
    file::{ConfigFile, Format, Owner},
    keys::{InProject, Key, SECTIONS, Section, keys},
    kind::Kind,
    names::{AbsolutePath, ImageName, LanguageName, VariableName, VariableValue},
    reference::reference,
    schema::schema,
    set::Shown,
    settings::{
        Configured, EngineSettings, ExecutorSettings, LedgerSettings, LimitSettings,
        PolicySettings, Settings,
    },
    value_error::ValueError,
    variables::{PLACES, misspelt},
    written::Count,
};
