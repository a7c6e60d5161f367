//! The program that builds and inhabits boxes.
//!
//! As *launcher* it makes native boxes for one supervisor. As *init* it is process 1 of a box on
//! every backend: it starts the program, carries its streams, counts what it used, and ends
//! everything when told to or when the supervisor is gone. It has no standard library, no libc
//! and no threads: starting it costs a tenth of what starting a libc program costs, it runs in
//! any image, and this directory is all there is to read.

#![no_std]
#![cfg(target_os = "linux")]

extern crate alloc;

#[cfg(test)]
extern crate std;

pub mod early;
mod failure;
mod held;
mod inside;
mod launcher;
mod meters;
pub mod rt;
mod serve;
mod sys;

use alloc::vec::Vec;

/// What the first argument makes of the program. The variables are those of its surroundings.
pub fn main(arguments: &[&[u8]], variables: &[&[u8]]) -> u8 {
    match arguments.get(1..).unwrap_or_default() {
        [mode, ready @ ..] if *mode == b"launcher" => launcher::main(ready.len()),
        [mode] if *mode == b"box" => inside::container::main(variables),
        [mode] if *mode == b"local" => serve::main_without_box(),
        _ => {
            let usage = b"fumehood-init: part of fumehood, which starts it by itself\n";
            let _ = rustix::io::write(sys::descriptor(2), usage);
            2
        }
    }
}

/// Collects what an iterator over results gives, stopping at the first error.
fn collect_results<T, E>(items: impl Iterator<Item = Result<T, E>>) -> Result<Vec<T>, E> {
    items.collect()
}
