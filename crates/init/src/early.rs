//! Starting the launcher before the C library of the supervisor is set up.
//!
//! Nothing here may call the C library, touch thread-local storage, or rely on relocated
//! pointers: no formatting, no heap, no comparison of slices. System calls and loops only, all of
//! it inlined into the caller.

use core::{
    cell::UnsafeCell,
    ffi::{CStr, c_void},
};

use linux_raw_sys::{
    auxvec::{AT_PHDR, AT_PHNUM},
    elf::{Elf_Phdr, PT_GNU_RELRO, PT_PHDR},
    general as nr,
};
use rustix::{
    fd::{FromRawFd, OwnedFd},
    io::Errno,
};

use crate::sys::{clone_on, exit, syscall};

/// The supervisor's end of a launcher's channel.
pub type Socket = OwnedFd;

/// # Safety
/// The descriptor must be open and belong to the caller.
pub unsafe fn socket_from(descriptor: i32) -> Socket {
    // SAFETY: the caller's promise.
    unsafe { OwnedFd::from_raw_fd(descriptor) }
}

/// True if the second argument of the program is this word.
///
/// # Safety
/// `stack` must point to what the kernel puts on the stack of a new process.
#[inline(always)]
pub unsafe fn second_word_is(stack: *const usize, word: &CStr) -> bool {
    // SAFETY: the caller promises the layout: a count, then that many strings.
    unsafe { *stack >= 2 && same(*stack.add(2) as *const u8, word.as_ptr().cast()) }
}

/// # Safety
/// Both must be ended by a zero.
#[inline(always)]
unsafe fn same(a: *const u8, b: *const u8) -> bool {
    let mut index = 0;
    loop {
        // SAFETY: neither has ended before this byte. Volatile, so that the loop does not become
        // a call of the C library.
        let (x, y) = unsafe { (a.add(index).read_volatile(), b.add(index).read_volatile()) };
        if x != y {
            return false;
        }
        if x == 0 {
            return true;
        }
        index += 1;
    }
}

/// Starts this program as a launcher. Gives its socket and its process, or nothing.
///
/// # Safety
/// The process must have no second thread. The place must have been used by nobody, and `launch`
/// must call the function of that name.
#[inline(always)]
pub unsafe fn start_launcher(
    program: &'static [u8],
    place: &'static Place,
    launch: extern "C" fn(*mut c_void) -> !,
) -> Option<(i32, i32)> {
    const AF_UNIX: usize = 1;
    const SOCK_SEQPACKET: usize = 5;
    const SOCK_CLOEXEC: usize = nr::O_CLOEXEC as usize;
    let mut pair = [0i32; 2];
    let call = [AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, &raw mut pair as usize, 0, 0];
    // SAFETY: the kernel writes two descriptors to the pair.
    unsafe { syscall(nr::__NR_socketpair, call) }.ok()?;
    if pair[0] <= 2 || pair[1] <= 2 {
        // Started with a standard stream closed: the C library opens something harmless there.
        close(pair[0]);
        close(pair[1]);
        return None;
    }
    let mut processors = Processors::ours();
    let order = Order { program: program.as_ptr(), length: program.len(), channel: pair[1] };
    // SAFETY: the caller promises that nobody else uses the place. The child only makes system
    // calls, on its own stack, until it executes the launcher: what happens to the rest of our
    // memory meanwhile is nothing to it.
    let process = unsafe {
        place.order.get().write(order);
        clone_on(0, &mut *place.stack.get(), launch, place.order.get().cast())
    };
    if process < 0 {
        close(pair[0]);
        close(pair[1]);
        return None;
    }
    processors.leave_out_this();
    processors.allow(process as usize);
    let word = 0u8;
    let call = [pair[0] as usize, &raw const word as usize, 1, 0, 0, 0];
    // SAFETY: the kernel reads one byte. A child that does not get it ends.
    let _ = unsafe { syscall(nr::__NR_write, call) };
    close(pair[1]);
    Some((pair[0], process as i32))
}

/// Where the child works until it is the launcher: in our memory, since a copy of it would be thrown
/// away at once. We go on meanwhile, so it has its own stack there.
#[repr(C, align(16))]
pub struct Place {
    stack: UnsafeCell<[usize; 1024]>,
    order: UnsafeCell<Order>,
}

// SAFETY: written before the only child starts, and used by that child alone from then on.
unsafe impl Sync for Place {}

/// What the child needs to know.
struct Order {
    program: *const u8,
    length: usize,
    channel: i32,
}

impl Place {
    /// An unused place.
    #[allow(clippy::new_without_default, reason = "for statics")]
    pub const fn new() -> Place {
        let order = Order { program: core::ptr::null(), length: 0, channel: -1 };
        Place { stack: UnsafeCell::new([0; 1024]), order: UnsafeCell::new(order) }
    }
}

/// What the child does.
///
/// # Safety
/// To be called by the child that `start_launcher` made, with what it passes.
#[inline(always)]
pub unsafe fn launch(order: *mut c_void) -> ! {
    // SAFETY: the caller's promise.
    let Order { program, length, channel } = unsafe { order.cast::<Order>().read() };
    // Not before we were sent elsewhere, or the launcher could allow itself all processors too
    // early.
    let mut word = 0u8;
    let call = [channel as usize, &raw mut word as usize, 1, 0, 0, 0];
    // SAFETY: the kernel writes one byte.
    if !matches!(unsafe { syscall(nr::__NR_read, call) }, Ok(1)) {
        exit(127)
    }
    // SAFETY: this process is ours to replace, and the program is a static.
    let _ = unsafe { become_launcher(core::slice::from_raw_parts(program, length), channel) };
    exit(127)
}

/// Executes the program from a sealed file in memory: nothing on disk to tamper with, and nobody
/// can write to it through `/proc`, not even root.
///
/// # Safety
/// Only in a process that has nothing else to do.
#[inline(always)]
unsafe fn become_launcher(program: &[u8], channel: i32) -> Result<(), Errno> {
    let (start, length) = (program.as_ptr() as usize, program.len());
    let name = c"fumehood-init".as_ptr() as usize;
    let flags = (nr::MFD_CLOEXEC | nr::MFD_ALLOW_SEALING) as usize;
    // SAFETY: every pointer is to a string, an array or a structure that outlives the call.
    unsafe {
        // Kernels before 6.3 do not know the flag that asks for an executable file.
        let file =
            match syscall(nr::__NR_memfd_create, [name, flags | nr::MFD_EXEC as usize, 0, 0, 0, 0])
            {
                Ok(file) => file,
                Err(_) => syscall(nr::__NR_memfd_create, [name, flags, 0, 0, 0, 0])?,
            };
        let mut written = 0;
        while written < length {
            let left = [file, start + written, length - written, 0, 0, 0];
            written += syscall(nr::__NR_write, left)?;
        }
        let seals = nr::F_SEAL_WRITE | nr::F_SEAL_GROW | nr::F_SEAL_SHRINK | nr::F_SEAL_SEAL;
        syscall(nr::__NR_fcntl, [file, nr::F_ADD_SEALS as usize, seals as usize, 0, 0, 0])?;

        // The launcher starts like any program: nothing ignored, nothing blocked.
        let (none, default) = (0u64, [0u64; 4]);
        let (none, default) = (&raw const none as usize, &raw const default as usize);
        const SIGPIPE: usize = 13;
        const SETMASK: usize = 2;
        syscall(nr::__NR_rt_sigaction, [SIGPIPE, default, 0, 8, 0, 0])?;
        syscall(nr::__NR_rt_sigprocmask, [SETMASK, none, 0, 8, 0, 0])?;

        let here = nr::AT_FDCWD as isize as usize;
        let null = c"/dev/null".as_ptr() as usize;
        let null =
            syscall(nr::__NR_openat, [here, null, (nr::O_RDWR | nr::O_CLOEXEC) as usize, 0, 0, 0])?;
        syscall(nr::__NR_dup3, [channel as usize, 0, 0, 0, 0, 0])?;
        syscall(nr::__NR_dup3, [null, 1, 0, 0, 0, 0])?;
        syscall(nr::__NR_dup3, [null, 2, 0, 0, 0, 0])?;
        syscall(nr::__NR_chdir, [c"/".as_ptr() as usize, 0, 0, 0, 0, 0])?;
        let arguments = [name, c"launcher".as_ptr() as usize, 0];
        let environment = [0usize];
        let (arguments, environment) = (arguments.as_ptr() as usize, environment.as_ptr() as usize);
        let empty = c"".as_ptr() as usize;
        let at_path = [file, empty, arguments, environment, nr::AT_EMPTY_PATH as usize, 0];
        syscall(nr::__NR_execveat, at_path).map(drop)
    }
}

/// Makes the pages present that the C library is about to relocate, in one call. Otherwise each
/// of them is a fault of its own.
///
/// # Safety
/// `stack` must point to what the kernel puts on the stack of a new process.
#[inline(always)]
pub unsafe fn write_relocated_pages(stack: *const usize) {
    const PAGE: usize = 4096;
    // SAFETY: the caller promises the layout: arguments, environment, and pairs of numbers, each
    // list ended by a zero. The program headers are where the kernel says.
    unsafe {
        let mut word = stack.add(1 + *stack + 1);
        while *word != 0 {
            word = word.add(1);
        }
        word = word.add(1);
        let (mut headers, mut count) = (core::ptr::null::<Elf_Phdr>(), 0);
        while *word != 0 {
            match *word as u32 {
                AT_PHDR => headers = *word.add(1) as *const Elf_Phdr,
                AT_PHNUM => count = *word.add(1),
                _ => {}
            }
            word = word.add(2);
        }
        let (mut base, mut relocated) = (None, None);
        let mut index = 0;
        while !headers.is_null() && index < count {
            let header = &*headers.add(index);
            match header.p_type {
                PT_PHDR => base = (headers as usize).checked_sub(header.p_vaddr),
                PT_GNU_RELRO => relocated = Some((header.p_vaddr, header.p_memsz)),
                _ => {}
            }
            index += 1;
        }
        if let (Some(base), Some((start, length))) = (base, relocated) {
            let end = (base + start + length) & !(PAGE - 1);
            let start = (base + start) & !(PAGE - 1);
            const POPULATE_WRITE: usize = nr::MADV_POPULATE_WRITE as usize;
            // Kernels before 5.14 do not know it, and nothing is lost.
            let call = [start, end.saturating_sub(start), POPULATE_WRITE, 0, 0, 0];
            let _ = syscall(nr::__NR_madvise, call);
        }
    }
}

#[inline(always)]
fn close(descriptor: i32) {
    // SAFETY: no pointers; the descriptor was made here and nobody else knows it.
    let _ = unsafe { syscall(nr::__NR_close, [descriptor as usize, 0, 0, 0, 0, 0]) };
}

/// The processors on which we may run. The kernel puts a new process behind its parent, even when
/// another processor is idle, and there it would wait until we have something to wait for. So it
/// is sent elsewhere. It allows itself all of ours again when it has become the launcher, not
/// before: to execute a program is a reason for the kernel to move it, often back behind us.
struct Processors {
    mask: [usize; 4],
    bytes: usize,
}

impl Processors {
    #[inline(always)]
    fn ours() -> Processors {
        let mut processors = Processors { mask: [0; 4], bytes: 0 };
        let size = size_of_val(&processors.mask);
        let mask = &raw mut processors.mask as usize;
        // SAFETY: the kernel writes at most `size` bytes to the mask.
        let got = unsafe { syscall(nr::__NR_sched_getaffinity, [0, size, mask, 0, 0, 0]) };
        // Machines with more processors than fit have no need of this.
        processors.bytes = got.unwrap_or(0);
        processors
    }

    #[inline(always)]
    fn leave_out_this(&mut self) {
        let mut here = 0u32;
        // SAFETY: the kernel writes one number.
        let got = unsafe { syscall(nr::__NR_getcpu, [&raw mut here as usize, 0, 0, 0, 0, 0]) };
        let (word, bit) = (here as usize / usize::BITS as usize, here % usize::BITS);
        if got.is_ok() && word < 4 {
            self.mask[word] &= !(1 << bit);
        }
    }

    /// Allows a process these processors. Nothing happens where there are none.
    #[inline(always)]
    fn allow(&mut self, process: usize) {
        let [a, b, c, d] = self.mask;
        if self.bytes == 0 || a | b | c | d == 0 {
            return;
        }
        let call = [process, self.bytes, &raw const self.mask as usize, 0, 0, 0];
        // SAFETY: the kernel reads `bytes` bytes of the mask, which has them.
        let _ = unsafe { syscall(nr::__NR_sched_setaffinity, call) };
    }
}
