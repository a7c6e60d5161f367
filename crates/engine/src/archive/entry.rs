//! The path of an entry, checked: relative, downwards, of harmless characters.

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use super::{Refusal, UnpackLimits};

/// A path below the directory that is unpacked into, never empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct EntryPath(PathBuf);

impl EntryPath {
    /// Checks a name as it stands in an archive. `None` is the directory itself (`./`).
    pub(super) fn new(name: &[u8], limits: &UnpackLimits) -> Result<Option<EntryPath>, Refusal> {
        if name.is_empty() {
            return Err(Refusal::Nameless);
        }
        check_characters(name)?;
        if name.starts_with(b"/") {
            return Err(Refusal::Absolute);
        }
        if name.len() > limits.path {
            return Err(Refusal::LongPath { most: limits.path });
        }
        let mut path = PathBuf::new();
        let mut depth = 0;
        for part in name.split(|&byte| byte == b'/') {
            match part {
                b"" | b"." => continue,
                b".." => return Err(Refusal::Upwards),
                long if long.len() > 255 => return Err(Refusal::LongPath { most: limits.path }),
                part => path.push(OsStr::from_bytes(part)),
            }
            depth += 1;
        }
        if depth > limits.depth {
            return Err(Refusal::Deep { most: limits.depth });
        }
        Ok((depth > 0).then_some(EntryPath(path)))
    }

    pub(super) fn as_path(&self) -> &Path {
        &self.0
    }

    /// The directory it is in; empty for the top.
    pub(super) fn parent(&self) -> &Path {
        self.0.parent().unwrap_or(Path::new(""))
    }

    /// The last part.
    pub(super) fn name(&self) -> &OsStr {
        self.0.file_name().unwrap_or_default()
    }

    /// Checks the target of a symbolic link at this path, by its text alone. Where it really leads
    /// is looked at when everything is unpacked.
    pub(super) fn check_target(&self, target: &[u8], limits: &UnpackLimits) -> Result<(), Refusal> {
        if target.is_empty() {
            return Err(Refusal::Nameless);
        }
        check_characters(target)?;
        if target.len() > limits.path {
            return Err(Refusal::LongPath { most: limits.path });
        }
        if target.starts_with(b"/") {
            return Err(Refusal::LinkOut);
        }
        let mut depth = self.parent().components().count();
        for part in target.split(|&byte| byte == b'/') {
            match part {
                b"" | b"." => {}
                b".." => depth = depth.checked_sub(1).ok_or(Refusal::LinkOut)?,
                _ => depth += 1,
            }
        }
        Ok(())
    }
}

fn check_characters(name: &[u8]) -> Result<(), Refusal> {
    let control = match std::str::from_utf8(name) {
        Ok(text) => text.chars().any(char::is_control),
        // Some old encoding: letters above ASCII are letters.
        Err(_) => name.iter().any(u8::is_ascii_control),
    };
    if control { Err(Refusal::Control) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(name: &str) -> Result<Option<PathBuf>, Refusal> {
        let path = EntryPath::new(name.as_bytes(), &UnpackLimits::default())?;
        Ok(path.map(|path| path.as_path().to_owned()))
    }

    #[test]
    fn paths_lead_down() {
        assert_eq!(checked("a//./b/").unwrap(), Some("a/b".into()));
        assert_eq!(checked("./").unwrap(), None);
        assert_eq!(checked(""), Err(Refusal::Nameless));
        assert_eq!(checked("/etc/passwd"), Err(Refusal::Absolute));
        for up in ["..", "../a", "a/../b", "a/.."] {
            assert_eq!(checked(up), Err(Refusal::Upwards), "{up}");
        }
        for control in ["a\0", "a\nb", "\x1b[2J", "a\u{9b}"] {
            assert_eq!(checked(control), Err(Refusal::Control), "{control:?}");
        }
        assert_eq!(checked(&"a/".repeat(257)), Err(Refusal::Deep { most: 256 }));
        assert_eq!(checked(&"a".repeat(256)), Err(Refusal::LongPath { most: 4096 }));
        assert_eq!(checked(&"abcdefgh/".repeat(500)), Err(Refusal::LongPath { most: 4096 }));
    }

    #[test]
    fn links_stay_inside() {
        let limits = UnpackLimits::default();
        let at = EntryPath::new(b"a/b/link", &limits).unwrap().unwrap();
        for inside in ["c", "../c", "../../c", "./../b/c", "../../a/../d"] {
            assert_eq!(at.check_target(inside.as_bytes(), &limits), Ok(()), "{inside}");
        }
        for outside in ["/etc", "../../..", "../../../a", "c/../../../../x"] {
            let refused = at.check_target(outside.as_bytes(), &limits);
            assert_eq!(refused, Err(Refusal::LinkOut), "{outside}");
        }
    }
}
