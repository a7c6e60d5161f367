//! Languages as data: how a source is named, compiled and run, and which programs that takes.
//!
//! One file per language stands in `languages/`; nothing else in fumehood knows a language by
//! name. A file with an unknown key, an unknown placeholder or a bad pattern does not load.

mod command;
mod registry;
mod source;
mod spec;
mod template;
mod toolchain;
mod version;

pub use self::{
    command::{ExpandError, Values, expand_command, expand_env, in_sequence},
    registry::{Registry, UnknownLanguage},
    source::{Pattern, PatternError, SourceName, SourceRule, SourceSpec},
    spec::{CompileSpec, Language, LanguageError, RunSpec, WarmSpec},
    template::{Placeholder, Template, TemplateError},
    toolchain::{ToolchainSpec, VersionSpec},
    version::{Version, VersionError},
};
