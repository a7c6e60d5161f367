//! Configuration files, in both notations.
#![no_main]

use std::sync::Arc;

use fumehood_core::config::{ConfigFile, Format, Owner, Settings};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let name: Arc<str> = "fumehood.toml".into();
    for format in [Format::Toml, Format::Yaml] {
        for owner in [Owner::User, Owner::Project] {
            let file = ConfigFile { name: &name, text, format, owner };
            if let Err(problem) = Settings::default().read_file(&file) {
                drop(problem.to_string());
            }
        }
    }
});
