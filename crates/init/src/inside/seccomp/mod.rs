//! System calls: what is listed works, everything else gives an error.
//!
//! The filter is a search tree, not a list: a list of comparisons as long as ours took the kernel
//! a whole millisecond to install, the tree takes a few microseconds.

mod assemble;
mod list;

use rustix::io::Errno;

use crate::sys;

pub(super) fn install() -> Result<(), Errno> {
    sys::install_seccomp(&assemble::program(list::ARCHITECTURE, &list::segments()))
}
