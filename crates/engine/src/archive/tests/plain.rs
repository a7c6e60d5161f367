//! What an honest archive becomes.

use std::{
    fs,
    io::{Cursor, Write as _},
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    sync::Barrier,
    thread,
};

use flate2::{Compression, write::GzEncoder};
use zip::{ZipWriter, write::SimpleFileOptions};

use super::*;

fn project() -> Vec<u8> {
    tar_of(|tar| {
        tar.append_data(&mut header(EntryType::Directory, 0, 0o755), "./", &b""[..]).unwrap();
        add_file(tar, "./src/main.py", b"print(1)\n");
        tar.append_data(&mut header(EntryType::Directory, 0, 0o700), "src/", &b""[..]).unwrap();
        tar.append_data(&mut header(EntryType::Regular, 2, 0o6755), "run", &b"#!"[..]).unwrap();
        add_link(tar, EntryType::Symlink, "src/again", "main.py");
        add_link(tar, EntryType::Symlink, "src/up", "../run");
        add_link(tar, EntryType::Symlink, "nowhere", "not/there");
        add_link(tar, EntryType::Link, "hard", "src/main.py");
        add_file(tar, &format!("{}/long", "name/".repeat(60)), b"deep");
    })
}

#[track_caller]
fn assert_project(directory: &Path) {
    assert_eq!(read(directory, "src/main.py"), "print(1)\n");
    assert_eq!(read(directory, "src/again"), "print(1)\n");
    assert_eq!(read(directory, "src/up"), "#!");
    assert_eq!(read(directory, &format!("{}/long", "name/".repeat(60))), "deep");
    let hard = fs::metadata(directory.join("hard")).unwrap();
    assert_eq!(hard.ino(), fs::metadata(directory.join("src/main.py")).unwrap().ino());
    let mode = fs::metadata(directory.join("run")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7100, 0o100, "executable, and no more set-uid");
}

#[test]
fn a_tar_becomes_its_files() {
    assert_project(&Place::new().unpack(&project()).unwrap_or_else(|e| panic!("{e}")));
}

#[test]
fn a_compressed_tar_becomes_its_files() {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(&project()).unwrap();
    let place = Place::new();
    let directory = place.unpack(&gzip.finish().unwrap()).unwrap();
    assert_project(&directory);
}

#[test]
fn a_zip_becomes_its_files() {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let plain = SimpleFileOptions::default();
    zip.start_file("src/main.py", plain).unwrap();
    zip.write_all(b"print(1)\n").unwrap();
    zip.add_directory("src", plain).unwrap();
    zip.start_file("run", plain.unix_permissions(0o4755)).unwrap();
    zip.add_symlink("src/again", "main.py", plain).unwrap();
    let place = Place::new();
    let directory = place.unpack(&zip.finish().unwrap().into_inner()).unwrap();
    assert_eq!(read(&directory, "src/again"), "print(1)\n");
    let mode = fs::metadata(directory.join("run")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7100, 0o100);
}

#[test]
fn what_was_unpacked_is_used_again() {
    let place = Place::new();
    let first = place.unpack(&project()).unwrap();
    let made = fs::metadata(&first).unwrap().ino();
    let second = place.unpack(&project()).unwrap();
    assert_eq!((&first, made), (&second, fs::metadata(&second).unwrap().ino()));
    let other = place.unpack(&tar_of(|tar| add_file(tar, "a", b"b"))).unwrap();
    assert_ne!(first, other);
}

#[test]
fn many_at_once_unpack_it_once() {
    const MANY: usize = 8;
    let place = Place::new();
    let archive = place.archive(&project());
    let (cache, together) = (place.cache(), Barrier::new(MANY));
    let unpack = || {
        together.wait();
        unpacked(&archive, &cache, &UnpackLimits::default()).unwrap()
    };
    thread::scope(|scope| {
        let all: Vec<_> = (0..MANY).map(|_| scope.spawn(unpack)).collect();
        for directory in all {
            assert_eq!(read(&directory.join().unwrap(), "run"), "#!");
        }
    });
    assert_eq!(fs::read_dir(cache.join("unpacked")).unwrap().count(), 1, "and leave nothing else");
}

#[test]
fn what_is_no_archive_is_said_so() {
    let place = Place::new();
    let message = |content: &[u8]| place.unpack(content).unwrap_err().to_string();
    assert!(message(b"print(1)").contains("is neither a directory nor a tar, tar.gz or zip"));
    assert!(message(b"").contains("is neither"));
    let missing = place.directory.path().join("missing");
    let refused = unpacked(&missing, &place.cache(), &UnpackLimits::default());
    assert!(matches!(refused, Err(Error::Archive(ArchiveError::Unreadable { .. }))));
    let pipe = place.directory.path().join("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    let refused = unpacked(&pipe, &place.cache(), &UnpackLimits::default());
    assert!(matches!(refused, Err(Error::Archive(ArchiveError::Unknown { .. }))));
}
