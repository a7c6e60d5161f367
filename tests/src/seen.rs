//! What the cases say about outcomes, with messages that show the whole of it.

use fumehood::{Outcome, Status};

/// The program's standard output as text.
pub fn printed(outcome: &Outcome) -> String {
    outcome.stdout.text().into_owned()
}

/// The lines of the program's standard output.
pub fn lines(outcome: &Outcome) -> Vec<String> {
    printed(outcome).lines().map(str::to_owned).collect()
}

/// The run ended this way.
#[track_caller]
pub fn assert_ended(outcome: &Outcome, status: Status) {
    assert_eq!(outcome.status, status, "stderr: {}", outcome.stderr.text());
}

/// The program ended well and wrote exactly this.
#[track_caller]
pub fn assert_printed(outcome: &Outcome, text: &str) {
    assert_ended(outcome, Status::Exited);
    assert_eq!(outcome.exit_code, Some(0), "stderr: {}", outcome.stderr.text());
    assert!(outcome.success);
    assert_eq!(outcome.stdout.text(), text);
}
