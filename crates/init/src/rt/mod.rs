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
/// then that many pointers to strings that live as long as the process, zero, then pointers to
/// the variables, and zero again.
pub unsafe extern "C" fn enter(stack: *const usize) -> ! {
    // SAFETY: the caller promises the layout.
    let count = unsafe { *stack };
    // SAFETY: the arguments follow the count, and the variables follow the arguments.
    let (arguments, variables) =
        unsafe { (strings(stack.add(1)), strings(stack.add(1 + count + 1))) };
    let code = crate::main(&arguments, &variables);
    sys::exit(code)
}

/// # Safety
/// `list` must point to pointers to strings that live as long as the process, and a zero.
unsafe fn strings(mut list: *const usize) -> Vec<&'static [u8]> {
    let mut strings = Vec::new();
    // SAFETY: the caller promises the layout, and zero is not passed.
    unsafe {
        while *list != 0 {
            strings.push(core::ffi::CStr::from_ptr(*list as *const _).to_bytes());
            list = list.add(1);
        }
    }
    strings
}

/// Writes a message to standard error and ends the process.
pub fn abort_with(message: &[u8]) -> ! {
    let _ = rustix::io::write(sys::descriptor(2), message);
    sys::exit(70)
}
