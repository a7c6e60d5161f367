//! Loopback, the only interface a box ever has, and the connections that a gate lends it.

mod lend;
mod netlink;
mod nftables;
mod own;
mod routes;

use rustix::{
    io::Errno,
    net::{AddressFamily, SocketFlags, SocketType, socket_with},
};

pub(super) use self::{
    lend::{Lending, lend},
    own::enter_own_namespace,
};
use crate::sys;

pub(super) fn bring_up_loopback() -> Result<(), Errno> {
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    sys::interface_up(&socket, b"lo")
}
