//! Text that a command writes into a page, between marks that say whose it is.

use std::{fs, path::Path};

/// Puts text into a page, in place of what stood between the marks of this name.
pub fn put(file: &Path, name: &str, text: &str) -> Result<(), String> {
    let failed = |reason: String| format!("{}: {reason}", file.display());
    let page = fs::read_to_string(file).map_err(|error| failed(error.to_string()))?;
    let page = replaced(&page, name, text).map_err(failed)?;
    fs::write(file, page).map_err(|error| failed(error.to_string()))
}

fn replaced(page: &str, name: &str, text: &str) -> Result<String, String> {
    let (begin, end) = (format!("<!-- {name}: begin -->"), format!("<!-- {name}: end -->"));
    let marks = page
        .split_once(&begin)
        .and_then(|(before, rest)| rest.split_once(&end).map(|(_, after)| (before, after)));
    let (before, after) = marks.ok_or_else(|| format!("no {begin} and {end}"))?;
    Ok(format!("{before}{begin}\n{text}{end}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_the_marks_changes() {
        let page = "a\n<!-- x: begin -->\nold\n<!-- x: end -->\nb\n";
        let wanted = "a\n<!-- x: begin -->\nnew\n<!-- x: end -->\nb\n";
        assert_eq!(replaced(page, "x", "new\n").as_deref(), Ok(wanted));
        assert!(replaced(page, "y", "new\n").is_err());
    }
}
