//! A way for the ordinary user to what root has built, where the clone lies in a directory that
//! nobody else may enter.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::{shell, system::User};

/// How commands are started so that their paths lead somewhere.
pub enum Reach {
    /// They do already.
    Direct,
    /// This directory is closed to the user. In a mount namespace of its own, each command finds
    /// an open directory in its place, with nothing in it but these.
    Through { closed: PathBuf, wanted: Vec<PathBuf> },
}

/// Opens the wanted directories before they disappear, covers the closed one, and brings them
/// back under their old names. Arguments: uid, gid, the closed directory, how many are wanted,
/// those, then the command.
const SCRIPT: &str = r#"
set -e
uid=$1 gid=$2 closed=$3 count=$4; shift 4
here=$PWD
number=3
for wanted in $(seq "$count"); do
    eval "exec $number<\"\$1\""; eval "path_$number=\$1"
    shift; number=$((number + 1))
done
mount -t tmpfs -o mode=755 tmpfs "$closed"
number=3
for wanted in $(seq "$count"); do
    eval "path=\$path_$number"
    mkdir -p "$path"
    # Followed by the kernel: spelled out, the name would lead to what now covers it.
    mount --no-canonicalize --bind "/proc/self/fd/$number" "$path"
    eval "exec $number<&-"
    number=$((number + 1))
done
cd "$here"
exec setpriv --reuid "$uid" --regid "$gid" --clear-groups -- "$@"
"#;

impl Reach {
    /// Looks at what keeps the user from these directories.
    pub fn find(user: &User, wanted: &[PathBuf]) -> Result<Reach, String> {
        let enters = |directory: &Path| {
            let mut command = Command::new("ls");
            command.arg("-d").arg(directory.join("."));
            shell::works(user.become_for(&mut command))
        };
        let ancestors = wanted.iter().flat_map(|path| path.ancestors());
        let mut closed: Vec<&Path> = ancestors.filter(|ancestor| !enters(ancestor)).collect();
        closed.sort_by_key(|path| path.as_os_str().len());
        match closed.first() {
            None => Ok(Reach::Direct),
            Some(top) if wanted.iter().all(|path| path.starts_with(top) && path != top) => {
                Ok(Reach::Through { closed: top.to_path_buf(), wanted: wanted.to_vec() })
            }
            Some(top) => Err(format!(
                "{} may not enter {}: move the clone to where everybody may read",
                user.name,
                top.display()
            )),
        }
    }

    /// The command for a program, run as the user in a directory.
    pub fn command(&self, user: &User, program: &Path, directory: &Path) -> Command {
        match self {
            Reach::Direct => {
                let mut command = Command::new(program);
                user.become_for(&mut command).current_dir(directory);
                command
            }
            Reach::Through { closed, wanted } => {
                let mut command = Command::new("unshare");
                command
                    .args(["--mount", "--propagation", "private", "--", "/bin/sh", "-c", SCRIPT])
                    .arg("reach")
                    .args([user.uid.to_string(), user.gid.to_string()])
                    .arg(closed)
                    .arg(wanted.len().to_string())
                    .args(wanted)
                    .arg(program);
                user.dress(&mut command).current_dir(directory);
                command
            }
        }
    }
}
