//! Tar archives that try to get out.

use super::*;

#[track_caller]
fn refused(entry: &str, refusal: Refusal, fill: impl FnOnce(&mut Builder<Vec<u8>>)) {
    assert_refused(&tar_of(fill), &UnpackLimits::default(), Some(entry), &refusal);
}

#[test]
fn paths_that_lead_out() {
    for (name, refusal) in [
        ("../escaped", Refusal::Upwards),
        ("a/../../escaped", Refusal::Upwards),
        ("/tmp/escaped", Refusal::Absolute),
        ("bell\x07", Refusal::Control),
        ("two\nlines", Refusal::Control),
    ] {
        refused(name, refusal, |tar| {
            add_file(tar, "before", b"x");
            add_raw(tar, EntryType::Regular, name.as_bytes(), b"");
        });
    }
}

#[test]
fn links_that_lead_out() {
    for target in ["/etc/passwd", "../outside", "a/../../b"] {
        refused("link", Refusal::LinkOut, |tar| {
            add_raw(tar, EntryType::Symlink, b"link", target.as_bytes());
        });
    }
    // Each harmless by its text; together they lead above the top.
    refused("x/y/out", Refusal::LinkOut, |tar| {
        add_link(tar, EntryType::Symlink, "x/y/top", "../..");
        add_link(tar, EntryType::Symlink, "x/y/out", "top/../outside");
    });
    refused("one", Refusal::LinkCircle, |tar| {
        add_link(tar, EntryType::Symlink, "one", "two");
        add_link(tar, EntryType::Symlink, "two", "one");
    });
}

#[test]
fn files_behind_links() {
    refused("link/file", Refusal::Through, |tar| {
        tar.append_data(&mut header(EntryType::Directory, 0, 0o755), "inside", &b""[..]).unwrap();
        add_link(tar, EntryType::Symlink, "link", "inside");
        add_file(tar, "link/file", b"x");
    });
    refused("file/below", Refusal::Through, |tar| {
        add_file(tar, "file", b"x");
        add_file(tar, "file/below", b"x");
    });
    // A link is not overwritten through, nor is anything else.
    refused("link", Refusal::Twice, |tar| {
        add_link(tar, EntryType::Symlink, "link", "elsewhere");
        add_file(tar, "link", b"x");
    });
}

#[test]
fn hard_links_to_what_is_not_theirs() {
    for target in ["/etc/passwd", "../outside", "later", "directory", "link", "link/file"] {
        refused("hard", Refusal::HardLink, |tar| {
            add_file(tar, "directory/file", b"x");
            add_link(tar, EntryType::Symlink, "link", "directory");
            add_raw(tar, EntryType::Link, b"hard", target.as_bytes());
            add_file(tar, "later", b"x");
        });
    }
}

#[test]
fn what_is_no_file() {
    for (kind, said) in [
        (EntryType::Char, "device"),
        (EntryType::Block, "device"),
        (EntryType::Fifo, "named pipe"),
        (EntryType::GNUSparse, "sparse file"),
        (EntryType::new(b'Z'), "thing of an unknown kind"),
    ] {
        refused("odd", Refusal::Special { kind: said }, |tar| add_raw(tar, kind, b"odd", b""));
    }
}

#[test]
fn the_same_twice() {
    refused("a", Refusal::Twice, |tar| {
        add_file(tar, "a", b"1");
        add_file(tar, "./a", b"2");
    });
    refused("d/", Refusal::Twice, |tar| {
        for _ in 0..2 {
            tar.append_data(&mut header(EntryType::Directory, 0, 0o755), "d/", &b""[..]).unwrap();
        }
    });
    refused("d", Refusal::Twice, |tar| {
        add_file(tar, "d/file", b"1");
        add_file(tar, "d", b"2");
    });
}

#[test]
fn headers_that_disagree() {
    let two_sizes = Refusal::Ambiguous { detail: "two sizes" };
    refused("file", two_sizes, |tar| {
        tar.append_pax_extensions([("size", &b"9"[..])]).unwrap();
        add_file(tar, "file", b"x");
    });
    refused("file", Refusal::Special { kind: "sparse file" }, |tar| {
        tar.append_pax_extensions([("GNU.sparse.major", &b"1"[..])]).unwrap();
        add_file(tar, "file", b"x");
    });
    refused("../out", Refusal::Upwards, |tar| {
        tar.append_pax_extensions([("path", &b"../out"[..])]).unwrap();
        add_file(tar, "harmless", b"x");
    });
    refused("nul\0", Refusal::Control, |tar| {
        tar.append_pax_extensions([("path", &b"nul\0"[..])]).unwrap();
        add_file(tar, "harmless", b"x");
    });
}

#[test]
fn archives_that_end_early() {
    let whole = tar_of(|tar| add_file(tar, "file", &[b'x'; 5000]));
    let place = Place::new();
    let error = place.unpack(&whole[..2000]).unwrap_err();
    assert!(error.to_string().contains("its entry `file` is damaged (it ends early)"), "{error}");
}
