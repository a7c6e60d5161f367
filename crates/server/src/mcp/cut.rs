//! Long output made short: its beginning and its end, with a pointer to the rest.

/// The text, or its head and tail if it has more than `most` characters. `rest` names where the
/// whole is.
pub(super) fn cut(text: &str, most: usize, rest: &str) -> (String, bool) {
    let count = text.chars().count();
    if count <= most {
        return (text.to_owned(), false);
    }
    let head = most / 3 * 2;
    let tail = most - head;
    let end_of_head = text.char_indices().nth(head).map_or(text.len(), |(at, _)| at);
    let start_of_tail = text.char_indices().nth(count - tail).map_or(text.len(), |(at, _)| at);
    let left_out = count - most;
    let cut = format!(
        "{}\n[... {left_out} characters left out; all of it is in the resource {rest} ...]\n{}",
        &text[..end_of_head],
        &text[start_of_tail..]
    );
    (cut, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_and_tail_stay() {
        assert_eq!(cut("short", 5, "r"), ("short".to_owned(), false));
        let long = format!("{}{}", "ä".repeat(100), "ö".repeat(100));
        let (text, was_cut) = cut(&long, 30, "r");
        assert!(was_cut);
        assert!(text.starts_with(&"ä".repeat(20)) && text.ends_with(&"ö".repeat(10)), "{text}");
        assert!(text.contains("170 characters left out") && text.contains("resource r"), "{text}");
        assert!(cut("ab", 0, "r").1);
    }
}
