//! Colour, where a person looks at a terminal and has not asked for none.

use std::io;

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

/// Paints text, or leaves it as it is.
#[derive(Clone, Copy, Debug)]
pub struct Paint {
    on: bool,
}

impl Paint {
    /// Colours if standard output is a terminal that has them; `NO_COLOR` and the like are obeyed.
    pub fn for_stdout() -> Paint {
        Paint { on: AutoStream::choice(&io::stdout()) != ColorChoice::Never }
    }

    /// Never any colour.
    #[cfg(test)]
    pub fn plain() -> Paint {
        Paint { on: false }
    }

    /// For titles.
    pub fn strong(self, text: &str) -> String {
        self.with(Style::new().bold(), text)
    }

    /// For what matters less.
    pub fn faint(self, text: &str) -> String {
        self.with(Style::new().dimmed(), text)
    }

    /// For what went well.
    pub fn good(self, text: &str) -> String {
        self.with(AnsiColor::Green.on_default(), text)
    }

    /// For what half works.
    pub fn fair(self, text: &str) -> String {
        self.with(AnsiColor::Yellow.on_default(), text)
    }

    /// For what did not go well.
    pub fn bad(self, text: &str) -> String {
        self.with(AnsiColor::Red.on_default(), text)
    }

    fn with(self, style: Style, text: &str) -> String {
        if self.on { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}
