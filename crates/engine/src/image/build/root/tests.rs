//! Makers are found, heard and ended. The makers here are shell scripts.

use std::{
    fs,
    time::{Duration, Instant},
};

use fumehood_core::image::ImageRegistry;

use super::*;

fn script(directory: &Path, name: &str, text: &str) -> PathBuf {
    let path = directory.join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

async fn make(
    maker: &Maker,
    image: &str,
    cache: &Path,
) -> (Result<String, ImageError>, Vec<String>) {
    let workshop = Workshop::open(cache, image).unwrap();
    let spec = ImageRegistry::builtin().find(image).unwrap();
    let mut heard = Vec::new();
    let made = maker
        .make(spec, "some", &workshop, &mut |progress: Progress| heard.push(progress.what))
        .await;
    (made.map(|archive| fs::read_to_string(archive).unwrap()), heard)
}

#[test]
fn the_better_one_is_taken_and_only_programs_count() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let find = || Maker::find_in([one.path().to_owned(), two.path().to_owned()].into_iter());
    fs::write(one.path().join("mmdebstrap"), "not a program").unwrap();
    let second = script(one.path(), "debootstrap", "true");
    if !Path::new("/usr/sbin/mmdebstrap").exists() {
        assert_eq!(find(), Some(Maker::Debootstrap(second)));
    }
    let first = script(two.path(), "mmdebstrap", "true");
    assert_eq!(find(), Some(Maker::Mmdebstrap(first)));
}

#[tokio::test]
async fn what_it_says_and_what_it_is_given() {
    let directory = tempfile::tempdir().unwrap();
    let text = "echo 'I: first step' >&2\nfor last; do :; done\n\
                echo \"$SOURCE_DATE_EPOCH $1 $2 $3 $4\" > \"$last\"";
    let maker = Maker::Mmdebstrap(script(directory.path(), "mmdebstrap", text));
    let (made, heard) = make(&maker, "c", directory.path()).await;
    assert_eq!(
        made.unwrap(),
        "1735689600 --variant=minbase --include=gcc,libc6-dev --format=tar some\n"
    );
    assert_eq!(heard, ["making c from packages of some", "first step"]);
    let (made, _) = make(&maker, "base", directory.path()).await;
    assert!(!made.unwrap().contains("--include"), "nothing is asked for");
}

#[tokio::test]
async fn a_failure_is_told_in_its_own_words_and_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let text = "for last; do :; done; echo half > \"$last\"\n\
                echo 'I: step' >&2; echo 'E: no mirror answers' >&2; exit 3";
    let maker = Maker::Mmdebstrap(script(directory.path(), "mmdebstrap", text));
    let (made, _) = make(&maker, "base", directory.path()).await;
    let message = made.unwrap_err().to_string();
    assert!(message.starts_with("mmdebstrap could not make the image base (no mirror answers): "));
    assert!(!directory.path().join("images/building/base").exists());
}

#[tokio::test]
async fn dropped_halfway_it_ends_with_everything_it_started() {
    let directory = tempfile::tempdir().unwrap();
    let note = directory.path().join("pids");
    let text = format!("sleep 300 & echo $! $$ > {0}.new; mv {0}.new {0}; wait", note.display());
    let maker = Maker::Mmdebstrap(script(directory.path(), "mmdebstrap", &text));
    let started = Instant::now();
    {
        let making = make(&maker, "base", directory.path());
        let noted = async {
            while !note.exists() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::select! { _ = making => panic!("it would take 300 s"), () = noted => {} }
    }
    assert!(started.elapsed() < Duration::from_secs(20));
    for pid in fs::read_to_string(&note).unwrap().split_whitespace() {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        assert!(stat.is_empty() || stat.contains(") Z "), "{pid} still runs: {stat}");
    }
    assert!(!directory.path().join("images/building/base").exists());
}

/// Only root's makers mount anything, and only root can give them mounts of their own.
#[tokio::test]
async fn what_root_mounts_is_not_ours() {
    let directory = tempfile::tempdir().unwrap();
    let text = "for last; do :; done\nreadlink /proc/self/ns/mnt > \"$last\"";
    let maker = Maker::Mmdebstrap(script(directory.path(), "mmdebstrap", text));
    let (made, _) = make(&maker, "base", directory.path()).await;
    let ours = fs::read_link("/proc/self/ns/mnt").unwrap();
    let is_ours = Path::new(made.unwrap().trim()) == ours;
    assert_eq!(is_ours, !geteuid().is_root());
}
