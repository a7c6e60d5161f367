//! How much an archive may unpack to. More than any project needs, less than what hurts.

/// What is allowed. All sizes are in bytes.
#[derive(Clone, Debug)]
pub(crate) struct UnpackLimits {
    /// The archive itself.
    pub(crate) archive: u64,
    /// All files together.
    pub(crate) total: u64,
    /// One file.
    pub(crate) file: u64,
    /// Entries of any kind.
    pub(crate) entries: u64,
    /// How many times larger the content may be than what it was unpacked from.
    pub(crate) ratio: u64,
    /// What the ratio does not apply to: the first bytes of anything may compress well.
    pub(crate) ratio_free: u64,
    /// A path in the archive, or the target of a link.
    pub(crate) path: usize,
    /// Directories above one another.
    pub(crate) depth: usize,
    /// All names together, since they are held in memory.
    pub(crate) names: u64,
}

impl Default for UnpackLimits {
    fn default() -> Self {
        UnpackLimits {
            archive: 1 << 30,
            total: 1 << 30,
            file: 512 << 20,
            entries: 100_000,
            ratio: 1000,
            ratio_free: 1 << 20,
            path: 4096,
            depth: 256,
            names: 32 << 20,
        }
    }
}
