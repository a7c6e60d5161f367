//! The first bytes of a connection that may be TLS.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fumehood_gate::fuzzing::greeting(bytes));
