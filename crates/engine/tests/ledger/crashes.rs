//! Writers that end in the middle, at every point where they can.

use std::{
    fs,
    io::Write as _,
    process::Child,
    thread,
    time::{Duration, Instant},
};

use fumehood::ledger::{Entry, Fault, LedgerReader, Settings, Stored};

use crate::{fault, newest, samples::filled, small_files, verify, writers::start_writer};

/// A writer that does not outlive the test, however that ends.
struct Mortal(Child);

impl Drop for Mortal {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn writers_that_are_killed_lose_nothing_that_was_complete() {
    let directory = tempfile::tempdir().unwrap();
    for round in 0..6u64 {
        let writers: Vec<Mortal> = (0..4)
            .map(|writer| Mortal(start_writer(directory.path(), writer, 20_000, small_files())))
            .collect();
        let patience = Instant::now() + Duration::from_secs(20);
        while verify(directory.path()).map_or(0, |verified| verified.runs) < 20 * (round + 1) {
            assert!(Instant::now() < patience, "they write nothing");
            thread::sleep(Duration::from_millis(5));
        }
        thread::sleep(Duration::from_millis(3 * round));
        drop(writers);
        verify(directory.path()).unwrap();
    }
    filled(directory.path(), small_files(), 1);
    assert!(!verify(directory.path()).unwrap().torn_end);
}

#[test]
fn a_torn_line_is_noted_and_the_chain_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    filled(place, Settings::default(), 3);
    let whole = fs::read(newest(place)).unwrap();
    for torn in
        [&b"{"[..], b"{\"seq\":5,\"time\":\"2026", b"\0\0\0\0\0\0", b"\xff\xfe{}", &[b'x'; 40_000]]
    {
        let before = verify(place).unwrap();
        let mut file = fs::OpenOptions::new().append(true).open(newest(place)).unwrap();
        file.write_all(torn).unwrap();
        let verified = verify(place).unwrap();
        assert!(verified.torn_end);
        assert_eq!(verified.lines, before.lines);
        // It can be read meanwhile.
        let first = LedgerReader::new(place).newest_first().unwrap().next().unwrap().unwrap();
        assert_eq!(first.read().unwrap().seq, before.lines);

        filled(place, Settings::default(), 1);
        let verified = verify(place).unwrap();
        assert_eq!((verified.torn, verified.torn_end), (before.torn + 1, false));
        assert_eq!(verified.lines, before.lines + 2, "the note and the run");
        let lines = fs::read_to_string(newest(place)).unwrap();
        let note = lines.lines().nth(before.lines as usize).unwrap();
        let Entry::Torn(note) = Stored::read(note.as_bytes()).unwrap().entry else { panic!() };
        assert_eq!(note.length, torn.len() as u64);
        assert_eq!(note.sha256, fumehood::ledger::ChainHash::of(torn));
    }
    assert!(fs::read(newest(place)).unwrap().starts_with(&whole));
}

#[test]
fn a_complete_line_cannot_be_passed_off_as_torn() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    filled(place, Settings::default(), 3);
    let whole = fs::read(newest(place)).unwrap();
    for less in [1, 2, 500] {
        fs::write(newest(place), &whole[..whole.len() - less]).unwrap();
        assert_eq!(fault(place), (None, Fault::Truncated { last: 3, expected: 4 }));
    }
    // Nor does the next writer heal it.
    filled(place, Settings::default(), 2);
    assert_eq!(fault(place), (Some(5), Fault::Cut { last: Some(4) }));
}

#[test]
fn a_writer_that_ended_between_line_and_head_is_forgiven() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    filled(place, Settings::default(), 3);
    let head = fs::read(place.join("head")).unwrap();
    filled(place, Settings::default(), 1);
    fs::write(place.join("head"), head).unwrap();
    assert_eq!(verify(place).unwrap().lines, 5);
    filled(place, Settings::default(), 1);
    assert_eq!(verify(place).unwrap().lines, 6);
}

#[test]
fn a_rotation_that_was_not_finished_is_finished_by_the_next_writer() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    filled(place, Settings::default(), 3);
    fs::rename(newest(place), place.join("ledger-000000000001.jsonl")).unwrap();
    assert_eq!(verify(place).unwrap().lines, 4);
    filled(place, Settings::default(), 1);
    assert_eq!(verify(place).unwrap().lines, 6, "with the link");
    let text = fs::read_to_string(newest(place)).unwrap();
    let Entry::Link(link) = Stored::read(text.lines().next().unwrap().as_bytes()).unwrap().entry
    else {
        panic!("{text}")
    };
    assert_eq!(link.after.as_deref(), Some("ledger-000000000001.jsonl"));
}
