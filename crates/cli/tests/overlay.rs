//! Overlay workspaces from the command line: run, look, apply or discard.

mod common;

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use common::{Done, done, fumehood};
use tempfile::TempDir;

/// A directory with a workspace in it, and a state directory that nobody else uses.
struct Bench {
    home: TempDir,
}

impl Bench {
    fn new() -> Bench {
        let bench = Bench { home: tempfile::tempdir().unwrap() };
        fs::create_dir(bench.workspace()).unwrap();
        bench
    }

    fn workspace(&self) -> PathBuf {
        self.home.path().join("workspace")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = fumehood(arguments);
        command.current_dir(self.home.path());
        command.env("FUMEHOOD_STATE_DIR", self.home.path().join("state"));
        command
    }

    #[track_caller]
    fn fumehood(&self, arguments: &[&str]) -> Done {
        done(&mut self.command(arguments))
    }

    /// Runs a line of shell on an overlay of the workspace.
    #[track_caller]
    fn run(&self, line: &str) -> Done {
        self.fumehood(&["exec", "--workspace", "workspace:overlay", "--", "sh", "-c", line])
    }
}

impl Drop for Bench {
    /// The kernel leaves directories that only fumehood, or root, removes.
    fn drop(&mut self) {
        let _ = self.command(&["discard", "--all"]).output();
    }
}

/// Git without anybody's settings.
#[track_caller]
fn git(directory: &Path, arguments: &[&str]) -> String {
    git_with_input(directory, arguments, "")
}

#[track_caller]
fn git_with_input(directory: &Path, arguments: &[&str], input: &str) -> String {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(directory);
    command.envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_SYSTEM", "/dev/null")]);
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "test");
        command.env(format!("GIT_{who}_EMAIL"), "test@localhost");
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("git is installed");
    let _ = child.stdin.take().expect("it is piped").write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

const WORK: &str = "set -e; echo more >> edited.txt; rm gone.txt; mkdir new; echo n > new/file; \
    mv old.txt 'new name.txt'; chmod 755 script; ln -sf script link; ln -s new added_link; \
    rm becomes_link; ln -s /etc/passwd becomes_link; : > empty; printf 'no end' > no_newline; \
    echo x > \"$(printf 'odd\\n\\303\\244')\"";

#[test]
fn a_worktree_is_clean_until_changes_are_applied() {
    let bench = Bench::new();
    let repository = bench.workspace();
    git(&repository, &["init", "--quiet", "--initial-branch=main"]);
    let files = ["edited.txt", "gone.txt", "old.txt", "script", "becomes_link"];
    for name in files {
        fs::write(repository.join(name), format!("{name}\n")).unwrap();
    }
    std::os::unix::fs::symlink("edited.txt", repository.join("link")).unwrap();
    git(&repository, &["add", "."]);
    git(&repository, &["commit", "--quiet", "--message=first"]);
    git(&repository, &["worktree", "add", "--quiet", "../tree"]);
    git(&repository, &["worktree", "add", "--quiet", "../other"]);
    let (tree, other) = (bench.home.path().join("tree"), bench.home.path().join("other"));

    let run = bench.fumehood(&["exec", "--workspace", "tree:overlay", "--", "sh", "-c", WORK]);
    run.expect(0, "", "");
    assert_eq!(git(&tree, &["status", "--porcelain"]), "", "clean before apply");

    let diff = bench.fumehood(&["diff"]);
    assert_eq!((diff.code, diff.stderr.as_str()), (0, ""), "{diff:?}");
    // Git understands every line of it.
    git_with_input(&other, &["apply", "--whitespace=nowarn"], &diff.stdout);

    let applied = bench.fumehood(&["apply"]);
    assert_eq!((applied.code, applied.stderr.as_str()), (0, ""), "{applied:?}");
    let status = " T becomes_link\n M edited.txt\n D gone.txt\n M link\n D old.txt\n M script\n";
    let untracked = "?? added_link\n?? empty\n?? \"new name.txt\"\n?? new/\n?? no_newline\n\
        ?? \"odd\\n\\303\\244\"\n";
    assert_eq!(git(&tree, &["status", "--porcelain"]), format!("{status}{untracked}"));
    for each in [&tree, &other] {
        git(each, &["add", "--all"]);
    }
    let [expected, patched] = [&tree, &other].map(|each| git(each, &["diff", "--cached"]));
    assert_eq!(patched, expected, "git apply and fumehood apply give the same");
    assert!(expected.contains("+more") && expected.contains("new mode 100755"), "{expected}");
    let again = bench.fumehood(&["diff"]);
    assert_eq!(again.code, 125, "{again:?}");
    assert!(again.stderr.contains("no changes are kept"), "{again:?}");
}

#[test]
fn every_format_tells_of_the_changes() {
    let bench = Bench::new();
    fs::write(bench.workspace().join("file"), "old\n").unwrap();
    let line = ["--workspace", "workspace:overlay", "--", "sh", "-c", "echo out; echo new > file"];
    let with = |format: &[&str]| bench.fumehood(&[&["exec"], format, &line[..]].concat());
    with(&[]).expect(0, "out\n", "");
    let json = with(&["--json"]).json();
    let id = json["overlay"].as_str().unwrap();
    assert_eq!(json["change_count"], 1);
    assert_eq!(json["changes"][0]["path"], "file");
    assert_eq!(json["changes"][0]["kind"], "modified");
    assert_eq!(json["changes"][0]["file"], "file");
    let text = with(&["--format", "text"]);
    assert!(text.stdout.contains("changes:\n  M file\n  fumehood diff "), "{text:?}");
    assert!(text.stdout.contains("  fumehood discard "), "{text:?}");
    let verbose = with(&["-v"]);
    assert!(verbose.stderr.contains("1 change is kept: fumehood diff "), "{verbose:?}");

    let stat = bench.fumehood(&["diff", "--stat", id]);
    stat.expect(0, "M file  +1 -1\n1 change, lines: +1 -1\n", "");
    assert_eq!(bench.fumehood(&["diff", "--exit-code", id]).code, 1);
    assert_eq!(bench.fumehood(&["diff", "--json", id]).json()["changes"][0]["path"], "file");
    let list = bench.fumehood(&["diff", "--list"]);
    assert_eq!(list.stdout.lines().count(), 4, "{list:?}");
    assert!(list.stdout.contains(&format!("{id}  1 change  ")), "{list:?}");
    bench.fumehood(&["discard", id]).expect(0, "", "");
    assert_eq!(bench.fumehood(&["diff", "--list", "--json"]).json().as_array().unwrap().len(), 3);
    bench.fumehood(&["discard", "--all"]).expect(0, "", "");
    bench.fumehood(&["diff", "--list"]).expect(0, "", "");
    assert_eq!(fs::read_to_string(bench.workspace().join("file")).unwrap(), "old\n");
}

#[test]
fn some_changes_are_applied_by_name() {
    let bench = Bench::new();
    bench.run(
        "mkdir -p a .git/hooks; echo 1 > a/one; echo 2 > two; echo evil > .git/hooks/x; mkfifo p",
    );
    bench.fumehood(&["apply", "a/one"]).expect(0, "A a/\nA a/one\n", "");
    assert!(!bench.workspace().join("two").exists());
    let applied = bench.fumehood(&["apply"]);
    assert_eq!((applied.code, applied.stdout.as_str()), (1, "A .git/\nA two\n"), "{applied:?}");
    assert!(applied.stderr.contains(".git/hooks/x was left out: it can make"), "{applied:?}");
    assert!(applied.stderr.contains("p was left out: a device, pipe or socket"), "{applied:?}");
    let id = bench.fumehood(&["diff", "--list", "--json"]).json()[0]["overlay"].clone();
    let id = id.as_str().unwrap();
    let applied = bench.fumehood(&["apply", id, ".git/hooks"]);
    // What can never be applied goes with the rest, and is told once more.
    let done = "A .git/hooks/\nA .git/hooks/x\n";
    assert_eq!((applied.code, applied.stdout.as_str()), (1, done), "{applied:?}");
    assert!(applied.stderr.contains("p was left out"), "{applied:?}");
    bench.fumehood(&["diff", "--list"]).expect(0, "", "");
}

#[test]
fn a_changed_workspace_is_refused_with_the_reason() {
    let bench = Bench::new();
    let file = bench.workspace().join("file");
    fs::write(&file, "old\n").unwrap();
    bench.run("echo new > file");
    fs::write(&file, "by somebody else\n").unwrap();
    let refused = bench.fumehood(&["apply"]);
    assert_eq!(refused.code, 125);
    assert!(refused.stderr.contains("file (changed since the run)"), "{refused:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "by somebody else\n");
}

#[test]
fn a_killed_run_leaves_what_can_be_discarded() {
    let bench = Bench::new();
    let line = "echo x > file; echo ready; sleep 60";
    let arguments = ["exec", "--workspace", "workspace:overlay", "--", "sh", "-c", line];
    let mut child = bench.command(&arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut ready = String::new();
    output.read_line(&mut ready).unwrap();
    assert_eq!(ready, "ready\n");
    // While it runs it is not touched.
    let busy = bench.fumehood(&["discard", "--all"]);
    assert!(busy.code == 0 && busy.stderr.contains("is in use and stays"), "{busy:?}");
    child.kill().unwrap();
    child.wait().unwrap();
    let killed = bench.fumehood(&["diff"]);
    assert_eq!(killed.code, 125);
    assert!(killed.stderr.contains("was killed before its changes were recorded"), "{killed:?}");
    // The launcher ends the box by itself, a moment later.
    let patience = Instant::now() + Duration::from_secs(10);
    while bench.fumehood(&["discard", "--all"]).code != 0 {
        assert!(Instant::now() < patience, "it can be discarded");
    }
    bench.fumehood(&["diff", "--list"]).expect(0, "", "");
}

#[test]
fn refusals_name_the_next_step() {
    let bench = Bench::new();
    let refused = |arguments: &[&str], words: &str| {
        let run = bench.fumehood(arguments);
        assert!(run.code == 125 && run.stderr.contains(words), "{run:?}");
    };
    refused(&["apply", "x"], "no changes are kept");
    refused(&["discard", "ffff"], "no overlay is called ffff");
    let local = ["exec", "--backend", "local", "--workspace", "workspace:overlay", "--", "true"];
    refused(&local, "use --workspace DIR:rw, or the native backend");
    let run = done(
        bench
            .command(&["exec", "--workspace", "workspace:overlay", "--", "true"])
            .env("FUMEHOOD_STATE_DIR", bench.workspace().join("state")),
    );
    assert!(run.code == 125 && run.stderr.contains("in the workspace itself"), "{run:?}");
}
