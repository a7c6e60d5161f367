//! Counting: the closing lines of test programs, added up.

/// How many passed and failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Tests that passed.
    pub passed: u64,
    /// Tests that failed.
    pub failed: u64,
    /// Test programs that came to their closing line.
    pub programs: u64,
}

impl Tally {
    /// Adds what a line says, if it is the closing line of a test program.
    pub fn add_line(&mut self, line: &str) {
        // Colours come around the verdict where the output goes to a terminal.
        let Some((_, counts)) = line.split_once("test result: ") else { return };
        self.programs += 1;
        for part in counts.split([';', '.']) {
            let mut words = part.split_whitespace();
            match (words.next().and_then(|word| word.parse::<u64>().ok()), words.next()) {
                (Some(number), Some("passed")) => self.passed += number,
                (Some(number), Some("failed")) => self.failed += number,
                _ => {}
            }
        }
    }

    /// Both together.
    pub fn add(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.programs += other.programs;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_are_counted_and_others_are_not() {
        let mut tally = Tally::default();
        for line in [
            "running 3 tests",
            "test result: ok. 12 passed; 0 failed; 3 ignored; 0 measured; 0 filtered out; finished in 0.10s",
            "test result: \x1b[31mFAILED\x1b[0m. 5 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.00s",
            "test native::ends::exit_code ... ok",
            "7 passed; 7 failed",
        ] {
            tally.add_line(line);
        }
        assert_eq!(tally, Tally { passed: 17, failed: 2, programs: 2 });
    }
}
