//! Types of loop counters.

/// The counter types of `__kmpc_for_static_init_{4,4u,8,8u}`.
pub(crate) trait Index: Copy + Ord + std::fmt::Debug {
    /// The signed type of the same size: of steps, strides and chunks.
    type Step: Copy + Into<i64>;

    /// The most iterations that the runtime's counter holds.
    const MOST: u64;

    const RANGE: (i128, i128);

    /// The value, sign-extended.
    fn widen(self) -> u64;

    /// The low bits.
    fn narrow(bits: u64) -> Self;

    /// The low bits of a stride.
    fn step(wide: i64) -> Self::Step;

    /// The number.
    fn exact(self) -> i128;
}

macro_rules! index {
    ($($type:ident, $signed:ident, $unsigned:ident;)+) => {$(
        impl Index for $type {
            type Step = $signed;
            const MOST: u64 = $unsigned::MAX as u64;
            const RANGE: (i128, i128) = ($type::MIN as i128, $type::MAX as i128);

            #[inline]
            fn widen(self) -> u64 {
                self as u64
            }

            #[inline]
            fn narrow(bits: u64) -> $type {
                bits as $type
            }

            #[inline]
            fn step(wide: i64) -> $signed {
                wide as $signed
            }

            #[inline]
            fn exact(self) -> i128 {
                self as i128
            }
        }
    )+};
}

index! {
    i32, i32, u32;
    u32, i32, u32;
    i64, i64, u64;
    u64, i64, u64;
}
