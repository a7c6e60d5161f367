//! Every way to tamper with a ledger, and what verification says.

use std::{fs, path::Path};

use fumehood::ledger::{Fault, LedgerReader, Settings, VerifyOptions};

use crate::{fault, newest, samples::filled, small_files, verify};

#[test]
fn any_flipped_byte_of_any_file_is_noticed() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    filled(place, small_files(), 16);
    let files: Vec<_> = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path()).collect();
    let mut ledgers = 0;
    for file in files.iter().filter(|file| !file.ends_with("salt")) {
        ledgers += usize::from(file.extension().is_some());
        let original = fs::read(file).unwrap();
        let step = if file.ends_with("head") { 1 } else { 131 };
        for position in (0..original.len()).step_by(step).chain([original.len() - 1]) {
            let mut flipped = original.clone();
            flipped[position] ^= 1;
            fs::write(file, flipped).unwrap();
            assert!(verify(place).is_err(), "{} byte {position}", file.display());
        }
        fs::write(file, original).unwrap();
    }
    assert!(ledgers >= 2, "{files:?}");
    verify(place).unwrap();
}

#[test]
fn lines_and_files_cannot_be_deleted_swapped_or_repeated() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    filled(place, Settings::default(), 5);
    let original = fs::read(newest(place)).unwrap();
    let lines: Vec<&[u8]> = original.split_inclusive(|byte| *byte == b'\n').collect();
    let faults = |lines: &[&[u8]]| {
        fs::write(newest(place), lines.concat()).unwrap();
        fault(place)
    };
    let without = |index: usize| [&lines[..index], &lines[index + 1..]].concat();
    assert_eq!(faults(&without(0)), (Some(1), Fault::BeginsLate { found: 2 }));
    assert_eq!(faults(&without(2)), (Some(3), Fault::Missing { expected: 3, found: 4 }));
    assert_eq!(faults(&without(5)), (None, Fault::Truncated { last: 5, expected: 6 }));
    assert_eq!(faults(&[]), (None, Fault::Truncated { last: 0, expected: 6 }));
    let mut swapped = lines.clone();
    swapped.swap(4, 5);
    assert_eq!(faults(&swapped), (Some(5), Fault::Missing { expected: 5, found: 6 }));
    let repeated = [&lines[..], &lines[5..]].concat();
    assert_eq!(faults(&repeated), (Some(7), Fault::OutOfOrder { expected: 7, found: 6 }));
    let added = [&lines[..], &[b"{}\n"]].concat();
    assert_eq!(faults(&added), (Some(7), Fault::NotARecord));
    fs::remove_file(newest(place)).unwrap();
    assert_eq!(fault(place), (None, Fault::Truncated { last: 0, expected: 6 }));
    fs::write(newest(place), &original).unwrap();
    fs::remove_file(place.join("head")).unwrap();
    assert_eq!(fault(place), (None, Fault::NoHead));
    filled(place, Settings::default(), 1);
    assert_eq!(fault(place), (Some(7), Fault::Cut { last: None }));
}

#[test]
fn older_files_are_part_of_the_chain() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    filled(place, small_files(), 40);
    let older: Vec<_> = {
        let names = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.retain(|name| name.starts_with("ledger-"));
        names.sort();
        names.iter().map(|name| place.join(name)).collect()
    };
    assert!(older.len() >= 3);
    let aside = place.join("aside");
    fs::rename(&older[1], &aside).unwrap();
    let broken = verify(place).unwrap_err();
    assert!(matches!(broken.fault, Fault::Missing { .. }), "{broken}");
    assert_eq!(place.join(&broken.file), older[2]);
    fs::rename(&aside, &older[1]).unwrap();

    fs::rename(&older[0], &aside).unwrap();
    assert!(matches!(fault(place).1, Fault::BeginsLate { .. }));
    let archived = VerifyOptions { archived: true, noted: None };
    assert!(LedgerReader::new(place).verify(archived).unwrap().is_ok());
    fs::rename(&aside, &older[0]).unwrap();

    let whole = fs::read(&older[0]).unwrap();
    fs::write(&older[0], &whole[..whole.len() - 1]).unwrap();
    assert_eq!(fault(place).1, Fault::TornInside);
    fs::write(&older[0], &whole).unwrap();
    verify(place).unwrap();
}

#[test]
fn a_ledger_that_was_replaced_as_a_whole_is_noticed_with_a_noted_head() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    filled(one.path(), Settings::default(), 3);
    filled(two.path(), Settings::default(), 4);
    let noted = LedgerReader::new(one.path()).head().unwrap().map(|head| head.hash);
    let check = |place: &Path| {
        LedgerReader::new(place).verify(VerifyOptions { noted, archived: false }).unwrap()
    };
    filled(one.path(), Settings::default(), 3);
    assert!(check(one.path()).is_ok(), "it only grew");
    assert!(verify(two.path()).is_ok());
    let broken = check(two.path()).unwrap_err();
    assert_eq!(broken.fault, Fault::NotedHeadMissing { noted: noted.unwrap() });
}
