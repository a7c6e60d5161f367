//! The memory functions that the compiler takes for granted. Simple loops: this program moves
//! little, and `rep movsb` is as good as it gets where there is one.

#[cfg(target_arch = "x86_64")]
use core::arch::asm;

/// # Safety
/// As for C's `memcpy`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the caller promises that both ranges are valid and do not overlap.
    unsafe {
        asm!("rep movsb", inout("rcx") count => _, inout("rdi") to => _, inout("rsi") from => _,
             options(nostack, preserves_flags));
    }
    #[cfg(target_arch = "aarch64")]
    for index in 0..count {
        // SAFETY: the caller promises that both ranges are valid.
        unsafe { to.add(index).write_volatile(from.add(index).read_volatile()) };
    }
    to
}

/// # Safety
/// As for C's `memmove`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    if (to as usize).wrapping_sub(from as usize) >= count {
        // SAFETY: a forward copy does not overwrite what it has yet to read.
        return unsafe { memcpy(to, from, count) };
    }
    for index in (0..count).rev() {
        // SAFETY: the caller promises that both ranges are valid. Volatile, so that the loop is
        // not recognized as a memmove and turned into a call of itself.
        unsafe { to.add(index).write_volatile(from.add(index).read_volatile()) };
    }
    to
}

/// # Safety
/// As for C's `memset`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memset(to: *mut u8, value: i32, count: usize) -> *mut u8 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the caller promises that the range is valid.
    unsafe {
        asm!("rep stosb", inout("rcx") count => _, inout("rdi") to => _, in("al") value as u8,
             options(nostack, preserves_flags));
    }
    #[cfg(target_arch = "aarch64")]
    for index in 0..count {
        // SAFETY: the caller promises that the range is valid.
        unsafe { to.add(index).write_volatile(value as u8) };
    }
    to
}

/// # Safety
/// As for C's `memcmp`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memcmp(a: *const u8, b: *const u8, count: usize) -> i32 {
    for index in 0..count {
        // SAFETY: the caller promises that both ranges are valid.
        let (x, y) = unsafe { (a.add(index).read_volatile(), b.add(index).read_volatile()) };
        if x != y {
            return i32::from(x) - i32::from(y);
        }
    }
    0
}

/// # Safety
/// As for C's `bcmp`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcmp(a: *const u8, b: *const u8, count: usize) -> i32 {
    // SAFETY: the same promise.
    unsafe { memcmp(a, b, count) }
}

/// # Safety
/// As for C's `strlen`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strlen(text: *const u8) -> usize {
    let mut length = 0;
    // SAFETY: the caller promises that a zero byte ends the text.
    while unsafe { text.add(length).read_volatile() } != 0 {
        length += 1;
    }
    length
}
