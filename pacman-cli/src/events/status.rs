//! Exit statuses of the commands about events.

/// Success.
pub(crate) const OK: u8 = 0;
/// Something asked for does not exist or cannot be counted.
pub(crate) const REFUSED: u8 = 2;
