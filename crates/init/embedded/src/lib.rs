//! The programs that travel into boxes, carried inside fumehood.
//!
//! They are built by this crate's build script. The crate lives beside init because starting the
//! launcher before the C library needs `unsafe`, which no other part of fumehood has.

#![no_std]
#![cfg(target_os = "linux")]

mod entry;

pub use entry::{EarlyLauncher, take_early_launcher};

/// The init program.
pub fn init() -> &'static [u8] {
    &entry::INIT
}

/// The program that tries connections.
pub fn probe() -> &'static [u8] {
    include_bytes!(env!("FUMEHOOD_PROBE"))
}

/// The program that tries what hostile code tries.
pub fn attacks() -> &'static [u8] {
    include_bytes!(env!("FUMEHOOD_ATTACKS"))
}

/// The program that strips types from TypeScript.
pub fn typescript() -> &'static [u8] {
    include_bytes!(env!("FUMEHOOD_TYPESCRIPT"))
}
