//! The one place where system calls are made by hand.

use core::arch::asm;

use linux_raw_sys::general as nr;
use rustix::{fd::FromRawFd, fd::OwnedFd, io::Errno};

/// Makes a system call.
///
/// # Safety
/// The arguments must be valid for the call, pointers included.
#[inline(always)]
pub(crate) unsafe fn syscall(number: u32, args: [usize; 6]) -> Result<usize, Errno> {
    let result: isize;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the kernel keeps all registers but those named here.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") args[0], in("rsi") args[1], in("rdx") args[2],
            in("r10") args[3], in("r8") args[4], in("r9") args[5],
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the kernel keeps all registers but x0.
    unsafe {
        asm!(
            "svc 0",
            in("x8") number as usize,
            inlateout("x0") args[0] => result,
            in("x1") args[1], in("x2") args[2], in("x3") args[3],
            in("x4") args[4], in("x5") args[5],
            options(nostack),
        );
    }
    if (-4095..0).contains(&result) {
        Err(Errno::from_raw_os_error(-result as i32))
    } else {
        Ok(result as usize)
    }
}

/// Installs a filter for this process and all its descendants.
pub(crate) fn install_seccomp(program: &[[u8; 8]]) -> Result<(), Errno> {
    #[repr(C)]
    struct Program {
        length: u16,
        filter: *const [u8; 8],
    }
    const SET_MODE_FILTER: usize = 1;
    let argument = Program { length: program.len() as u16, filter: program.as_ptr() };
    // SAFETY: the argument points to `length` instructions of eight bytes each.
    unsafe {
        syscall(nr::__NR_seccomp, [SET_MODE_FILTER, 0, &raw const argument as usize, 0, 0, 0])
    }
    .map(drop)
}

/// The three calls of Landlock.
pub(crate) mod landlock {
    use super::{Errno, FromRawFd, OwnedFd, nr, syscall};
    use rustix::fd::{AsRawFd, BorrowedFd};

    /// The version of Landlock that the kernel has.
    pub(crate) fn version() -> Result<usize, Errno> {
        // SAFETY: with a null pointer and this flag the call only answers.
        unsafe { syscall(nr::__NR_landlock_create_ruleset, [0, 0, 1, 0, 0, 0]) }
    }

    /// A rule set that handles these rights: files, network, scopes.
    pub(crate) fn create(handled: &[u64]) -> Result<OwnedFd, Errno> {
        let address = handled.as_ptr() as usize;
        let size = size_of_val(handled);
        // SAFETY: the attribute is `size` bytes of 64-bit words.
        let fd = unsafe { syscall(nr::__NR_landlock_create_ruleset, [address, size, 0, 0, 0, 0]) }?;
        // SAFETY: the kernel just made this descriptor for us.
        Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
    }

    /// Allows these rights below a path.
    pub(crate) fn allow(
        rules: BorrowedFd<'_>,
        rights: u64,
        below: BorrowedFd<'_>,
    ) -> Result<(), Errno> {
        #[repr(C, packed)]
        struct PathBeneath {
            rights: u64,
            parent: i32,
        }
        const PATH_BENEATH: usize = 1;
        let rule = PathBeneath { rights, parent: below.as_raw_fd() };
        let rules = rules.as_raw_fd() as usize;
        let address = &raw const rule as usize;
        // SAFETY: the rule has the layout that the kernel expects.
        unsafe { syscall(nr::__NR_landlock_add_rule, [rules, PATH_BENEATH, address, 0, 0, 0]) }
            .map(drop)
    }

    /// Puts this process and all its descendants under the rules.
    pub(crate) fn restrict(rules: BorrowedFd<'_>) -> Result<(), Errno> {
        let rules = rules.as_raw_fd() as usize;
        // SAFETY: takes a descriptor and flags, no pointers.
        unsafe { syscall(nr::__NR_landlock_restrict_self, [rules, 0, 0, 0, 0, 0]) }.map(drop)
    }
}
