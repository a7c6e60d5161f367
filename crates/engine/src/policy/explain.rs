//! What a policy says of a path of this machine: the name counts, and so does what it leads to.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use super::{PathDecision, Policy};

/// The answer for the name and for what it leads to: a link is no way past a pattern. The current
/// directory is the workspace.
pub fn path_decision(policy: &Policy, path: &Path) -> PathDecision {
    let here = env::current_dir().unwrap_or_default();
    let within = |whole: &Path| match whole.strip_prefix(&here) {
        Ok(relative) => policy.path_decision(relative),
        Err(_) => policy.path_decision(whole),
    };
    let named = within(&here.join(path));
    let Some(real) = real(path).map(|real| within(&real)) else { return named };
    PathDecision {
        read: if named.read.allowed { real.read } else { named.read },
        write: if named.write.allowed { real.write } else { named.write },
    }
}

/// The path without links. Of a file that does not exist yet, the directory counts.
fn real(path: &Path) -> Option<PathBuf> {
    if let Ok(real) = fs::canonicalize(path) {
        return Some(real);
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let directory = fs::canonicalize(directory.unwrap_or(Path::new("."))).ok()?;
    Some(directory.join(path.file_name()?))
}
