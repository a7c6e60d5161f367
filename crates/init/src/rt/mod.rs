//! What a libc would do for the program: entry, exit, heap, memory functions.

mod heap;
#[cfg(feature = "program")]
mod memory;

pub use heap::Heap;

use alloc::vec::Vec;

use crate::sys;

/// Runs the program with the arguments on the initial stack.
///
/// # Safety
/// `stack` must point to what the kernel puts on the stack of a new process: the argument count,
/// then that many pointers to strings that live as long as the process.
pub unsafe extern "C" fn enter(stack: *const usize) -> ! {
    // SAFETY: the caller promises the layout.
    let count = unsafe { *stack };
    let mut arguments: Vec<&[u8]> = Vec::with_capacity(count);
    for index in 0..count {
        // SAFETY: `count` pointers to strings follow the count.
        let argument = unsafe { core::ffi::CStr::from_ptr(*stack.add(1 + index) as *const _) };
        arguments.push(argument.to_bytes());
    }
    let code = crate::main(&arguments);
    sys::exit(code)
}

/// Writes a message to standard error and ends the process.
pub fn abort_with(message: &[u8]) -> ! {
    let _ = rustix::io::write(sys::descriptor(2), message);
    sys::exit(70)
}
