//! Bounds for what callers and programs put into a record, so that every record fits into a line,
//! even if every byte of it takes six in JSON.

/// The most bytes of one text.
pub(super) const MOST_TEXT: usize = 4 << 10;
/// The most bytes of all arguments together.
pub(super) const MOST_ARGUMENTS: usize = 16 << 10;
/// The most bytes of code, where code is recorded.
pub(super) const MOST_CODE: usize = 256 << 10;
/// The most bytes of a path.
pub(super) const MOST_PATH: usize = 1 << 10;
/// The most bytes of a name, a reason or a value that there may be many of.
pub(super) const MOST_SHORT: usize = 512;
/// The most entries of a list.
pub(super) const MOST_ENTRIES: usize = 256;
/// The most mounts.
pub(super) const MOST_MOUNTS: usize = 64;

/// The text, or its beginning with a mark and the number of bytes that are missing.
pub(super) fn text(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(most);
    format!("{}…[{} more bytes]", &text[..end], text.len() - end)
}

/// The words, or as many of them as fit. True if all of them fit as they are.
pub(super) fn words(words: &[String]) -> (Vec<String>, bool) {
    let mut left = MOST_ARGUMENTS;
    let mut kept = Vec::new();
    for word in words.iter().take(MOST_ENTRIES) {
        if left == 0 {
            break;
        }
        kept.push(text(word, MOST_TEXT.min(left)));
        left = left.saturating_sub(word.len().max(1));
    }
    let all = kept == words;
    (kept, all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_things_are_cut_between_characters_and_say_so() {
        assert_eq!(text("short", 5), "short");
        assert_eq!(text("aé", 2), "a…[2 more bytes]");
        let (kept, all) = words(&["x".repeat(5000), "y".into()]);
        assert!(kept[0].ends_with("x…[904 more bytes]") && kept[1] == "y" && !all);
        let (kept, all) = words(&vec!["z".repeat(1000); 300]);
        assert!(kept.len() == 17 && !all);
        assert_eq!(words(&["a".into()]), (vec!["a".into()], true));
        assert!(words(&vec![String::new(); 100_000]).0.len() <= MOST_ENTRIES);
    }
}
