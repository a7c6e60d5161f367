//! What is written down about the configuration is what the program does: the reference and the
//! JSON Schema are made from the table of keys. `UPDATE_SNAPSHOTS=1` writes them anew.

use std::{fs, path::PathBuf};

use fumehood_core::config::{reference, schema};
use serde_json::Value;

fn document(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(path)
}

fn updating() -> bool {
    std::env::var_os("UPDATE_SNAPSHOTS").is_some()
}

#[test]
fn the_reference_is_current() {
    let path = document("CONFIG.md");
    if updating() {
        fs::write(&path, reference()).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap();
    assert!(written == reference(), "docs/CONFIG.md is old: run this test with UPDATE_SNAPSHOTS=1");
}

#[test]
fn the_schema_is_current() {
    let path = document("schema/fumehood.config.schema.json");
    if updating() {
        fs::write(&path, format!("{:#}\n", schema())).unwrap();
    }
    let written: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert!(
        written == schema(),
        "docs/schema/fumehood.config.schema.json is old: run this test with UPDATE_SNAPSHOTS=1"
    );
}
