//! A counter of fewer than 64 bits.

/// A counter that wraps at its width.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counter(u64);

impl Counter {
    pub(super) fn value(self) -> u64 {
        self.0
    }

    /// Sets it; bits beyond the width are lost.
    pub(super) fn set(&mut self, value: u64, width: u8) {
        self.0 = value & mask(width);
    }

    /// Counts `n` more, and says whether it went past its width.
    pub(super) fn add(&mut self, n: u64, width: u8) -> bool {
        let sum = u128::from(self.0) + u128::from(n);
        self.0 = sum as u64 & mask(width);
        sum >> width != 0
    }
}

/// The bits of a counter of this width.
pub(super) fn mask(width: u8) -> u64 {
    (1 << width) - 1
}
