//! An amount of processor.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::{LimitError, split_number};

/// Processor cores, in thousandths: `0.5` is half of one core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Cores(u32);

impl Cores {
    /// One core.
    pub const ONE: Cores = Cores(1000);

    /// This many whole cores.
    pub const fn whole(cores: u16) -> Cores {
        Cores(cores as u32 * 1000)
    }

    /// Thousandths of a core.
    pub const fn milli(self) -> u32 {
        self.0
    }

    /// The least whole number of cores that holds this much.
    pub const fn ceil(self) -> u32 {
        self.0.div_ceil(1000)
    }
}

impl FromStr for Cores {
    type Err = LimitError;

    fn from_str(given: &str) -> Result<Self, LimitError> {
        let (number, unit) = split_number(given, "a number of cores", "0.5")?;
        if !unit.is_empty() {
            return Err(LimitError::UnknownUnit {
                given: given.to_owned(),
                unit: unit.to_owned(),
                units: "none: cores are written as a plain number",
            });
        }
        Cores::checked(number, given)
    }
}

impl Cores {
    fn checked(number: f64, given: &str) -> Result<Cores, LimitError> {
        let milli = (number * 1000.0).round();
        if milli < 10.0 {
            return Err(LimitError::TooSmall {
                given: given.to_owned(),
                what: "number of cores",
                least: "0.01",
            });
        }
        if milli > 4_096_000.0 {
            return Err(LimitError::TooLarge {
                given: given.to_owned(),
                what: "number of cores",
                most: "4096",
            });
        }
        Ok(Cores(milli as u32))
    }
}

impl fmt::Display for Cores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", f64::from(*self))
    }
}

impl TryFrom<f64> for Cores {
    type Error = LimitError;

    fn try_from(number: f64) -> Result<Self, LimitError> {
        // NaN compares false with everything, so it falls through to the text form.
        if number.is_finite() {
            Cores::checked(number, &number.to_string())
        } else {
            number.to_string().parse()
        }
    }
}

impl From<Cores> for f64 {
    fn from(cores: Cores) -> f64 {
        f64::from(cores.0) / 1000.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_and_bounds() {
        assert_eq!("0.5".parse::<Cores>().map(Cores::milli), Ok(500));
        assert_eq!("2".parse::<Cores>().map(Cores::ceil), Ok(2));
        assert_eq!("1.2".parse::<Cores>().map(Cores::ceil), Ok(2));
        for (text, message) in [
            ("0", "`0` is too small: the least number of cores is 0.01"),
            ("5000", "`5000` is too large: the most number of cores is 4096"),
            ("-1", "`-1` is negative, and a number of cores cannot be: write for example 0.5"),
            (
                "2x",
                "`2x`: unknown unit `x`; the units are none: cores are written as a plain number",
            ),
        ] {
            assert_eq!(text.parse::<Cores>().unwrap_err().to_string(), message);
        }
        assert!(Cores::try_from(f64::NAN).is_err());
    }
}
