//! The ledger on disk: many writers, crashes, rotation, and every way to tamper with it.

mod content;
mod crashes;
mod samples;
mod tampering;
mod writers;

use std::path::{Path, PathBuf};

use fumehood::{
    Bytes,
    ledger::{Broken, Fault, LedgerReader, Settings, Verified, VerifyOptions},
};

fn verify(directory: &Path) -> Result<Verified, Box<Broken>> {
    LedgerReader::new(directory).verify(VerifyOptions::default()).unwrap()
}

#[track_caller]
fn fault(directory: &Path) -> (Option<u64>, Fault) {
    let broken = verify(directory).unwrap_err();
    (broken.line, broken.fault)
}

fn newest(directory: &Path) -> PathBuf {
    directory.join("ledger.jsonl")
}

fn small_files() -> Settings {
    Settings { rotate_at: Bytes::new(20_000), ..Settings::default() }
}
