//! Many processes and threads that write at once.

use std::{
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
};

use fumehood::{
    Bytes, Request,
    ledger::{Entry, Fault, Ledger, LedgerReader, Settings, Verified},
};

use crate::{
    fault, newest,
    samples::{append, outcome},
    small_files, verify,
};

/// What a process that writes does. Started by the tests below, by this name.
#[test]
#[ignore = "it is the program of the writers in other tests"]
fn writer_process() {
    let Ok(instructions) = std::env::var("LEDGER_WRITER") else { return };
    let mut parts = instructions.splitn(4, ' ');
    let mut number = || parts.next().unwrap().parse::<u64>().unwrap();
    let (writer, runs, rotate_at) = (number(), number(), number());
    let settings = Settings { rotate_at: Bytes::new(rotate_at), ..Settings::default() };
    let ledger = Ledger::open(Path::new(parts.next().unwrap()), settings).unwrap();
    for run in 0..runs as u32 {
        let request = Request::command(["echo".to_owned(), run.to_string()]);
        append(&ledger, &request, &outcome(writer as u32, run));
    }
}

pub fn start_writer(directory: &Path, writer: u32, runs: u32, settings: Settings) -> Child {
    let rotate_at = settings.rotate_at.get();
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "writers::writer_process", "--ignored"])
        .env("LEDGER_WRITER", format!("{writer} {runs} {rotate_at} {}", directory.display()))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn sixteen_processes(runs_each: u32, settings: Settings) -> (tempfile::TempDir, Verified) {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("ledger");
    let writers: Vec<Child> =
        (0..16).map(|writer| start_writer(&place, writer, runs_each, settings)).collect();
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    let verified = verify(&place).unwrap();
    assert_eq!(verified.runs, u64::from(runs_each) * 16);
    assert_eq!((verified.torn, verified.torn_end), (0, false));
    (directory, verified)
}

#[test]
fn sixteen_processes_write_ten_thousand_records() {
    let (directory, verified) = sixteen_processes(625, Settings::default());
    assert_eq!(verified.lines, 10_001, "and the beginning");
    // Every run of every writer is there, and those of one writer are in order.
    let place = directory.path().join("ledger");
    let mut next = [625u32; 16];
    for line in LedgerReader::new(&place).newest_first().unwrap() {
        let Entry::Run(record) = line.unwrap().read().unwrap().entry else { continue };
        let mut id = record.id.as_str().split('-').skip(1);
        let mut part = || u32::from_str_radix(id.next().unwrap(), 16).unwrap();
        let (writer, run) = (part() as usize, part());
        next[writer] -= 1;
        assert_eq!(run, next[writer]);
    }
    assert_eq!(next, [0; 16]);

    // And among ten thousand, one changed byte, one line less or two swapped are named.
    let original = fs::read(newest(&place)).unwrap();
    let lines: Vec<&[u8]> = original.split_inclusive(|byte| *byte == b'\n').collect();
    let mut flipped = original.clone();
    let inside: usize = lines[..4999].iter().map(|line| line.len()).sum();
    flipped[inside + 700] ^= 1;
    fs::write(newest(&place), flipped).unwrap();
    let broken = verify(&place).unwrap_err();
    assert_eq!((broken.line, broken.record), (Some(5000), Some(5000)));
    assert!(broken.id.is_some());
    fs::write(newest(&place), [&lines[..4999], &lines[5000..]].concat().concat()).unwrap();
    assert_eq!(fault(&place), (Some(5000), Fault::Missing { expected: 5000, found: 5001 }));
    let mut swapped = lines.clone();
    swapped.swap(4999, 7000);
    fs::write(newest(&place), swapped.concat()).unwrap();
    assert_eq!(fault(&place), (Some(5000), Fault::Missing { expected: 5000, found: 7001 }));
    fs::write(newest(&place), original).unwrap();
    assert!(verify(&place).is_ok());
}

#[test]
fn many_write_while_files_are_rotated() {
    let (directory, verified) = sixteen_processes(40, small_files());
    let files = fs::read_dir(directory.path().join("ledger")).unwrap().count();
    assert!(files > 20, "{files} files");
    assert!(verified.lines > verified.runs + 20, "each begins with a link");
}

#[test]
fn threads_share_one_ledger() {
    let directory = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(directory.path(), Settings::default()).unwrap();
    thread::scope(|scope| {
        for writer in 0..8 {
            let ledger = &ledger;
            scope.spawn(move || {
                for run in 0..50 {
                    append(ledger, &Request::command(["x"]), &outcome(writer, run));
                }
            });
        }
    });
    assert_eq!(verify(directory.path()).unwrap().runs, 400);
}
