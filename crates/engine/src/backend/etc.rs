//! The few files that say who is who in a box, on every backend.

use fumehood_core::protocol::RESOLVER;

/// The host name of every box.
pub(super) const HOST_NAME: &str = "fumehood";

/// Paths with their content, for a box whose program has this user and group.
pub(super) fn files(uid: u32, gid: u32) -> Vec<(&'static str, String)> {
    // Where the program has the number of root, the name is still that of the box.
    let root = if uid == 0 { "" } else { "root:x:0:0:root:/:/usr/sbin/nologin\n" };
    let root_group = if gid == 0 { "" } else { "root:x:0:\n" };
    let passwd = format!(
        "{root}box:x:{uid}:{gid}:box:/home/box:/bin/sh\n\
         nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n"
    );
    let group = format!("{root_group}box:x:{gid}:\nnogroup:x:65534:\n");
    let hosts = format!("127.0.0.1 localhost {HOST_NAME}\n::1 localhost {HOST_NAME}\n");
    vec![
        ("/etc/passwd", passwd),
        ("/etc/group", group),
        ("/etc/hosts", hosts),
        ("/etc/hostname", format!("{HOST_NAME}\n")),
        ("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n".to_owned()),
        // Nobody answers there unless the box has a gate.
        ("/etc/resolv.conf", format!("nameserver {RESOLVER}\n")),
    ]
}
