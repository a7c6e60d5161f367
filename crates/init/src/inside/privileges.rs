//! The end of all privilege: no capability in any set, none to be had by executing anything.

use fumehood_core::{Layer, protocol::Setup};
use rustix::io::Errno;
use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, capability_is_in_bounding_set,
    clear_ambient_capability_set, remove_capability_from_bounding_set, set_capabilities,
    set_capabilities_secure_bits, set_no_new_privs,
};

use super::Reports;
use crate::failure::{Failure, Step};

/// The kernel's highest capability number is far below this.
const MOST_CAPABILITIES: u32 = 64;

pub(super) fn drop_all(setup: &Setup, done: &mut Reports) -> Result<(), Failure> {
    if !setup.without.contains(&Layer::Capabilities) {
        for number in 0..MOST_CAPABILITIES {
            let one = CapabilitySet::from_bits_retain(1 << number);
            // The first number that the kernel does not know is the end of the list.
            if remove_capability_from_bounding_set(one).is_err() {
                break;
            }
        }
        clear_ambient_capability_set().step("ambient capabilities")?;
        let locked = CapabilitiesSecureBits::NO_ROOT
            | CapabilitiesSecureBits::NO_ROOT_LOCKED
            | CapabilitiesSecureBits::NO_SETUID_FIXUP
            | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
            | CapabilitiesSecureBits::KEEP_CAPS_LOCKED
            | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
            | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED;
        match set_capabilities_secure_bits(locked) {
            // In a container without the right to lock them there is nothing that they could lock.
            Err(Errno::PERM) if nothing_can_be_gained() => {}
            result => result.step("capability secure bits")?,
        }
        let none = CapabilitySets {
            effective: CapabilitySet::empty(),
            permitted: CapabilitySet::empty(),
            inheritable: CapabilitySet::empty(),
        };
        set_capabilities(None, none).step("capabilities")?;
        done.full(Layer::Capabilities, "none left in any set");
    }
    if !setup.without.contains(&Layer::NoNewPrivileges) {
        set_no_new_privs(true).step("no_new_privs")?;
        done.full(Layer::NoNewPrivileges, "PR_SET_NO_NEW_PRIVS");
    }
    Ok(())
}

/// True if no capability is left in the bounding set, so that no program can bring one.
fn nothing_can_be_gained() -> bool {
    (0..MOST_CAPABILITIES)
        .map(|number| capability_is_in_bounding_set(CapabilitySet::from_bits_retain(1 << number)))
        // An error is the end of the list.
        .take_while(Result::is_ok)
        .all(|there| there == Ok(false))
}
