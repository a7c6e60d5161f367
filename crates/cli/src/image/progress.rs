//! How far it is: a bar where a person looks at a terminal, a line per step elsewhere, nothing for
//! programs.

use std::io::{self, IsTerminal as _, Write as _};

use fumehood::image::Progress;
use indicatif::{ProgressBar, ProgressStyle};

/// Shows how far it is.
pub enum Display {
    /// One line that changes.
    Bar(ProgressBar),
    /// A line for every step that differs from the one before.
    Lines(String),
    /// Nothing.
    Silent,
}

impl Display {
    /// What fits whoever looks.
    pub fn new(json: bool) -> Display {
        if json {
            Display::Silent
        } else if io::stderr().is_terminal() {
            Display::Bar(ProgressBar::new_spinner())
        } else {
            Display::Lines(String::new())
        }
    }

    /// Something went on.
    pub fn show(&mut self, progress: Progress) {
        let what = fumehood::escape_controls(&progress.what).to_string();
        match self {
            Display::Silent => {}
            Display::Lines(last) => {
                if *last != what {
                    // Where it cannot be written there is nobody to be told.
                    let _ = writeln!(io::stderr(), "{what}");
                    *last = what;
                }
            }
            Display::Bar(bar) => {
                bar.set_style(style(progress.bytes.is_some()));
                if let Some((done, total)) = progress.bytes {
                    bar.set_length(total);
                    bar.set_position(done);
                }
                bar.set_message(what);
                bar.tick();
            }
        }
    }

    /// Takes the bar away.
    pub fn end(&self) {
        if let Display::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

fn style(with_bytes: bool) -> ProgressStyle {
    let template = if with_bytes {
        "{bar:30} {bytes}/{total_bytes} {msg}"
    } else {
        "{spinner} {elapsed} {msg}"
    };
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_templates_are_sound() {
        for template in [true, false] {
            let bar = ProgressBar::hidden();
            bar.set_style(style(template));
        }
        assert!(ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {msg}").is_ok());
        assert!(ProgressStyle::with_template("{spinner} {elapsed} {msg}").is_ok());
    }
}
