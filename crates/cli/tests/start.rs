//! The start of the program, which happens before its C library does: it must leave no trace.

mod common;

use std::process::{Command, Stdio};

use common::{done, fumehood, keep_to_itself};

/// A line of `/proc/self/status` of a program in a box.
fn status_line(command: &mut Command, name: &str) -> String {
    let run = done(command);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let line = run.stdout.lines().find(|line| line.starts_with(name)).map(str::to_owned);
    line.unwrap_or_else(|| panic!("no line {name} in {}", run.stdout))
}

#[test]
fn a_box_may_use_every_processor_that_its_caller_may() {
    let ours = std::fs::read_to_string("/proc/self/status").unwrap();
    let ours = ours.lines().find(|line| line.starts_with("Cpus_allowed_list")).unwrap();
    let arguments =
        ["exec", "--workspace", "none", "--cpus", "1024", "--", "cat", "/proc/self/status"];
    // The launcher is sent to another processor when it starts; now and then it is there first.
    for _ in 0..20 {
        assert_eq!(status_line(&mut fumehood(&arguments), "Cpus_allowed_list"), ours);
    }
}

#[test]
fn signals_that_the_caller_ignores_are_not_ignored_by_programs() {
    let fumehood_path = env!("CARGO_BIN_EXE_fumehood");
    let script =
        format!("trap '' PIPE; {fumehood_path} exec --workspace none -- cat /proc/self/status");
    let mut command = Command::new("sh");
    command.args(["-c", &script]);
    keep_to_itself(&mut command);
    let ignored = status_line(&mut command, "SigIgn");
    let mask = u64::from_str_radix(ignored.trim_start_matches("SigIgn:").trim(), 16).unwrap();
    assert_eq!(mask & (1 << 12), 0, "SIGPIPE: {ignored}");
}

#[test]
fn closed_standard_streams_do_no_harm() {
    let fumehood_path = env!("CARGO_BIN_EXE_fumehood");
    for closed in ["<&-", "2>&-", "<&- 2>&-"] {
        let script = format!("{fumehood_path} exec --workspace none -- echo fine {closed}");
        let mut command = Command::new("sh");
        command.args(["-c", &script]).stderr(Stdio::null());
        keep_to_itself(&mut command);
        let output = command.output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "fine\n", "{closed}");
    }
}
