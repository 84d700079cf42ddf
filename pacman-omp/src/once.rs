//! Values that are made once, safely across forks.

use std::sync::OnceLock;

use crate::lock::Lock;

/// Held while a value is made. Fork handlers hold it over a fork: otherwise the child could wait for
/// a maker that it does not have.
pub(crate) static MAKING: Lock<()> = Lock::new(());

/// The value in `cell`; `make` fills it at the first use.
#[inline]
pub(crate) fn once<T>(cell: &OnceLock<T>, make: impl FnOnce() -> T) -> &T {
    cell.get().unwrap_or_else(|| {
        let _one = MAKING.lock();
        cell.get_or_init(make)
    })
}
