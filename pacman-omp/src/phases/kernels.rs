//! The kernels of Kokkos that run now.

use std::sync::atomic::{AtomicU64, Ordering};

/// The number of open kernels in the upper half, and the sum of their labels in the lower one.
static OPEN: AtomicU64 = AtomicU64::new(0);

const ONE: u64 = 1 << 32;

// ATOMICS: labels are read on threads that the kernel's thread started after it opened the kernel. The
// word publishes nothing else.

/// A kernel with that label begins.
pub(crate) fn opens(label: u32) {
    OPEN.fetch_add(ONE + u64::from(label), Ordering::Relaxed);
}

/// A kernel with that label ends.
pub(crate) fn closes(label: u32) {
    OPEN.fetch_sub(ONE + u64::from(label), Ordering::Relaxed);
}

/// The label of the only open kernel; 0 if there is none, or more than one.
pub(crate) fn only() -> u32 {
    let open = OPEN.load(Ordering::Relaxed);
    if open >> 32 == 1 { open as u32 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_open_kernel_has_the_label_and_two_have_none() {
        assert_eq!(only(), 0);
        opens(7);
        assert_eq!(only(), 7);
        opens(9);
        assert_eq!(only(), 0);
        closes(7);
        assert_eq!(only(), 9);
        closes(9);
        assert_eq!(only(), 0);
    }
}
