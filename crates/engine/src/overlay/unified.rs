//! Two texts compared line by line, in the unified format.

use std::{
    io::Write,
    time::{Duration, Instant},
};

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices_deadline, group_diff_ops};

/// Lines around a change.
const CONTEXT: usize = 3;
/// After this long the comparison gets coarser. Some texts are made to take forever.
const PATIENCE: Duration = Duration::from_secs(1);

/// Two texts and what is between them.
pub(super) struct Comparison<'a> {
    old: Vec<&'a [u8]>,
    new: Vec<&'a [u8]>,
    operations: Vec<DiffOp>,
}

impl<'a> Comparison<'a> {
    /// Compares two texts.
    pub(super) fn new(old: &'a [u8], new: &'a [u8]) -> Comparison<'a> {
        let lines = |text: &'a [u8]| text.split_inclusive(|byte| *byte == b'\n').collect();
        let (old, new): (Vec<_>, Vec<_>) = (lines(old), lines(new));
        let deadline = Some(Instant::now() + PATIENCE);
        let operations = capture_diff_slices_deadline(Algorithm::Myers, &old, &new, deadline);
        Comparison { old, new, operations }
    }

    /// Lines added, lines removed.
    pub(super) fn counts(&self) -> (usize, usize) {
        let changes = self.operations.iter().filter(|each| each.tag() != DiffTag::Equal);
        changes.fold((0, 0), |(added, removed), each| {
            (added + each.new_range().len(), removed + each.old_range().len())
        })
    }
}

/// Writes what differs, with the lines around it.
pub(super) fn write(comparison: &Comparison<'_>, output: &mut dyn Write) -> std::io::Result<()> {
    let Comparison { old, new, operations } = comparison;
    for hunk in group_diff_ops(operations.clone(), CONTEXT) {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { continue };
        let place = |start: usize, end: usize| match end - start {
            0 => format!("{start},0"),
            1 => format!("{}", start + 1),
            count => format!("{},{count}", start + 1),
        };
        let before = place(first.old_range().start, last.old_range().end);
        let after = place(first.new_range().start, last.new_range().end);
        writeln!(output, "@@ -{before} +{after} @@")?;
        for operation in &hunk {
            if operation.tag() == DiffTag::Equal {
                write_lines(output, b' ', &old[operation.old_range()])?;
            } else {
                write_lines(output, b'-', &old[operation.old_range()])?;
                write_lines(output, b'+', &new[operation.new_range()])?;
            }
        }
    }
    Ok(())
}

fn write_lines(output: &mut dyn Write, mark: u8, lines: &[&[u8]]) -> std::io::Result<()> {
    for line in lines {
        output.write_all(&[mark])?;
        output.write_all(line)?;
        if !line.ends_with(b"\n") {
            output.write_all(b"\n\\ No newline at end of file\n")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unified(old: &str, new: &str) -> String {
        let mut text = Vec::new();
        write(&Comparison::new(old.as_bytes(), new.as_bytes()), &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn hunks_say_where_they_are() {
        assert_eq!(unified("", "one\n"), "@@ -0,0 +1 @@\n+one\n");
        assert_eq!(
            unified("a\nb\nc", "a\nB\nc\n"),
            "@@ -1,3 +1,3 @@\n a\n-b\n-c\n\\ No newline at end of file\n+B\n+c\n"
        );
        assert_eq!(unified("same\n", "same\n"), "");
        assert_eq!(Comparison::new(b"a\nb\n", b"b\nc\nd\n").counts(), (2, 1));
    }
}
