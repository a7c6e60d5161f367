//! Archives that are small and unpack to more than there is room for.

use std::{
    io::{self, Cursor, Read as _, Write as _},
    time::{Duration, Instant},
};

use flate2::{Compression, write::GzEncoder};
use zip::{ZipWriter, write::SimpleFileOptions};

use super::*;

/// Zeros, compressed: so many bytes behind a tar header that promises `promised`.
fn gzip_bomb(name: &str, kind: EntryType, promised: u64, zeros: u64) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    let mut first = header(kind, promised, 0o644);
    first.set_path(name).unwrap();
    first.set_cksum();
    gzip.write_all(first.as_bytes()).unwrap();
    io::copy(&mut io::repeat(0).take(zeros), &mut gzip).unwrap();
    gzip.finish().unwrap()
}

#[test]
fn two_gibibytes_of_zeros_are_stopped_early() {
    // One member of 16 MiB of zeros, repeated: the same stream as one of 2 GiB, made faster.
    let mut member = GzEncoder::new(Vec::new(), Compression::best());
    io::copy(&mut io::repeat(0).take(16 << 20), &mut member).unwrap();
    let member = member.finish().unwrap();
    let mut bomb = gzip_bomb("zeros", EntryType::Regular, 400 << 20, 0);
    for _ in 0..128 {
        bomb.extend(&member);
    }
    assert!(bomb.len() < 3 << 20, "it is small: {}", bomb.len());
    let begun = Instant::now();
    assert_refused(&bomb, &UnpackLimits::default(), Some("zeros"), &Refusal::Ratio { most: 1000 });
    assert!(begun.elapsed() < Duration::from_secs(2), "it took {:?}", begun.elapsed());
}

#[test]
fn a_long_name_without_end_is_not_read_into_memory() {
    let bomb = gzip_bomb("name", EntryType::GNULongName, 64 << 20, 64 << 20);
    let limits = UnpackLimits { ratio: 1 << 40, ..UnpackLimits::default() };
    assert_refused(&bomb, &limits, Some("name"), &Refusal::LongPath { most: 1 << 20 });
}

#[test]
fn what_a_header_promises_is_believed_at_once() {
    let limits = UnpackLimits { file: 1000, total: 1500, ..UnpackLimits::default() };
    let large = tar_of(|tar| add_file(tar, "large", &[0; 1001]));
    assert_refused(&large, &limits, Some("large"), &Refusal::Large { most: 1000 });
    let together = tar_of(|tar| {
        add_file(tar, "one", &[0; 1000]);
        add_file(tar, "two", &[0; 1000]);
    });
    assert_refused(&together, &limits, Some("two"), &Refusal::Total { most: 1500 });
}

#[test]
fn too_many_entries_too_deep_too_long() {
    let limits = UnpackLimits { entries: 10, depth: 5, names: 100, ..UnpackLimits::default() };
    let many = tar_of(|tar| (0..11).for_each(|n| add_file(tar, &n.to_string(), b"")));
    assert_refused(&many, &limits, Some("10"), &Refusal::Many { most: 10 });
    let deep = tar_of(|tar| add_file(tar, "1/2/3/4/5/6", b""));
    assert_refused(&deep, &limits, Some("1/2/3/4/5/6"), &Refusal::Deep { most: 5 });
    let name = "x".repeat(60);
    let long = tar_of(|tar| {
        add_file(tar, &name, b"");
        add_file(tar, &format!("{name}y"), b"");
    });
    assert_refused(&long, &limits, Some(&format!("{name}y")), &Refusal::Names { most: 100 });
}

#[test]
fn an_archive_can_be_too_large_itself() {
    let limits = UnpackLimits { archive: 1000, ..UnpackLimits::default() };
    let place = Place::new();
    let archive = tar_of(|tar| add_file(tar, "file", b"x"));
    let refused = place.unpack_within(&archive, &limits);
    assert!(matches!(refused, Err(Error::Archive(ArchiveError::TooLarge { most: 1000, .. }))));
}

#[test]
fn a_zip_of_zeros_is_stopped() {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("zeros", SimpleFileOptions::default().compression_level(Some(9))).unwrap();
    io::copy(&mut io::repeat(0).take(64 << 20), &mut zip).unwrap();
    let bomb = zip.finish().unwrap().into_inner();
    let limits = UnpackLimits { ratio: 500, ..UnpackLimits::default() };
    assert_refused(&bomb, &limits, Some("zeros"), &Refusal::Ratio { most: 500 });
}
