//! Durations and what is said of them.

use std::time::Duration;

/// Durations of one thing, many times.
#[derive(Clone, Debug, Default)]
pub struct Samples(Vec<Duration>);

impl Samples {
    /// One more.
    pub fn push(&mut self, taken: Duration) {
        self.0.push(taken);
    }

    /// The duration below which this share of them lies.
    pub fn percentile(&self, percent: usize) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let index = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
        sorted.get(index).copied().unwrap_or_default()
    }

    /// The middle one.
    pub fn median(&self) -> Duration {
        self.percentile(50)
    }
}

/// How many times as long.
pub fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_members() {
        let mut samples = Samples::default();
        assert_eq!(samples.median(), Duration::ZERO);
        for millis in (1..=100).rev() {
            samples.push(Duration::from_millis(millis));
        }
        assert_eq!(samples.median(), Duration::from_millis(51));
        assert_eq!(samples.percentile(99), Duration::from_millis(100));
        assert_eq!(samples.percentile(100), Duration::from_millis(100));
    }
}
