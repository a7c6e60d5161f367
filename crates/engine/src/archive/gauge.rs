//! Counts what comes out of an archive, and stops it.

use std::{
    cell::Cell,
    io::{self, Read},
    rc::Rc,
};

use super::{Refusal, UnpackLimits};

/// What was unpacked so far.
pub(super) struct Gauge<'a> {
    pub(super) limits: &'a UnpackLimits,
    entries: u64,
    names: u64,
    total: u64,
}

impl<'a> Gauge<'a> {
    pub(super) fn new(limits: &'a UnpackLimits) -> Gauge<'a> {
        Gauge { limits, entries: 0, names: 0, total: 0 }
    }

    /// One more entry, with this many bytes of names.
    pub(super) fn entry(&mut self, names: usize) -> Result<(), Refusal> {
        self.entries += 1;
        self.names = self.names.saturating_add(names as u64);
        if self.entries > self.limits.entries {
            return Err(Refusal::Many { most: self.limits.entries });
        }
        if self.names > self.limits.names {
            return Err(Refusal::Names { most: self.limits.names });
        }
        Ok(())
    }

    /// More bytes of a file that has so many with them.
    pub(super) fn bytes(&mut self, more: usize, of_file: u64) -> Result<(), Refusal> {
        self.total = self.total.saturating_add(more as u64);
        self.room_for(of_file, 0)
    }

    /// Whether a file of this size may come, besides what came before.
    pub(super) fn room_for(&self, file: u64, more: u64) -> Result<(), Refusal> {
        if file > self.limits.file {
            return Err(Refusal::Large { most: self.limits.file });
        }
        if self.total.saturating_add(more) > self.limits.total {
            return Err(Refusal::Total { most: self.limits.total });
        }
        Ok(())
    }

    /// Whether so much may come out of so little.
    pub(super) fn ratio(limits: &UnpackLimits, out: u64, from: u64) -> Result<(), Refusal> {
        if out > limits.ratio_free && out / limits.ratio > from {
            return Err(Refusal::Ratio { most: limits.ratio });
        }
        Ok(())
    }
}

/// Counts what is read through it.
pub(super) struct Counting<R> {
    inner: R,
    count: Rc<Cell<u64>>,
}

impl<R> Counting<R> {
    pub(super) fn new(inner: R) -> (Counting<R>, Rc<Cell<u64>>) {
        let count = Rc::new(Cell::new(0));
        (Counting { inner, count: Rc::clone(&count) }, count)
    }
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.count.set(self.count.get().saturating_add(count as u64));
        Ok(count)
    }
}

/// A stream that was decompressed: it ends in a refusal when it grows too large, or too large for
/// what it came from.
pub(super) struct Guarded<'a, R> {
    inner: R,
    out: u64,
    from: Rc<Cell<u64>>,
    limits: &'a UnpackLimits,
}

impl<'a, R> Guarded<'a, R> {
    pub(super) fn new(inner: R, from: Rc<Cell<u64>>, limits: &'a UnpackLimits) -> Guarded<'a, R> {
        Guarded { inner, out: 0, from, limits }
    }

    /// The files themselves, and a header and padding for each entry and each of its long names.
    fn most(&self) -> u64 {
        self.limits.total + self.limits.names + self.limits.entries * 8 * 512
    }
}

impl<R: Read> Read for Guarded<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.out = self.out.saturating_add(count as u64);
        Gauge::ratio(self.limits, self.out, self.from.get()).map_err(io::Error::other)?;
        if self.out > self.most() {
            return Err(io::Error::other(Refusal::Total { most: self.limits.total }));
        }
        Ok(count)
    }
}
