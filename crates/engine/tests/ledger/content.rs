//! What is in a ledger, and who may write it.

use std::{fs, io::Write as _, path::Path, time::Instant};

use fumehood::{
    Request,
    ledger::{
        Entry, Fault, Ledger, LedgerError, LedgerReader, Settings, Stored, Verified, VerifyOptions,
    },
};

use crate::{
    fault, newest,
    samples::{self, append, filled, outcome},
    small_files, verify,
};

#[test]
fn nothing_in_a_request_makes_a_second_line() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    let ledger = Ledger::open(place, Settings::default()).unwrap();
    let nasty = "x\n{\"seq\":3,\"entry\":\"run\"}\r\n\u{2028}\",\"hash\":\"0\"}\0";
    let request =
        Request::code(nasty, nasty).env(nasty, nasty).workspace(nasty, Default::default());
    let mut result = outcome(1, 1);
    result.stdout.0 = nasty.as_bytes().to_vec();
    result.error = Some(nasty.to_owned());
    append(&ledger, &request, &result);
    append(&ledger, &Request::command([nasty]), &result);
    let verified = verify(place).unwrap();
    assert_eq!((verified.lines, verified.runs), (3, 2));
    let text = fs::read_to_string(newest(place)).unwrap();
    assert_eq!(text.matches('\n').count(), 3);
    let Entry::Run(record) = Stored::read(text.lines().nth(2).unwrap().as_bytes()).unwrap().entry
    else {
        panic!("{text}")
    };
    assert_eq!(record.request.argv, Some(vec![nasty.to_owned()]));
}

#[cfg(unix)]
#[test]
fn nobody_else_can_read_or_write_it() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("state/ledger");
    filled(&place, Settings::default(), 1);
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!(mode(&place), 0o700);
    for name in ["ledger.jsonl", "head", "salt"] {
        assert_eq!(mode(&place.join(name)), 0o600, "{name}");
    }
    let open = || {
        let ledger = Ledger::open(&place, Settings::default())?;
        let extras = ledger.extras(None, vec![]);
        let request = Request::command(["x"]);
        let record = fumehood::ledger::record(&request, &samples::plan(), &outcome(1, 1), extras);
        ledger.append(record).map(|_| ())
    };
    let refused = || match open() {
        Err(LedgerError::NotOurs { why, .. }) => why,
        other => panic!("{other:?}"),
    };
    for path in [&place, &newest(&place), &place.join("head")] {
        let before = fs::metadata(path).unwrap().permissions();
        fs::set_permissions(path, fs::Permissions::from_mode(0o770)).unwrap();
        assert_eq!(refused(), "can be written by other users");
        fs::set_permissions(path, before).unwrap();
    }
    fs::rename(newest(&place), place.join("elsewhere")).unwrap();
    symlink(place.join("elsewhere"), newest(&place)).unwrap();
    assert_eq!(refused(), "is a symbolic link");
    fs::rename(place.join("elsewhere"), newest(&place)).unwrap();
    open().unwrap();
    if rustix::process::geteuid().is_root() {
        for path in [&place, &newest(&place)] {
            std::os::unix::fs::chown(path, Some(12_345), None).unwrap();
            assert_eq!(refused(), "belongs to another user");
            std::os::unix::fs::chown(path, Some(0), None).unwrap();
        }
    } else {
        eprintln!("not root, so files of another user are not tried");
    }
    let link = directory.path().join("link");
    symlink(&place, &link).unwrap();
    let error = Ledger::open(&link, Settings::default()).unwrap_err();
    assert!(error.to_string().contains("is not a directory but a link"), "{error}");
}

#[test]
fn an_end_that_makes_no_sense_is_not_written_to() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    let ledger = filled(place, Settings::default(), 1);
    let mut file = fs::OpenOptions::new().append(true).open(newest(place)).unwrap();
    file.write_all(b"something else\n").unwrap();
    let extras = ledger.extras(None, vec![]);
    let record = fumehood::ledger::record(
        &Request::command(["x"]),
        &samples::plan(),
        &outcome(1, 1),
        extras,
    );
    let error = ledger.append(record).unwrap_err();
    assert!(matches!(error, LedgerError::BadEnd { .. }), "{error}");
    assert_eq!(fault(place), (Some(3), Fault::NotARecord));
}

#[test]
fn lines_come_newest_first_across_files() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    filled(place, small_files(), 30);
    let lines: Vec<u64> = LedgerReader::new(place)
        .newest_first()
        .unwrap()
        .map(|line| line.unwrap().read().unwrap().seq)
        .collect();
    let expected: Vec<u64> = (1..=verify(place).unwrap().lines).rev().collect();
    assert_eq!(lines, expected);
    let nowhere = LedgerReader::new(place.join("nowhere"));
    assert!(nowhere.newest_first().unwrap().next().is_none());
    assert_eq!(nowhere.verify(VerifyOptions::default()).unwrap(), Ok(Verified::default()));
}

#[test]
fn the_caller_is_recorded() {
    let directory = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(directory.path(), Settings::default()).unwrap();
    let caller = ledger.extras(None, vec![]).caller;
    assert_eq!(caller.pid, std::process::id());
    assert!(caller.program.unwrap().contains("ledger"));
}

/// `cargo test --release -p fumehood --test ledger -- --ignored --nocapture cost`
#[test]
#[ignore = "it measures"]
fn the_cost_of_an_append() {
    let directory = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(directory.path(), Settings::default()).unwrap();
    let request = Request::command(["echo", "hello"]);
    let appends = 5_000;
    let begun = Instant::now();
    for run in 0..appends {
        append(&ledger, &request, &outcome(1, run));
    }
    let each = begun.elapsed().as_secs_f64() * 1e6 / f64::from(appends);
    let length = fs::metadata(newest(directory.path())).unwrap().len() / u64::from(appends);
    println!("{each:.1} microseconds per append of {length} bytes");
    let begun = Instant::now();
    verify(directory.path()).unwrap();
    let each = begun.elapsed().as_secs_f64() * 1e6 / f64::from(appends);
    println!("{each:.1} microseconds per line verified");
}
