//! Archives with bytes changed at random: whatever they become, nothing outside is touched.

use std::io::{Cursor, Write as _};

use flate2::{Compression, write::GzEncoder};
use zip::{ZipWriter, write::SimpleFileOptions};

use super::*;

/// A small generator, so that a failure can be repeated.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, most: usize) -> usize {
        (self.next() % most as u64) as usize
    }
}

fn tar() -> Vec<u8> {
    tar_of(|tar| {
        add_file(tar, "a/file", b"content");
        add_link(tar, EntryType::Symlink, "a/link", "file");
        add_link(tar, EntryType::Link, "hard", "a/file");
        add_file(tar, &"long/".repeat(40), b"");
    })
}

fn zip() -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("a/file", SimpleFileOptions::default()).unwrap();
    zip.write_all(&[b'x'; 3000]).unwrap();
    zip.add_symlink("a/link", "file", SimpleFileOptions::default()).unwrap();
    zip.finish().unwrap().into_inner()
}

/// Makes the sums of all headers right again, so that the change gets past them.
fn mend(tar: &mut [u8]) {
    for block in tar.chunks_exact_mut(512) {
        let mut header = Header::from_byte_slice(block).clone();
        header.set_cksum();
        block.copy_from_slice(header.as_bytes());
    }
}

#[test]
fn changed_bytes_change_nothing_outside() {
    const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
    let limits = UnpackLimits { total: 1 << 20, ..UnpackLimits::default() };
    let mut numbers = Numbers(SEED);
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(&tar()).unwrap();
    let originals = [tar(), gzip.finish().unwrap(), zip()];
    let place = Place::new();
    let mut unpacked_ones = 0;
    for round in 0..600 {
        let mut archive = originals[round % originals.len()].clone();
        for _ in 0..=numbers.below(4) {
            let at = numbers.below(archive.len());
            // Often one of the characters that paths are made of.
            archive[at] = match numbers.below(2) {
                0 => b"./\0"[numbers.below(3)],
                _ => numbers.next() as u8,
            };
        }
        if round % originals.len() == 0 {
            mend(&mut archive);
        }
        if place.unpack_within(&archive, &limits).is_ok() {
            unpacked_ones += 1;
        }
        let outside = fs::read_dir(place.directory.path()).unwrap().count();
        let beside = fs::read_dir(place.cache()).unwrap().count();
        assert_eq!((outside, beside), (2, 1), "round {round} from {SEED:#x}");
    }
    assert!(unpacked_ones > 10, "some changes are harmless: {unpacked_ones}");
    for entry in fs::read_dir(place.cache().join("unpacked")).unwrap() {
        let name = entry.unwrap().file_name();
        assert_eq!(name.len(), 64, "nothing half unpacked is left: {name:?}");
    }
}
