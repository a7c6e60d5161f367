//! Attacks on whoever reads what a program wrote.

use crate::{Attack, Words, sys};

/// Every attack, by its row.
pub(crate) const ATTACKS: &[(&str, Attack)] = &[("S1", sequences), ("S2", records), ("S4", ran)];

/// Sequences that set titles, write to clipboards, move the cursor, hide and reorder text.
fn sequences(_: Words<'_>) {
    for text in [
        "\x1b]0;title\x07",
        "\x1b]52;c;ZXZpbA==\x07",
        "\x1b[2J\x1b[1;1Hclean",
        "\x1b]8;;http://evil.test\x07link\x1b]8;;\x07",
        "\u{9b}31m",
        "safe\r/bin/evil",
        "user\u{202e}txt.exe",
        "\x1bP+q544e\x1b\\",
    ] {
        sys::write_line(text);
    }
}

/// Lines that look like the records of others.
fn records(words: Words<'_>) {
    sys::write_line("{\"id\":\"forged\",\"success\":true}\n}\n{\"seq\":999}");
    words.iter().for_each(|word| sys::write_line(word));
}

/// Says that it ran.
fn ran(_: Words<'_>) {
    sys::write_line("ran done");
}
