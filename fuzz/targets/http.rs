//! Requests of plain HTTP, in pieces.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fumehood_gate::fuzzing::requests(bytes));
