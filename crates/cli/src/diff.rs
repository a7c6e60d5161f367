//! `fumehood diff`: what a run changed in an overlay workspace.

use std::io::{self, BufWriter, IsTerminal as _, Write};

use clap::Args;
use fumehood::{FileStatistics, Overlay, Overlays, escape_controls};
use serde_json::json;

use crate::{failure::Failure, paint::Paint, render::Format, render::changes::line};

/// Arguments of `fumehood diff`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct DiffArgs {
    /// The overlay, or the beginning of its name. [default: the newest]
    id: Option<String>,
    /// List the changed files only, with the number of lines.
    #[arg(long)]
    stat: bool,
    /// List the overlays.
    #[arg(long, conflicts_with_all = ["id", "stat"])]
    list: bool,
    /// Print the list of changes, or of overlays, as JSON.
    #[arg(long)]
    json: bool,
    /// Exit with code 1 if there are changes.
    #[arg(long)]
    exit_code: bool,
}

const EXAMPLES: &str = "\
Examples:
  fumehood diff                              the changes of the last run
  fumehood diff --stat                       which files, how many lines
  fumehood diff 019a84 | git apply --check
  fumehood diff --list                       all overlays that are kept

The exit code is 0, also if there are changes, unless --exit-code is given.";

/// Exit code for changes, where it was asked for.
const EXIT_CHANGES: u8 = 1;

/// Shows changes and gives the exit code.
pub fn main(arguments: &DiffArgs) -> u8 {
    let format = if arguments.json { Format::Json } else { Format::Text };
    match show(arguments) {
        Ok(true) if arguments.exit_code => EXIT_CHANGES,
        Ok(_) => 0,
        Err(failure) => failure.report(format),
    }
}

/// True if there is something to show.
fn show(arguments: &DiffArgs) -> Result<bool, Failure> {
    let overlays = Overlays::new(None)?;
    let mut output = BufWriter::new(io::stdout().lock());
    if arguments.list {
        let all = overlays.list()?;
        let text = if arguments.json { list_as_json(&all) } else { list(&all) };
        output.write_all(text.as_bytes())?;
        output.flush()?;
        return Ok(!all.is_empty());
    }
    let overlay = overlays.find(arguments.id.as_deref())?;
    let any = overlay.changes()?.next().is_some();
    let paint = Paint::for_stdout();
    if arguments.json {
        let changes: Vec<_> = overlay.changes()?.collect();
        let text = json!({ "overlay": overlay.id(), "changes": changes });
        writeln!(output, "{text:#}")?;
    } else if arguments.stat {
        output.write_all(statistics(&overlay.statistics()?, paint).as_bytes())?;
    } else if io::stdout().is_terminal() {
        let mut screen = Screen { output: &mut output, paint, line: Vec::new(), in_hunk: false };
        overlay.diff(&mut screen)?;
    } else {
        overlay.diff(&mut output)?;
    }
    output.flush()?;
    Ok(any)
}

fn list(all: &[Overlay]) -> String {
    let mut text = String::new();
    for overlay in all {
        let changes = match overlay.changes() {
            Ok(changes) => count(changes.count()),
            Err(_) if overlay.is_busy() => "in use".to_owned(),
            Err(_) => "not finished".to_owned(),
        };
        let workspace = overlay.workspace().map(|path| path.display().to_string());
        let line = format!(
            "{}  {changes}  {}  {}",
            overlay.id(),
            workspace.unwrap_or_default(),
            overlay.command().join(" ")
        );
        text.push_str(&escape_controls(&line).replace('\n', "\\n"));
        text.push('\n');
    }
    text
}

fn count(changes: usize) -> String {
    if changes == 1 { "1 change".to_owned() } else { format!("{changes} changes") }
}

fn list_as_json(all: &[Overlay]) -> String {
    let list: Vec<_> = all
        .iter()
        .map(|overlay| {
            json!({
                "overlay": overlay.id(),
                "workspace": overlay.workspace().map(|path| path.display().to_string()),
                "created": overlay.created(),
                "command": overlay.command(),
                "changes": overlay.changes().ok().map(Iterator::count),
            })
        })
        .collect();
    format!("{:#}\n", json!(list))
}

fn statistics(files: &[FileStatistics], paint: Paint) -> String {
    let mut text = String::new();
    let (mut added, mut removed) = (0, 0);
    for file in files {
        let lines = match file.lines {
            Some((more, less)) => {
                added += more;
                removed += less;
                format!("  {} {}", paint.good(&format!("+{more}")), paint.bad(&format!("-{less}")))
            }
            None => String::new(),
        };
        text.push_str(&format!("{}{lines}\n", line(&file.change)));
    }
    text.push_str(&format!("{}, lines: +{added} -{removed}\n", count(files.len())));
    text
}

/// Shows a diff on a terminal: in colour, and with the control sequences of its files shown, not
/// obeyed.
struct Screen<W: Write> {
    output: W,
    paint: Paint,
    line: Vec<u8>,
    in_hunk: bool,
}

impl<W: Write> Screen<W> {
    fn show(&mut self) -> io::Result<()> {
        let text = escape_controls(&String::from_utf8_lossy(&self.line)).into_owned();
        self.line.clear();
        let head = text.starts_with("diff --git ");
        self.in_hunk = !head && (self.in_hunk || text.starts_with("@@ "));
        let painted = match (self.in_hunk, text.as_bytes().first()) {
            (false, _) => self.paint.strong(&text),
            (true, Some(b'+')) => self.paint.good(&text),
            (true, Some(b'-')) => self.paint.bad(&text),
            (true, Some(b'@')) => self.paint.faint(&text),
            (true, _) => text,
        };
        writeln!(self.output, "{painted}")
    }
}

impl<W: Write> Write for Screen<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for byte in bytes {
            match byte {
                b'\n' => self.show()?,
                byte => self.line.push(*byte),
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_cannot_play_tricks_on_the_terminal() {
        let mut shown = Vec::new();
        let mut screen =
            Screen { output: &mut shown, paint: Paint::plain(), line: Vec::new(), in_hunk: false };
        screen.write_all(b"diff --git a/x b/x\n@@ -0,0 +1 @@\n+\x1b[2Jgone\n").unwrap();
        let shown = String::from_utf8(shown).unwrap();
        assert!(shown.starts_with("diff --git a/x b/x\n@@ -0,0 +1 @@\n+"), "{shown}");
        assert!(!shown.contains('\x1b') && shown.contains("[2Jgone"), "{shown}");
    }
}
