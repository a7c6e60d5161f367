//! Loopback, the only interface a box ever has.

use rustix::{
    io::Errno,
    net::{AddressFamily, SocketFlags, SocketType, socket_with},
};

use crate::sys;

pub(super) fn bring_up_loopback() -> Result<(), Errno> {
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    sys::interface_up(&socket, b"lo")
}
