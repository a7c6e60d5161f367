//! From the text of a policy to a document. Strict: what is not understood is a problem with its
//! place, never a guess.

mod ceiling;
mod check;
mod net;
mod sections;
mod value;

use std::{path::Path, sync::Arc};

use super::document::{Document, Texts};
use crate::source::{Fields, Place, Problem, read_yaml};

/// The version of the format.
const VERSION: &str = "1";

impl Document {
    /// Reads a policy. The name is that of the file, for messages; relative paths in it begin at the
    /// directory.
    pub fn read(name: &str, text: &str, directory: &Path) -> Result<Document, Problem> {
        let name: Arc<str> = name.into();
        let node = read_yaml(&name, text)?;
        let mut file = Fields::of(&name, text, "", &node)?;
        version(&mut file)?;
        let mut document = Document { texts: Texts::of(&name, text), ..Document::default() };
        document.extends = value::choice(&mut file, "extends")?;
        if let Some(mut fs) = file.section("fs")? {
            document.fs = sections::fs(&mut fs, directory, &mut document.limits)?;
            fs.end()?;
        }
        if let Some(mut own) = file.section("net")? {
            document.net = net::net(&mut own)?;
            own.end()?;
        }
        if let Some(mut proc) = file.section("proc")? {
            sections::proc(&mut proc, &mut document.limits)?;
            proc.end()?;
        }
        if let Some(mut env) = file.section("env")? {
            document.env = sections::env(&mut env)?;
            env.end()?;
        }
        document.require = value::choices(&mut file, "require")?;
        if let Some(mut tools) = file.section("tools")? {
            document.tools = sections::tools(&mut tools)?;
            tools.end()?;
        }
        if let Some(mut ledger) = file.section("ledger")? {
            document.ledger = sections::ledger(&mut ledger)?;
            ledger.end()?;
        }
        if let Some(mut ceiling) = file.section("ceiling")? {
            document.ceiling = ceiling::ceiling(&mut ceiling)?;
            ceiling.end()?;
        }
        file.end()?;
        check::file(&document)?;
        Ok(document)
    }

    /// Finds what cannot be meant in a document that was not read from a text.
    pub(super) fn checked(self) -> Result<Document, Problem> {
        check::wishes(&self)?;
        Ok(self)
    }
}

fn version(file: &mut Fields<'_>) -> Result<(), Problem> {
    match file.text("version")? {
        Some((VERSION, _)) => Ok(()),
        Some((other, place)) => {
            let message = format!("`version` is `{other}`, and this program knows version 1 only");
            Err(file.problem(place, message, "").hint("write `version: 1`"))
        }
        None => {
            let message = "the file does not say which version of the format it is written in";
            Err(file
                .problem(Place::new(1, 1, 1), message, "`version` is missing")
                .hint("write `version: 1` as the first line"))
        }
    }
}
