//! Program output made harmless for a person's terminal.

use std::borrow::Cow;

/// Control characters shown instead of obeyed: a program cannot move the cursor, set the title or
/// write to the clipboard of whoever reads its output. Newlines and tabs stay.
pub fn escape_controls(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\x1b' => shown.push_str("\\e"),
            '\r' => shown.push_str("\\r"),
            c if is_harmful(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

fn is_harmful(c: char) -> bool {
    // Besides the C0 and C1 ranges: characters that reorder or hide text.
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_shown_not_obeyed() {
        assert_eq!(escape_controls("\x1b]0;title\x07"), "\\e]0;title\\u{7}");
        assert_eq!(escape_controls("a\u{202e}b\u{9b}c\rd"), "a\\u{202e}b\\u{9b}c\\rd");
        assert!(matches!(escape_controls("plain\n\ttext é"), Cow::Borrowed(_)));
    }
}
