//! A counter that is read as one register of 64 bits.

/// A counter's register. Bits above its width mean nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawCount(pub(super) u64);

impl RawCount {
    /// A simulated counter's value.
    pub fn simulated(value: u64) -> RawCount {
        RawCount(value)
    }

    /// The lower and the upper 32 bits.
    #[inline(always)]
    pub fn halves(self) -> (u64, u64) {
        (self.0 & 0xffff_ffff, self.0 >> 32)
    }

    /// The register as it is.
    #[inline(always)]
    pub fn whole(self) -> u64 {
        self.0
    }

    /// The count of a counter of `WIDTH` bits, as a signed number.
    ///
    /// The kernel starts a counter at minus its period, so the value is negative
    /// until it overflows; without the extension counts jump by 2^WIDTH.
    #[inline(always)]
    pub fn extended<const WIDTH: u32>(self) -> u64 {
        debug_assert!(WIDTH >= 1 && WIDTH <= 64);
        ((self.0 << (64 - WIDTH)) as i64 >> (64 - WIDTH)) as u64
    }
}
