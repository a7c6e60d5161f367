//! A policy file of a project, merged with the profiles below it. Its problems are shown, too.
#![no_main]

use std::path::Path;

use fumehood_core::policy::{Document, Layered, Rank, merge};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match Document::read("sandbox.policy.yaml", text, Path::new("/project")) {
        Ok(document) => {
            for rank in [Rank::Project, Rank::Guest] {
                if let Ok(policy) = merge(&[Layered::new(rank, &document)]) {
                    let _ = policy.digest();
                }
            }
        }
        Err(problem) => drop(problem.to_string()),
    }
});
