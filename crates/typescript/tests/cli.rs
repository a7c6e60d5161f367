//! The binary: exit codes, messages, and the files it writes.

mod common;

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use common::SAMPLE;

fn translate(arguments: &[&Path]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fumehood-typescript"))
        .args(arguments)
        .output()
        .expect("the binary starts")
}

fn message(result: &Output) -> String {
    String::from_utf8(result.stderr.clone()).expect("messages are UTF-8")
}

#[test]
fn writes_both_files_and_says_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let input = directory.path().join("main.ts");
    let out = directory.path().join("new/out");
    fs::write(&input, SAMPLE).unwrap();
    let result = translate(&[&input, &out]);
    assert_eq!(result.status.code(), Some(0), "{}", message(&result));
    assert!(result.stdout.is_empty() && result.stderr.is_empty());
    assert_eq!(fs::read_to_string(out.join("package.json")).unwrap(), "{\"type\":\"module\"}\n");
    let node = Command::new("node").arg(out.join("main.js")).output().expect("needs `node`");
    assert!(node.status.success(), "{}", message(&node));
}

#[test]
fn a_syntax_error_writes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let input = directory.path().join("main.ts");
    let out = directory.path().join("out");
    fs::write(&input, "let = ;\n").unwrap();
    let result = translate(&[&input, &out]);
    assert_eq!(result.status.code(), Some(1));
    let place = format!("{}:1:", input.display());
    assert!(message(&result).starts_with(&place), "{}", message(&result));
    assert!(!out.exists());
}

#[test]
fn wrong_usage_is_exit_code_2() {
    for arguments in [&[][..], &[Path::new("a.ts")], &[Path::new("a"); 3]] {
        let result = translate(arguments);
        assert_eq!(result.status.code(), Some(2));
        assert_eq!(message(&result), "usage: fumehood-typescript INPUT.ts OUT_DIR\n");
    }
}

#[test]
fn a_file_that_cannot_be_used_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let refused = |content: Option<&[u8]>, out: &Path| {
        let input = directory.path().join("main.ts");
        if let Some(content) = content {
            fs::write(&input, content).unwrap();
        }
        let result = translate(&[&input, out]);
        assert_eq!(result.status.code(), Some(1));
        let text = message(&result);
        assert_eq!(text.lines().count(), 1, "{text}");
        text
    };
    assert!(refused(None, &out).contains("main.ts: No such file"));
    assert!(refused(Some(b"let a = \"\xff\""), &out).contains("not valid UTF-8 text (at byte 9)"));
    let large = vec![b' '; (16 << 20) + 1];
    assert!(refused(Some(&large), &out).contains("larger than 16 MiB"));
    assert!(!out.exists());

    let occupied = directory.path().join("occupied");
    fs::write(&occupied, "").unwrap();
    assert!(refused(Some(b"f();"), &occupied).starts_with("cannot write "));
}
