//! Rows under each other, for people.

use crate::paint::Paint;

/// How something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// As it should be.
    Works,
    /// Better than nothing.
    BestEffort,
    /// Not there.
    Missing,
}

impl State {
    /// For what either works or does not.
    pub fn of(works: bool) -> State {
        if works { State::Works } else { State::Missing }
    }

    fn word(self) -> &'static str {
        match self {
            State::Works => "works",
            State::BestEffort => "best effort",
            State::Missing => "missing",
        }
    }
}

/// One row.
#[derive(Clone, Debug)]
pub struct Row {
    /// What.
    pub name: String,
    /// How it stands.
    pub state: State,
    /// Why, or by what means.
    pub detail: String,
    /// What to do about it; on a line of its own.
    pub remedy: Option<String>,
}

/// The rows with their columns in line.
pub fn render(title: &str, rows: &[Row], paint: Paint) -> String {
    const STATE_WIDTH: usize = "best effort".len();
    let name_width = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    let mut text = format!("{}\n", paint.strong(title));
    for row in rows {
        // Padded before it is painted: colours have no width.
        let state = format!("{:STATE_WIDTH$}", row.state.word());
        let state = match row.state {
            State::Works => paint.good(&state),
            State::BestEffort => paint.fair(&state),
            State::Missing => paint.bad(&state),
        };
        text.push_str(format!("  {:name_width$}  {state}  {}", row.name, row.detail).trim_end());
        text.push('\n');
        if let Some(remedy) = &row.remedy {
            text.push_str(&format!("  {:name_width$}  {:STATE_WIDTH$}  -> {remedy}\n", "", ""));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_in_line() {
        let row = |name: &str, state, remedy: Option<&str>| Row {
            name: name.into(),
            state,
            detail: "because".into(),
            remedy: remedy.map(str::to_owned),
        };
        let rows = [row("a", State::Works, None), row("longer", State::Missing, Some("type this"))];
        assert_eq!(
            render("things", &rows, Paint::plain()),
            "things\n  a       works        because\n  longer  missing      because\n\
             \x20                      -> type this\n"
        );
    }
}
