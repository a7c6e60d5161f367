//! The limits of a policy as a table, so that whatever holds for one of them holds for all.

use std::{fmt, ops};

use serde::Serialize;

use super::{Said, Sourced, choice::Choice};
use crate::{Bytes, Cores, LimitError, LimitOverrides, Limits, TimeSpan};

/// Which limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LimitKey {
    /// See [`Limits::memory`].
    Memory,
    /// See [`Limits::cpus`].
    Cpus,
    /// See [`Limits::pids`].
    Pids,
    /// See [`Limits::timeout`].
    Timeout,
    /// See [`Limits::grace`].
    Grace,
    /// See [`Limits::output`].
    Output,
    /// See [`Limits::disk`].
    Disk,
    /// See [`Limits::open_files`].
    OpenFiles,
    /// See [`Limits::file_size`].
    FileSize,
}

impl Choice for LimitKey {
    const ALL: &'static [Self] = &[
        LimitKey::Memory,
        LimitKey::Cpus,
        LimitKey::Pids,
        LimitKey::Timeout,
        LimitKey::Grace,
        LimitKey::Output,
        LimitKey::Disk,
        LimitKey::OpenFiles,
        LimitKey::FileSize,
    ];

    fn word(self) -> &'static str {
        match self {
            LimitKey::Memory => "memory",
            LimitKey::Cpus => "cpus",
            LimitKey::Pids => "pids",
            LimitKey::Timeout => "timeout",
            LimitKey::Grace => "grace",
            LimitKey::Output => "output",
            LimitKey::Disk => "disk",
            LimitKey::OpenFiles => "open_files",
            LimitKey::FileSize => "file_size",
        }
    }
}

impl LimitKey {
    /// The section it stands in.
    pub(crate) fn section(self) -> &'static str {
        if self == LimitKey::Disk { "fs" } else { "proc" }
    }

    /// Its whole name in a file.
    pub(crate) fn path(self) -> String {
        format!("{}.{}", self.section(), self.word())
    }

    /// The limit whose ceiling it has. The time to end politely belongs to the time.
    pub(crate) fn ceiling(self) -> LimitKey {
        if self == LimitKey::Grace { LimitKey::Timeout } else { self }
    }

    /// A value that works, for hints.
    pub(crate) fn example(self) -> &'static str {
        match self {
            LimitKey::Cpus => "0.5",
            LimitKey::Pids | LimitKey::OpenFiles => "100",
            LimitKey::Timeout => "30s",
            LimitKey::Grace => "500ms",
            _ => "512m",
        }
    }

    /// Reads a value of this limit.
    pub(crate) fn read(self, text: &str) -> Result<Amount, LimitError> {
        match self {
            LimitKey::Memory | LimitKey::Output | LimitKey::Disk | LimitKey::FileSize => {
                text.parse().map(Amount::Bytes)
            }
            LimitKey::Cpus => text.parse().map(Amount::Cores),
            LimitKey::Timeout | LimitKey::Grace => text.parse().map(Amount::Time),
            LimitKey::Pids | LimitKey::OpenFiles => count(text).map(Amount::Count),
        }
    }

    /// More than any value that can be written.
    pub(crate) fn most(self) -> Amount {
        match self.of(&Limits::default()) {
            Amount::Bytes(_) => Amount::Bytes(Bytes::new(u64::MAX)),
            Amount::Cores(_) => Amount::Cores(Cores::whole(u16::MAX)),
            Amount::Count(_) => Amount::Count(u32::MAX),
            Amount::Time(_) => Amount::Time(TimeSpan::from_millis(u64::MAX)),
        }
    }

    /// The value of this limit among all.
    pub(crate) fn of(self, limits: &Limits) -> Amount {
        match self {
            LimitKey::Memory => Amount::Bytes(limits.memory),
            LimitKey::Cpus => Amount::Cores(limits.cpus),
            LimitKey::Pids => Amount::Count(limits.pids),
            LimitKey::Timeout => Amount::Time(limits.timeout),
            LimitKey::Grace => Amount::Time(limits.grace),
            LimitKey::Output => Amount::Bytes(limits.output),
            LimitKey::Disk => Amount::Bytes(limits.disk),
            LimitKey::OpenFiles => Amount::Count(limits.open_files),
            LimitKey::FileSize => Amount::Bytes(limits.file_size),
        }
    }

    /// The value of this limit among overrides.
    pub(crate) fn of_overrides(self, over: &LimitOverrides) -> Option<Amount> {
        match self {
            LimitKey::Memory => over.memory.map(Amount::Bytes),
            LimitKey::Cpus => over.cpus.map(Amount::Cores),
            LimitKey::Pids => over.pids.map(Amount::Count),
            LimitKey::Timeout => over.timeout.map(Amount::Time),
            LimitKey::Grace => over.grace.map(Amount::Time),
            LimitKey::Output => over.output.map(Amount::Bytes),
            LimitKey::Disk => over.disk.map(Amount::Bytes),
            LimitKey::OpenFiles => over.open_files.map(Amount::Count),
            LimitKey::FileSize => over.file_size.map(Amount::Bytes),
        }
    }

    /// Puts a value in its place. A key never holds an amount of another kind: see [`Self::read`].
    pub(crate) fn put(self, amount: Amount, limits: &mut Limits) {
        match (self, amount) {
            (LimitKey::Memory, Amount::Bytes(bytes)) => limits.memory = bytes,
            (LimitKey::Output, Amount::Bytes(bytes)) => limits.output = bytes,
            (LimitKey::Disk, Amount::Bytes(bytes)) => limits.disk = bytes,
            (LimitKey::FileSize, Amount::Bytes(bytes)) => limits.file_size = bytes,
            (LimitKey::Cpus, Amount::Cores(cores)) => limits.cpus = cores,
            (LimitKey::Pids, Amount::Count(count)) => limits.pids = count,
            (LimitKey::OpenFiles, Amount::Count(count)) => limits.open_files = count,
            (LimitKey::Timeout, Amount::Time(time)) => limits.timeout = time,
            (LimitKey::Grace, Amount::Time(time)) => limits.grace = time,
            _ => {}
        }
    }
}

fn count(text: &str) -> Result<u32, LimitError> {
    const WHAT: &str = "a count";
    const EXAMPLE: &str = "100";
    match text.parse::<u32>() {
        Ok(0) => Err(LimitError::TooSmall { given: text.to_owned(), what: "count", least: "1" }),
        Ok(count) => Ok(count),
        Err(_) => {
            let given = text.to_owned();
            Err(match text.parse::<f64>() {
                Ok(number) if number < 0.0 => {
                    LimitError::Negative { given, what: WHAT, example: EXAMPLE }
                }
                Ok(number) if number > f64::from(u32::MAX) => {
                    LimitError::TooLarge { given, what: "count", most: "4294967295" }
                }
                Ok(_) => LimitError::NotWhole { given, what: WHAT, example: EXAMPLE },
                Err(_) if text.starts_with(|c: char| c.is_ascii_digit()) => {
                    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit()).trim();
                    let (unit, units) = (unit.to_owned(), "none: a count is a plain number");
                    LimitError::UnknownUnit { given, unit, units }
                }
                _ => LimitError::NotANumber { given, what: WHAT, example: EXAMPLE },
            })
        }
    }
}

/// The value of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(untagged)]
pub enum Amount {
    /// Memory or disk.
    Bytes(Bytes),
    /// Processors.
    Cores(Cores),
    /// A number of something.
    Count(u32),
    /// A length of time.
    Time(TimeSpan),
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Amount::Bytes(bytes) => bytes.fmt(f),
            Amount::Cores(cores) => cores.fmt(f),
            Amount::Count(count) => count.fmt(f),
            Amount::Time(time) => time.fmt(f),
        }
    }
}

/// Something for every limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LimitTable<T>([T; LimitKey::ALL.len()]);

/// What one file says about limits.
pub type SaidLimits = LimitTable<Said<Amount>>;

impl<T> LimitTable<T> {
    /// A table made limit by limit.
    pub(crate) fn with(mut each: impl FnMut(LimitKey) -> T) -> LimitTable<T> {
        LimitTable(std::array::from_fn(|index| each(LimitKey::ALL[index])))
    }

    /// Every limit with its value.
    pub fn iter(&self) -> impl Iterator<Item = (LimitKey, &T)> {
        LimitKey::ALL.iter().copied().zip(&self.0)
    }
}

impl<T> ops::Index<LimitKey> for LimitTable<T> {
    type Output = T;

    fn index(&self, key: LimitKey) -> &T {
        &self.0[key as usize]
    }
}

impl<T> ops::IndexMut<LimitKey> for LimitTable<T> {
    fn index_mut(&mut self, key: LimitKey) -> &mut T {
        &mut self.0[key as usize]
    }
}

impl LimitTable<Sourced<Amount>> {
    /// The limits without their origins.
    pub fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        for (key, amount) in self.iter() {
            key.put(amount.value, &mut limits);
        }
        limits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_goes_in_and_comes_out() {
        let texts = ["1m", "2", "3", "4s", "5ms", "6m", "7m", "8", "9m"];
        let mut limits = Limits::default();
        for (key, text) in LimitKey::ALL.iter().zip(texts) {
            assert_ne!(key.of(&limits), key.read(text).unwrap());
            key.put(key.read(text).unwrap(), &mut limits);
            assert_eq!(key.of(&limits), key.read(text).unwrap(), "{}", key.path());
            assert!(key.read(key.example()).is_ok(), "{}", key.path());
        }
    }

    #[test]
    fn counts_are_whole_numbers() {
        assert_eq!(count("7"), Ok(7));
        for bad in ["0", "-1", "1.5", "5000000000", "many", "1k", ""] {
            assert!(count(bad).is_err(), "{bad}");
        }
    }
}
