//! What kind of archive a file is, by its content. Names prove nothing.

/// A kind of archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Tar,
    /// Gzip, with a tar in it.
    TarGz,
    Zip,
}

impl Kind {
    /// How many bytes are needed to tell.
    pub(super) const NEEDED: usize = 512;

    /// The kind of a file that begins like this.
    pub(super) fn of(start: &[u8]) -> Option<Kind> {
        match start {
            [0x1f, 0x8b, 8, ..] => Some(Kind::TarGz),
            // The second is the end of an archive, which is all there is of an empty one.
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Some(Kind::Zip),
            start if is_tar(start) => Some(Kind::Tar),
            _ => None,
        }
    }
}

/// A tar begins with a header whose sum is right. Old ones have no other mark.
fn is_tar(start: &[u8]) -> bool {
    let Some(block) = start.get(..Kind::NEEDED) else { return false };
    let sum: u32 = block[..148].iter().chain(&block[156..]).map(|&byte| u32::from(byte)).sum();
    let header = tar::Header::from_byte_slice(block);
    header.cksum().is_ok_and(|expected| expected == sum + 8 * u32::from(b' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_decides() {
        let mut tar = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_old();
        header.set_size(0);
        tar.append_data(&mut header, "name.zip", &b""[..]).unwrap();
        assert_eq!(Kind::of(&tar.into_inner().unwrap()), Some(Kind::Tar));
        assert_eq!(Kind::of(b"PK\x03\x04rest"), Some(Kind::Zip));
        assert_eq!(Kind::of(&[0x1f, 0x8b, 8, 0]), Some(Kind::TarGz));
        assert_eq!(Kind::of(&[0; 1024]), None);
        assert_eq!(Kind::of(b"print(1)"), None);
        assert_eq!(Kind::of(b""), None);
        assert_eq!(Kind::of(&[b'a'; 512]), None);
    }
}
