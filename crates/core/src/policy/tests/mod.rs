//! Tests that look at several parts of the policy at once.

mod decisions;
mod globs;
mod hosts;
mod layers;
mod network;
mod profiles;
mod properties;
mod schema;
mod tools;

use std::path::Path;

use super::{Document, Layered, Policy, Rank, merge};
use crate::source::Problem;

/// Reads a policy whose first line is added.
#[track_caller]
fn document(name: &str, text: &str) -> Document {
    let text = format!("version: 1\n{text}");
    match Document::read(name, &text, Path::new("/project")) {
        Ok(document) => document,
        Err(problem) => panic!("{problem}"),
    }
}

/// Merges a user's and a project's policy.
fn merged(user: &str, project: &str) -> Result<Policy, Problem> {
    let user = document("user.yaml", user);
    let project = document("project.yaml", project);
    merge(&[Layered::new(Rank::User, &user), Layered::new(Rank::Project, &project)])
}

/// A policy of one file.
#[track_caller]
fn policy(project: &str) -> Policy {
    merged("", project).unwrap_or_else(|problem| panic!("{problem}"))
}
