//! Questions about names, from a box.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|query: &[u8]| fumehood_gate::fuzzing::names(query));
