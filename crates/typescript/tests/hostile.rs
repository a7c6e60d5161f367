//! No input makes the translator panic or overflow its stack.

mod common;

use common::SAMPLE;
use fumehood_typescript::{Diagnostic, Output, strip};

/// Translates, and fails the test when the oxc crates panicked on the way.
fn survives(source: &str) -> Result<Output, Vec<Diagnostic>> {
    let result = strip("main.ts", source);
    if let Err(errors) = &result {
        assert!(!errors.is_empty(), "a refusal without a reason: {source:?}");
        let bug = errors.iter().find(|error| error.message.contains("bug"));
        assert!(bug.is_none(), "{bug:?} in {source:?}");
        for error in errors {
            assert!(error.to_string().starts_with("main.ts:"));
        }
    }
    result
}

#[test]
fn the_sample_cut_at_every_byte() {
    for end in (0..SAMPLE.len()).filter(|&end| SAMPLE.is_char_boundary(end)) {
        let _ = survives(&SAMPLE[..end]);
        let _ = survives(&SAMPLE[end..]);
    }
}

#[test]
fn the_sample_with_one_byte_changed() {
    let replacements = ["", "(", "}", "`", "<", "@", "\\", "\u{0}", "é", "/"];
    for (count, (at, character)) in SAMPLE.char_indices().enumerate() {
        let rest = &SAMPLE[at + character.len_utf8()..];
        for replacement in [replacements[count % 10], replacements[(count / 7) % 10]] {
            let _ = survives(&[&SAMPLE[..at], replacement, rest].concat());
        }
    }
}

#[test]
fn the_sample_with_words_shuffled() {
    let words: Vec<&str> = SAMPLE.split_inclusive([' ', '\n']).collect();
    let mut state = 1_u64;
    for _ in 0..500 {
        let shuffled: String = (0..40)
            .map(|_| {
                // A small generator is enough, and it makes a failure repeatable.
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                words[(state >> 33) as usize % words.len()]
            })
            .collect();
        let _ = survives(&shuffled);
    }
}

#[test]
fn deep_nesting_fits_the_stack() {
    const DEPTH: usize = 20_000;
    for (before, open, core, close, after) in [
        ("x=", "(", "1", ")", ";"),
        ("x=", "[", "1", "]", ";"),
        ("x=", "(", "", "", ""),
        ("x=", "[", "", "", ""),
        ("x=", "!", "1", "", ";"),
        ("x=", "typeof\u{a0}", "1", "", ";"),
        ("x=", "{a:", "1", "}", ";"),
        ("x=", "`${", "1", "}`", ";"),
        ("x=", "a=>", "1", "", ";"),
        ("x=", "(a=", "1", ")=>1", ";"),
        ("x=", "1+", "1", "", ";"),
        ("x=", "a?b:", "1", "", ";"),
        ("x=", "class{a=", "1", "}", ";"),
        ("x=a", ".b", "", "", ";"),
        ("x=a", "()", "", "", ";"),
        ("", "{", "", "}", ""),
        ("", "if(a);else ", ";", "", ""),
        ("", "function f(){", "", "}", ""),
        ("", "namespace A{", "export const x=1", "}", ""),
        ("let x:", "A<", "b", ">", ";"),
        ("let x:", "[", "b", "]", ";"),
        ("let x:", "()=>", "b", "", ";"),
        ("let ", "[", "a", "]", "=1;"),
        ("enum E{A=", "(", "1", ")", "}"),
    ] {
        let nested = [before, &open.repeat(DEPTH), core, &close.repeat(DEPTH), after].concat();
        let unfinished = core.is_empty() && after.is_empty() && close.is_empty();
        assert_eq!(survives(&nested).is_err(), unfinished, "{before}{open}…");
    }
}

#[test]
fn nesting_does_not_inflate_the_output() {
    let nested = ["{".repeat(10_000), "}".repeat(10_000)].concat();
    let output = survives(&nested).expect("valid");
    assert!(output.javascript.len() < 40 * nested.len(), "{}", output.javascript.len());
}
