//! The outcome as one JSON object on one line.

use fumehood::{Outcome, StreamName};
use serde_json::Error;

use crate::{failure::Failure, output};

/// Writes the outcome.
pub async fn finish(outcome: &Outcome) -> Result<(), Failure> {
    write_line(serde_json::to_vec(outcome)).await
}

/// Writes one object and a newline.
pub async fn write_line(object: Result<Vec<u8>, Error>) -> Result<(), Failure> {
    let mut line = object.map_err(|error| Failure::Output(error.into()))?;
    line.push(b'\n');
    Ok(output::write(StreamName::Stdout, &line).await?)
}
