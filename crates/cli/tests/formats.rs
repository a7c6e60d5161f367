//! How a run is shown: each format, on output that is plain, hostile and not text at all.

mod common;

use std::process::Stdio;

use common::{done, fumehood, sandbox_run};
use serde_json::{Value, json};

const BOTH_STREAMS: &str = "echo out; echo err >&2; exit 3";

#[test]
fn raw_is_as_if_started_directly() {
    done(&mut fumehood(&["exec", "--", "sh", "-c", BOTH_STREAMS])).expect(3, "out\n", "err\n");
    done(&mut fumehood(&["exec", "true"])).expect(0, "", "");
}

#[test]
fn raw_passes_every_byte() {
    let run = done(&mut fumehood(&["exec", "--", "printf", r"\377\000\033[31m\r\n"]));
    assert_eq!(run.bytes, b"\xff\0\x1b[31m\r\n");
}

#[test]
fn raw_shows_output_while_the_program_runs() {
    use std::io::{BufRead as _, BufReader};

    let script = "echo first; read line; echo got $line";
    let mut child = fumehood(&["exec", "--", "sh", "-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // The program cannot go on before its first line was seen, so this proves that it arrived.
    assert_eq!(lines.next().unwrap().unwrap(), "first");
    std::io::Write::write_all(&mut stdin, b"answer\n").unwrap();
    assert_eq!(lines.next().unwrap().unwrap(), "got answer");
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn text_is_a_report() {
    let run = done(&mut fumehood(&["exec", "--format", "text", "--", "sh", "-c", BOTH_STREAMS]));
    assert_eq!((run.code, run.stderr.as_str()), (3, ""));
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(
        lines[..5],
        [
            "sh -c echo out; echo err >&2; exit 3: exited with code 3 (native)",
            "stdout:",
            "  out",
            "stderr:",
            "  err"
        ]
    );
    assert!(lines[5].starts_with("time ") && lines[5].contains(" memory "), "{run:?}");
    assert!(lines[5].ends_with("stdout 4 B, stderr 4 B"), "{run:?}");
    assert_eq!(lines.len(), 6);
}

#[test]
fn text_shows_control_sequences_and_does_not_obey_them() {
    let hostile = r"\033]0;title\007\033[2Jx\rstderr:\n";
    let run = done(&mut fumehood(&["exec", "--format", "text", "--", "printf", hostile]));
    assert!(run.stdout.contains("\n  \\e]0;title\\u{7}\\e[2Jx\\rstderr:\n"), "{run:?}");
    let is_control = |c: char| c.is_control() && c != '\n';
    assert!(!run.stdout.contains(is_control), "{run:?}");
}

#[test]
fn sandbox_run_reports_by_default() {
    let run = done(&mut sandbox_run(&["--lang", "bash", "--code", "echo hi"]));
    assert_eq!(run.code, 0);
    assert!(
        run.stdout.starts_with("bash: exited with code 0 (native)\nstdout:\n  hi\n"),
        "{run:?}"
    );
    done(&mut sandbox_run(&["--format", "raw", "--lang", "bash", "--code", "echo hi"]))
        .expect(0, "hi\n", "");
}

#[test]
fn json_is_the_outcome_on_one_line() {
    let run = done(&mut fumehood(&["exec", "--json", "--", "sh", "-c", BOTH_STREAMS]));
    assert_eq!((run.code, run.stderr.as_str()), (3, ""));
    assert_eq!(run.stdout.matches('\n').count(), 1);
    assert!(run.stdout.ends_with('\n'));
    let outcome = run.json();
    for (field, value) in [
        ("success", json!(false)),
        ("status", json!("exited")),
        ("exit_code", json!(3)),
        ("signal", Value::Null),
        ("stdout", json!("out\n")),
        ("stderr", json!("err\n")),
        ("backend", json!("native")),
        ("phase", json!("run")),
        ("error", Value::Null),
    ] {
        assert_eq!(outcome[field], value, "{field}");
    }
    assert!(outcome["execution_time"].as_f64().unwrap() > 0.0);
    assert!(outcome["memory_used"].as_u64().unwrap() > 0);
    assert_eq!(outcome["enforced"]["seccomp"]["strength"], "full");
}

#[test]
fn output_that_is_not_text_survives_json() {
    let run = done(&mut fumehood(&["exec", "--json", "--", "printf", r"\377\376"]));
    assert_eq!(run.json()["stdout"], json!({ "base64": "//4=" }));
}

#[test]
fn jsonl_is_one_event_a_line_and_ends_with_the_outcome() {
    let run = done(&mut fumehood(&["exec", "--format", "jsonl", "--", "sh", "-c", BOTH_STREAMS]));
    assert_eq!((run.code, run.stderr.as_str()), (3, ""));
    let events: Vec<Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.first().unwrap()["event"], "started");
    let of_stream = |name: &str| -> String {
        let of = events.iter().filter(|event| event["stream"] == name);
        of.map(|event| event["data"].as_str().unwrap()).collect()
    };
    assert_eq!((of_stream("stdout").as_str(), of_stream("stderr").as_str()), ("out\n", "err\n"));
    let last = events.last().unwrap();
    assert_eq!((&last["event"], &last["outcome"]["exit_code"]), (&json!("finished"), &json!(3)));
}

#[test]
fn a_dry_run_prints_the_plan_and_runs_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let dry = |more: &[&str]| {
        let line = ["exec", "--dry-run", "--memory", "64m", "--env", "A=b"];
        let line = [&line, more, &["--", "touch", "here"]].concat();
        let run = done(fumehood(&line).current_dir(directory.path()));
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
        run
    };
    let plan = dry(&["--json"]).json();
    assert_eq!(plan["backend"], "native");
    assert_eq!(plan["run"]["command"]["argv"], json!(["touch", "here"]));
    assert_eq!(plan["run"]["command"]["cwd"], "/workspace");
    assert_eq!(plan["run"]["command"]["env"]["A"], "b");
    assert_eq!(plan["run"]["limits"]["memory"], "64MiB");
    let text = dry(&[]).stdout;
    assert!(text.starts_with("# ") && text.contains("\nbackend: native\n"), "{text}");
    assert!(text.contains("    memory: \"64MiB\"\n"), "{text}");
    assert_eq!(text, dry(&[]).stdout, "equal inputs, equal plan");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn the_local_backend_warns_where_people_read() {
    let arguments = ["exec", "--backend", "local", "--", "echo", "hi"];
    done(&mut fumehood(&arguments)).expect(
        0,
        "hi\n",
        "fumehood: warning: the local backend isolates nothing\n",
    );
    let run = done(&mut fumehood(&["exec", "--sandbox", "local", "--json", "--", "echo", "hi"]));
    assert_eq!(run.stderr, "");
    let outcome = run.json();
    assert_eq!(outcome["backend"], "local");
    assert_eq!(outcome["enforced"]["seccomp"]["strength"], "off");
}

#[test]
fn verbose_says_more_but_never_on_standard_output() {
    let run = done(&mut fumehood(&["exec", "-v", "--", "echo", "hi"]));
    assert_eq!((run.code, run.stdout.as_str()), (0, "hi\n"));
    assert!(run.stderr.contains("exited with code 0 on the native backend"), "{run:?}");
}

#[test]
fn a_compiler_that_fails_is_quoted_and_its_exit_code_is_ours() {
    let arguments = ["run", "--lang", "c", "--code", "int main(void) { return nonsense; }"];
    let run = done(&mut fumehood(&arguments));
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.contains("nonsense") && run.stderr.contains("error"), "{run:?}");
    let outcome = done(fumehood(&arguments).arg("--json")).json();
    assert_eq!((&outcome["phase"], &outcome["success"]), (&json!("compile"), &json!(false)));
}

#[test]
fn a_compiler_that_only_warns_is_not_heard() {
    let code = "#warning heard\nint main(void) { return 0; }";
    done(&mut fumehood(&["run", "--lang", "c", "--code", code])).expect(0, "", "");
}
