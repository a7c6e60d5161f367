//! What is in an archive that is in order, and that two of the same content are one.

use std::fs;

use tempfile::TempDir;

use super::*;

/// An entry to be written: kind, path, content or target, mode, time.
type Raw<'a> = (EntryType, &'a str, &'a str, u32, u64);

const FILE: EntryType = EntryType::Regular;
const DIRECTORY: EntryType = EntryType::Directory;

fn write(directory: &TempDir, entries: &[Raw<'_>]) -> std::path::PathBuf {
    let path = directory.path().join("root.tar");
    let mut builder = Builder::new(File::create(&path).unwrap());
    for (kind, name, content, mode, time) in entries {
        let mut header = Header::new_gnu();
        header.set_entry_type(*kind);
        header.set_mode(*mode);
        header.set_mtime(*time);
        header.set_uid(time % 7);
        header.set_gid(0);
        header.set_username("somebody").unwrap();
        header.set_size(0);
        match kind {
            EntryType::Symlink | EntryType::Link => {
                builder.append_link(&mut header, name, content).unwrap();
            }
            _ => {
                header.set_size(content.len() as u64);
                builder.append_data(&mut header, name, content.as_bytes()).unwrap();
            }
        }
    }
    builder.into_inner().unwrap();
    path
}

fn ordered(entries: &[Raw<'_>]) -> (Vec<u8>, Ordered) {
    let directory = tempfile::tempdir().unwrap();
    let from = write(&directory, entries);
    let to = directory.path().join("layer.tar");
    let ordered = normalise(&from, &to, 1000).unwrap();
    (fs::read(to).unwrap(), ordered)
}

/// Path, kind, link or content, mode and time of every entry.
fn listed(archive: &[u8]) -> Vec<(String, EntryType, String, u32, u64)> {
    let mut archive = Archive::new(archive);
    let entries = archive.entries().unwrap();
    entries
        .map(|entry| {
            let mut entry = entry.unwrap();
            let header = entry.header().clone();
            let path = entry.path().unwrap().display().to_string();
            let link = entry.link_name().unwrap().map(|link| link.display().to_string());
            let mut content = String::new();
            entry.read_to_string(&mut content).unwrap();
            let (mode, time) = (header.mode().unwrap(), header.mtime().unwrap());
            (path, header.entry_type(), link.unwrap_or(content), mode, time)
        })
        .collect()
}

fn paths(archive: &[u8]) -> Vec<String> {
    listed(archive).into_iter().map(|(path, ..)| path.trim_end_matches('/').to_owned()).collect()
}

#[test]
fn order_and_times_make_no_difference() {
    let (first, one) = ordered(&[
        (DIRECTORY, "./", "", 0o755, 7),
        (DIRECTORY, "./usr/", "", 0o755, 7),
        (FILE, "./usr/b", "two", 0o644, 14),
        (FILE, "./usr/a", "one", 0o755, 7),
    ]);
    let (second, two) = ordered(&[
        (FILE, "usr/a", "one", 0o755, 70_000),
        (FILE, "usr/b", "two", 0o644, 77),
        (DIRECTORY, "usr", "", 0o755, 777),
    ]);
    assert!(first == second);
    assert_eq!(one.digest, two.digest);
    assert_eq!(one.size.get(), first.len() as u64);
    let mut plain = DigestBuilder::default();
    plain.update(&first);
    assert_eq!(one.digest, plain.finish(), "what an engine will find");
    assert_eq!(listed(&first)[1], ("usr/a".to_owned(), FILE, "one".to_owned(), 0o755, 1000),);
    let (_, other) = ordered(&[(FILE, "usr/a", "One", 0o755, 7)]);
    assert_ne!(other.digest, one.digest);
}

#[test]
fn what_belongs_to_a_machine_or_a_moment_goes() {
    let gone = [
        "dev/null",
        "run/lock/x",
        "tmp/x",
        "proc/1",
        "etc/machine-id",
        "etc/hostname",
        "etc/resolv.conf",
        "etc/apt/sources.list",
        "etc/apt/sources.list.d/a.sources",
        "etc/ssh/ssh_host_rsa_key",
        "var/log/dpkg.log",
        "var/cache/apt/pkgcache.bin",
        "var/lib/apt/lists/some_Packages",
        "var/lib/dpkg/status-old",
        "usr/lib/python3/x/__pycache__/a.pyc",
        "usr/lib/python3/b.pyc",
        "usr/share/doc/bash/README",
        "usr/share/man/man1/ls.1.gz",
        "etc/passwd-",
    ];
    let stay = [
        "etc/passwd",
        "etc/ssh/ssh_config",
        "usr/bin/ls",
        "usr/lib/python3/b.py",
        "usr/share/doc/bash/copyright",
        "usr/share/manual",
        "var/lib/dpkg/status",
    ];
    let all: Vec<Raw<'_>> =
        gone.iter().chain(&stay).map(|path| (FILE, *path, "x", 0o644, 7)).collect();
    let mut found = paths(&ordered(&all).0);
    found.sort();
    assert_eq!(found, stay);
    let kept = [
        (DIRECTORY, "dev", "", 0o755, 7),
        (DIRECTORY, "tmp", "", 0o1777, 7),
        (DIRECTORY, "var/cache/apt/archives/partial", "", 0o700, 7),
        (EntryType::Char, "dev/zero", "", 0o666, 7),
        (EntryType::Fifo, "pipe", "", 0o666, 7),
    ];
    let (archive, _) = ordered(&kept);
    assert_eq!(paths(&archive), ["dev", "tmp", "var/cache/apt/archives/partial"]);
    assert_eq!(listed(&archive)[1].3, 0o1777, "the sticky bit of a directory stays");
}

#[test]
fn rights_to_become_somebody_else_go() {
    let (archive, _) = ordered(&[(FILE, "usr/bin/su", "x", 0o4755, 7)]);
    assert_eq!(listed(&archive)[0].3, 0o755);
}

#[test]
fn links_lead_where_they_led() {
    let (archive, _) = ordered(&[
        (FILE, "usr/bin/perl", "x", 0o755, 7),
        (EntryType::Link, "usr/bin/a-perl", "usr/bin/perl", 0o755, 7),
        (EntryType::Symlink, "bin", "usr/bin", 0o777, 7),
        (FILE, "var/cache/first", "kept by its other name", 0o644, 7),
        (EntryType::Link, "usr/second", "./var/cache/first", 0o644, 7),
    ]);
    let listed = listed(&archive);
    let of = |path: &str| listed.iter().find(|entry| entry.0 == path).unwrap();
    assert_eq!((of("bin").1, of("bin").2.as_str()), (EntryType::Symlink, "usr/bin"));
    assert_eq!((of("usr/bin/a-perl").1, of("usr/bin/a-perl").2.as_str()), (FILE, "x"));
    let link = of("usr/bin/perl");
    assert_eq!((link.1, link.2.as_str()), (EntryType::Link, "usr/bin/a-perl"), "the first has it");
    assert_eq!(of("usr/second").2, "kept by its other name");
}

#[test]
fn long_names_stay_whole() {
    let long = format!("usr/{}/{}", "a".repeat(120), "b".repeat(120));
    let (archive, _) = ordered(&[(FILE, &long, "x", 0o644, 7)]);
    assert_eq!(paths(&archive), [long]);
}

#[test]
fn what_is_not_a_file_system_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let to = directory.path().join("layer.tar");
    let from = write(&directory, &[(EntryType::Link, "a", "nowhere", 0o644, 7)]);
    assert!(normalise(&from, &to, 1).err().unwrap().to_string().contains("links to what"));
    fs::write(&from, "").unwrap();
    assert!(normalise(&from, &to, 1).is_err());
    fs::write(&from, [7; 2000]).unwrap();
    assert!(normalise(&from, &to, 1).is_err());
}
