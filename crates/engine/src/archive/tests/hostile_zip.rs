//! Zip archives that try to get out. What the crate refuses to write is changed by hand.

use std::io::{Cursor, Write as _};

use zip::{ZipWriter, write::SimpleFileOptions};

use super::*;

fn zip_of(fill: impl FnOnce(&mut ZipWriter<Cursor<Vec<u8>>>)) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    fill(&mut writer);
    writer.finish().unwrap().into_inner()
}

fn add(zip: &mut ZipWriter<Cursor<Vec<u8>>>, name: &str, content: &[u8]) {
    zip.start_file(name, SimpleFileOptions::default()).unwrap();
    zip.write_all(content).unwrap();
}

/// Replaces a text of the same length wherever it stands.
fn replaced(mut archive: Vec<u8>, from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut found = 0;
    for start in 0..=archive.len() - from.len() {
        if archive[start..].starts_with(from) {
            archive[start..start + to.len()].copy_from_slice(to);
            found += 1;
        }
    }
    assert!(found > 0, "there is something to replace");
    archive
}

#[track_caller]
fn refused(archive: &[u8], entry: &str, refusal: &Refusal) {
    assert_refused(archive, &UnpackLimits::default(), Some(entry), refusal);
}

#[test]
fn paths_that_lead_out() {
    let archive = zip_of(|zip| {
        add(zip, "before", b"x");
        add(zip, "NAME_NAME", b"x");
    });
    for (name, refusal) in [
        ("../escape", Refusal::Upwards),
        ("a/../../b", Refusal::Upwards),
        ("/tmp/esca", Refusal::Absolute),
        ("bell\x07bell", Refusal::Control),
        ("nul\0nulnu", Refusal::Control),
    ] {
        refused(&replaced(archive.clone(), b"NAME_NAME", name.as_bytes()), name, &refusal);
    }
}

#[test]
fn links_that_lead_out() {
    for target in ["/etc/passwd", "../outside"] {
        let archive = zip_of(|zip| {
            zip.add_symlink("link", target, SimpleFileOptions::default()).unwrap();
        });
        refused(&archive, "link", &Refusal::LinkOut);
    }
    let archive = zip_of(|zip| {
        zip.add_symlink("link", "inside", SimpleFileOptions::default()).unwrap();
        add(zip, "inside/file", b"x");
        add(zip, "link/file", b"x");
    });
    refused(&archive, "link/file", &Refusal::Through);
}

#[test]
fn devices() {
    // The kind stands in the upper half of the attributes.
    let archive = zip_of(|zip| {
        zip.start_file("odd", SimpleFileOptions::default().unix_permissions(0o644)).unwrap();
    });
    let file: [u8; 4] = (0o100_644_u32 << 16).to_le_bytes();
    let device: [u8; 4] = (0o020_644_u32 << 16).to_le_bytes();
    let kind = Refusal::Special { kind: "device, pipe or socket" };
    refused(&replaced(archive, &file, &device), "odd", &kind);
}

#[test]
fn the_same_twice() {
    let archive = zip_of(|zip| {
        add(zip, "one", b"1");
        add(zip, "two", b"2");
    });
    let twice = Refusal::Ambiguous { detail: "one name twice" };
    assert_refused(&replaced(archive, b"two", b"one"), &UnpackLimits::default(), None, &twice);
    let archive = zip_of(|zip| {
        add(zip, "dir/a", b"1");
        add(zip, "dir/./a", b"2");
    });
    refused(&archive, "dir/./a", &Refusal::Twice);
}

#[test]
fn what_needs_a_password() {
    let mut archive = zip_of(|zip| add(zip, "secret", b"x"));
    // The flags of the header and of its place in the list.
    for (magic, offset) in [(&b"PK\x03\x04"[..], 6), (b"PK\x01\x02", 8)] {
        let start = archive.windows(4).position(|window| window == magic).unwrap();
        archive[start + offset] |= 1;
    }
    refused(&archive, "secret", &Refusal::Encrypted);
}

#[test]
fn files_that_share_their_bytes() {
    // Two entries of the list that point at one file: the way of the densest bombs.
    let archive = zip_of(|zip| {
        add(zip, "one", b"some content");
        add(zip, "two", b"some content");
    });
    let mut archive = archive;
    let list = archive.windows(4).rposition(|window| window == b"PK\x01\x02").unwrap();
    archive[list + 42..list + 46].copy_from_slice(&0_u32.to_le_bytes());
    let place = Place::new();
    let error = place.unpack(&archive).unwrap_err();
    assert!(error.to_string().contains("overlap"), "{error}");
}

#[test]
fn a_list_without_end() {
    // Entries with nothing in them: only the list costs anything, and it is read into memory.
    let mut archive = zip_of(|zip| add(zip, "one", b""));
    let list = archive.windows(4).position(|window| window == b"PK\x01\x02").unwrap();
    let end = archive.windows(4).position(|window| window == b"PK\x05\x06").unwrap();
    let (entry, mut tail) = (archive[list..end].to_vec(), archive[end..].to_vec());
    archive.truncate(list);
    const COUNT: u16 = 60_000;
    for _ in 0..COUNT {
        archive.extend(&entry);
    }
    let size = (entry.len() as u32) * u32::from(COUNT);
    tail[8..10].copy_from_slice(&COUNT.to_le_bytes());
    tail[10..12].copy_from_slice(&COUNT.to_le_bytes());
    tail[12..16].copy_from_slice(&size.to_le_bytes());
    archive.extend(tail);
    let limits = UnpackLimits { entries: 100, ..UnpackLimits::default() };
    assert_refused(&archive, &limits, None, &Refusal::Names { most: 1 << 20 });
}
