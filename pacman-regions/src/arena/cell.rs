//! Loads and stores of an arena's words.

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(test)]
use super::tests;

/// Stores a word. Every store to an arena goes through here or through [`publish`].
#[inline(always)]
pub(super) fn store(cell: &AtomicU64, value: u64) {
    #[cfg(test)]
    tests::log(cell, value);
    cell.store(value.to_le(), Ordering::Relaxed);
}

/// Stores a word after all earlier stores.
#[inline(always)]
pub(super) fn publish(cell: &AtomicU64, value: u64) {
    #[cfg(test)]
    tests::log(cell, value);
    // ATOMICS: a process may end between any two stores, and a reader sees its stores in order. This
    // store must stay behind those that it announces.
    cell.store(value.to_le(), Ordering::Release);
    std::sync::atomic::compiler_fence(Ordering::SeqCst);
}

/// A record of words.
///
/// # Safety
/// All fields are `AtomicU64`, or consist of them. So zeros are a value, and so is any other content.
pub(super) unsafe trait Words: 'static {}

/// The record whose words are all 0.
pub(super) const fn zeroed<T: Words>() -> T {
    // SAFETY: as the trait says.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

#[inline(always)]
pub(super) fn load(cell: &AtomicU64) -> u64 {
    u64::from_le(cell.load(Ordering::Relaxed))
}

#[inline(always)]
pub(super) fn add(cell: &AtomicU64, more: u64) {
    store(cell, load(cell).wrapping_add(more));
}
