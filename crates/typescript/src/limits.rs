//! Keeps hostile input from exhausting the stack.
//!
//! The oxc crates recurse once or more per nested construct. A construct takes at least one
//! token, so the number of tokens bounds the depth, and the stack is reserved to fit that bound.
//! Reserved stack costs address space only; memory is used when a program really is that deep.

use std::{io, thread};

use crate::diagnostic::Diagnostic;

/// The largest source that is read, in bytes: 16 MiB.
pub const MAX_SOURCE_BYTES: usize = 16 << 20;

/// The largest number of tokens a source may have; about 4 MiB of ordinary TypeScript.
pub const MAX_TOKENS: usize = 1 << 20;

/// Stack for a source of ordinary size.
const MIN_STACK_BYTES: usize = 256 << 20;

/// Stack that one token may take: twice what the worst construct, `(`, was measured to take.
const STACK_BYTES_PER_TOKEN: usize = if cfg!(debug_assertions) { 8 << 10 } else { 4 << 10 };

/// Refuses a source that is too long, else says how much stack it may take.
pub fn stack_for(name: &str, source: &str) -> Result<usize, Diagnostic> {
    if source.len() > MAX_SOURCE_BYTES {
        let message = format!("the file is larger than {} MiB", MAX_SOURCE_BYTES >> 20);
        return Err(Diagnostic::whole_file(name, message));
    }
    let tokens = token_bound(source);
    if tokens > MAX_TOKENS {
        let message = format!("the file has more than {MAX_TOKENS} tokens; move data out of it");
        return Err(Diagnostic::whole_file(name, message));
    }
    Ok(MIN_STACK_BYTES.max(tokens * STACK_BYTES_PER_TOKEN))
}

/// Runs `work` on a thread with that much stack, and turns its panic into an error.
pub fn with_stack<T: Send>(
    name: &str,
    stack_bytes: usize,
    work: impl FnOnce() -> Result<T, Vec<Diagnostic>> + Send,
) -> Result<T, Vec<Diagnostic>> {
    let refuse = |message: String| Err(vec![Diagnostic::whole_file(name, message)]);
    let builder = thread::Builder::new().stack_size(stack_bytes);
    thread::scope(|scope| match builder.spawn_scoped(scope, work) {
        Ok(worker) => worker.join().unwrap_or_else(|panic| refuse(describe_panic(panic.as_ref()))),
        Err(error) => refuse(describe_spawn(stack_bytes, &error)),
    })
}

fn describe_spawn(stack_bytes: usize, error: &io::Error) -> String {
    let mebibytes = stack_bytes >> 20;
    format!("a thread with {mebibytes} MiB of reserved stack could not be started: {error}")
}

fn describe_panic(panic: &(dyn std::any::Any + Send)) -> String {
    let reason = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no reason given");
    format!("the translator failed on this file, which is a bug in it: {reason}")
}

/// At least as many as there are tokens: ASCII words count once, other characters each.
///
/// Characters beyond ASCII count each because some of them are white space between tokens.
fn token_bound(source: &str) -> usize {
    let mut in_word = false;
    source
        .chars()
        .filter(|&character| {
            let is_word = character.is_ascii_alphanumeric() || character == '_';
            let starts = if is_word { !in_word } else { character > ' ' };
            in_word = is_word;
            starts
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_words_once_and_marks_each() {
        assert_eq!(token_bound("const size = [[1_000]];\n"), 9);
    }

    #[test]
    fn is_not_fooled_by_rare_white_space() {
        assert!(token_bound("typeof\u{a0}typeof\u{2028}x") >= 3);
    }

    #[test]
    fn refuses_what_is_too_long() {
        let spaces = " ".repeat(MAX_SOURCE_BYTES + 1);
        let refusal = stack_for("a.ts", &spaces).unwrap_err();
        assert_eq!(refusal.message, "the file is larger than 16 MiB");
        assert!(stack_for("a.ts", &spaces[1..]).is_ok());
    }

    #[test]
    fn refuses_too_many_tokens() {
        let refusal = stack_for("a.ts", &"!".repeat(MAX_TOKENS + 1)).unwrap_err();
        assert!(refusal.message.contains("tokens"), "{refusal}");
    }

    #[test]
    fn reports_a_panic_of_the_work() {
        let result = with_stack::<()>("a.ts", 1 << 20, || panic!("oh no"));
        let message = result.unwrap_err()[0].to_string();
        assert!(message.contains("oh no"), "{message}");
    }

    #[test]
    fn reports_a_stack_that_cannot_be_had() {
        let result = with_stack("a.ts", 1 << 60, || Ok(()));
        let message = result.unwrap_err()[0].to_string();
        assert!(message.contains("could not be started"), "{message}");
    }
}
