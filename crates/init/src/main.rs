//! Start of the program: no libc, so the entry point, the heap and the panic handler are ours.

#![no_std]
#![no_main]

use fumehood_init::rt;

#[global_allocator]
static HEAP: rt::Heap = rt::Heap::new();

#[panic_handler]
fn on_panic(_: &core::panic::PanicInfo<'_>) -> ! {
    rt::abort_with(b"fumehood-init: internal error\n")
}

/// Where the kernel jumps to. The stack holds the arguments.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn _start() -> ! {
    #[cfg(target_arch = "x86_64")]
    core::arch::naked_asm!(
        "xor ebp, ebp",
        "mov rdi, rsp",
        "and rsp, -16",
        "call {enter}",
        "ud2",
        enter = sym rt::enter,
    );
    #[cfg(target_arch = "aarch64")]
    core::arch::naked_asm!(
        "mov x29, #0",
        "mov x0, sp",
        "bl {enter}",
        "brk #1",
        enter = sym rt::enter,
    );
}

/// The precompiled `alloc` crate refers to these two for unwinding, which never happens here:
/// a panic ends the process.
#[unsafe(no_mangle)]
extern "C" fn _Unwind_Resume() -> ! {
    rt::abort_with(b"fumehood-init: unwinding\n")
}

#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}
