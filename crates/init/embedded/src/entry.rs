//! Where the kernel enters the program `fumehood`: the launcher is started first, and only then
//! the C library. Setting that up takes as long as preparing half a box, and the launcher does
//! not need it.
//!
//! Relocations have not been applied here. Whatever `begin` uses must be found without them: it
//! is private to this file or inlined into it, which is why this crate is always optimized.

use core::{
    ffi::c_void,
    sync::atomic::{AtomicBool, AtomicI32, Ordering},
};

use fumehood_init::early;

/// The init program. An array and not a slice, which would be an address still to be relocated.
pub(crate) static INIT: [u8; include_bytes!(env!("FUMEHOOD_INIT")).len()] =
    *include_bytes!(env!("FUMEHOOD_INIT"));

/// The socket and the process of a launcher that nobody has taken yet.
static SOCKET: AtomicI32 = AtomicI32::new(-1);
static PROCESS: AtomicI32 = AtomicI32::new(0);
static STARTED: AtomicBool = AtomicBool::new(false);
static PLACE: early::Place = early::Place::new();

/// A launcher that runs already.
#[derive(Debug)]
pub struct EarlyLauncher {
    /// The supervisor's end of its channel. Closed on exec; to be taken over by the receiver.
    pub socket: early::Socket,
    /// Its process id, a child of this process.
    pub process: i32,
}

/// The launcher that was started at entry, if the program was entered here and its first argument
/// is that of a command that opens a box. It is given once.
pub fn take_early_launcher() -> Option<EarlyLauncher> {
    if !STARTED.swap(false, Ordering::AcqRel) {
        return None;
    }
    let (socket, process) = (SOCKET.load(Ordering::Acquire), PROCESS.load(Ordering::Acquire));
    // SAFETY: `begin` opened this descriptor, and the swap gives it to one caller only.
    let socket = unsafe { early::socket_from(socket) };
    Some(EarlyLauncher { socket, process })
}

/// The entry point: named to the linker by the build script of the command line.
///
/// # Safety
/// To be jumped to by the kernel, or by a dynamic linker, and by nobody else.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn fumehood_entry() -> ! {
    unsafe extern "C" {
        /// The entry point of the C library's start files.
        fn _start() -> !;
    }
    // The stack and the one register that carries a meaning are handed on as they were found.
    #[cfg(target_arch = "x86_64")]
    core::arch::naked_asm!(
        "push rdx",
        "lea rdi, [rsp + 8]",
        "sub rsp, 8",
        "call {begin}",
        "add rsp, 8",
        "pop rdx",
        "jmp {start}",
        begin = sym begin,
        start = sym _start,
    );
    #[cfg(target_arch = "aarch64")]
    core::arch::naked_asm!(
        "stp x0, x30, [sp, #-16]!",
        "add x0, sp, #16",
        "bl {begin}",
        "ldp x0, x30, [sp], #16",
        "b {start}",
        begin = sym begin,
        start = sym _start,
    );
}

/// Starts the launcher if the arguments call for one. Whatever goes wrong here goes wrong again
/// later, where it can be told.
///
/// # Safety
/// `stack` must point to what the kernel puts on the stack of a new process.
unsafe extern "C" fn begin(stack: *const usize) {
    // SAFETY: the caller promises the layout.
    let wanted =
        unsafe { early::second_word_is(stack, c"exec") || early::second_word_is(stack, c"run") };
    if !wanted {
        return;
    }
    // SAFETY: there is one thread, which has not begun yet; the program is a static, and the place
    // is used here only.
    let started = unsafe {
        let program = core::slice::from_raw_parts(init_here(), INIT.len());
        early::start_launcher(program, &PLACE, launch)
    };
    // SAFETY: the caller promises the layout.
    unsafe { early::write_relocated_pages(stack) };
    if let Some((socket, process)) = started {
        SOCKET.store(socket, Ordering::Release);
        PROCESS.store(process, Ordering::Release);
        STARTED.store(true, Ordering::Release);
    }
}

/// Where the launcher's process begins.
extern "C" fn launch(order: *mut c_void) -> ! {
    // SAFETY: `begin` has it started, and nobody else.
    unsafe { early::launch(order) }
}

/// The address of the init program, without asking a table that is not filled yet.
#[inline(always)]
fn init_here() -> *const u8 {
    let address;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: computes an address.
    unsafe {
        core::arch::asm!("lea {}, [rip + {}]", out(reg) address, sym INIT, options(nomem, nostack));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: computes an address.
    unsafe {
        core::arch::asm!(
            "adrp {0}, {1}",
            "add {0}, {0}, :lo12:{1}",
            out(reg) address, sym INIT, options(nomem, nostack),
        );
    }
    address
}
