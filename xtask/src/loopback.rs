//! Programs that see no network but a loopback of their own, so that nothing they try can leave.

use std::{ffi::OsStr, process::Command};

use crate::system;

/// A command that starts this program in a network namespace with nothing but `lo`. The program has
/// the rights of whoever starts it and no more.
pub fn alone(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("unshare");
    if system::is_root() {
        command.args(["--net", "sh", "-c", "ip link set lo up && exec \"$0\" \"$@\""]);
    } else {
        // The capabilities of the new user namespace are for `ip` only.
        let script = "ip link set lo up && \
                      exec setpriv --inh-caps=-all --ambient-caps=-all -- \"$0\" \"$@\"";
        command.args(["--map-current-user", "--keep-caps", "--net", "sh", "-c", script]);
    }
    command.arg(program.as_ref());
    command
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::shell;

    #[test]
    fn nothing_but_loopback_is_there() {
        let script = "grep -c . /proc/net/route; grep -c '^ *lo:' /proc/net/dev; \
                      awk '/CapAmb/ { print $2 }' /proc/self/status; echo \"$1\"";
        let said = shell::output(alone("sh").args(["-c", script, "sh", "two words"])).unwrap();
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines.first(), Some(&"1"), "no route but the title: {said}");
        assert_eq!(lines.get(1), Some(&"1"), "the loopback is there: {said}");
        assert_eq!(lines.last(), Some(&"two words"), "{said}");
        assert!(lines.contains(&"0000000000000000"), "no capability is left over: {said}");
    }
}
