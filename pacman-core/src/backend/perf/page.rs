//! The counter page of `perf_event_open(2)`, read by its owner without a system call.
//!
//! The kernel keeps, for each event, which hardware counter holds it (`index`,
//! 0 for none) and what to add to the counter (`offset`), under a sequence lock.
//! The pages of a group lie side by side, so that one base address reaches all.

use std::ptr::NonNull;
use std::sync::atomic::{Ordering, compiler_fence};

use perf_event_open_sys::bindings::perf_event_mmap_page;

use super::sys::{PAGE, PerfSys};

/// Why the pages could not answer: the caller asks the kernel instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OffCounter;

/// The pages of a group's events, `count` of them, `PAGE` bytes apart.
#[derive(Clone, Copy)]
pub(super) struct Pages {
    base: NonNull<u8>,
}

impl Pages {
    /// # Safety
    /// `base` must be a reservation whose pages are all mapped counter pages and
    /// stay so (or become readable zero pages) for as long as the value is used.
    pub(super) unsafe fn new(base: NonNull<u8>) -> Pages {
        Pages { base }
    }

    #[inline(always)]
    fn page(self, slot: usize) -> *const perf_event_mmap_page {
        // SAFETY: callers pass slots below the number of pages in the reservation.
        unsafe { self.base.as_ptr().add(slot * PAGE).cast() }
    }

    #[inline(always)]
    fn lock(self, slot: usize) -> u32 {
        // SAFETY: the page is mapped and readable (see `new`). Volatile, because
        // the kernel writes it behind the compiler's back.
        unsafe { (&raw const (*self.page(slot)).lock).read_volatile() }
    }

    #[inline(always)]
    fn index(self, slot: usize) -> u32 {
        // SAFETY: as for `lock`.
        unsafe { (&raw const (*self.page(slot)).index).read_volatile() }
    }

    #[inline(always)]
    fn offset(self, slot: usize) -> u64 {
        // SAFETY: as for `lock`.
        unsafe { (&raw const (*self.page(slot)).offset).read_volatile() as u64 }
    }

    /// The counter's width in bits, where the kernel lets this process read the
    /// counter in user mode.
    pub(super) fn rdpmc_width(self, slot: usize) -> Option<u8> {
        let page = self.page(slot);
        // SAFETY: as for `lock`.
        let (capabilities, width) = unsafe {
            let anon = &raw const (*page).__bindgen_anon_1.capabilities;
            (anon.read_volatile(), (&raw const (*page).pmc_width).read_volatile())
        };
        // Bit 2 is cap_user_rdpmc; bit 1 says that bit 0 no longer means both
        // capabilities at once, as it did before Linux 3.12.
        (capabilities & 0b110 == 0b110 && (1..=64).contains(&width)).then_some(width as u8)
    }

    /// Whether the event is on a hardware counter at this moment.
    pub(super) fn on_counter(self, slot: usize) -> bool {
        self.index(slot) != 0
    }

    /// Reads `N` events whose counters are `WIDTH` bits wide, all from one
    /// undisturbed moment.
    ///
    /// One comparison serves all pages: every lock only grows, so the sum of the
    /// locks is unchanged exactly when each lock is.
    ///
    /// # Safety
    /// The calling thread must own the group, and `cap_user_rdpmc` must stand.
    #[inline(always)]
    pub(super) unsafe fn read<S: PerfSys, const N: usize, const WIDTH: u32>(
        self,
        sys: &S,
        counts: &mut [u64; N],
    ) -> Result<(), OffCounter> {
        loop {
            let before = self.lock_sum::<S>(sys, N);
            // ATOMICS: the writer is the kernel on this very CPU (in a context
            // switch or an interrupt of this thread), so program order is all
            // that is needed: the fences stop the compiler, the CPU needs none.
            compiler_fence(Ordering::SeqCst);
            for (slot, count) in counts.iter_mut().enumerate() {
                let index = self.index(slot);
                if index == 0 {
                    return Err(OffCounter);
                }
                sys.between_loads();
                // SAFETY: index is non-zero, so the kernel put the event on this
                // counter. If it is moved before the instruction runs, the counter
                // still exists and the lock tells.
                let (low, high) = unsafe { sys.rdpmc(index - 1) };
                sys.between_loads();
                *count = extend::<WIDTH>(low, high).wrapping_add(self.offset(slot));
            }
            compiler_fence(Ordering::SeqCst);
            if self.lock_sum::<S>(sys, N) == before {
                return Ok(());
            }
        }
    }

    /// As [`read`](Self::read), for any number of events and any width.
    ///
    /// # Safety
    /// As for [`read`](Self::read); `counts` must not be longer than the group.
    pub(super) unsafe fn read_any<S: PerfSys>(
        self,
        sys: &S,
        width: u8,
        counts: &mut [u64],
    ) -> Result<(), OffCounter> {
        loop {
            let before = self.lock_sum::<S>(sys, counts.len());
            compiler_fence(Ordering::SeqCst);
            for (slot, count) in counts.iter_mut().enumerate() {
                let index = self.index(slot);
                if index == 0 {
                    return Err(OffCounter);
                }
                sys.between_loads();
                // SAFETY: as in `read`.
                let (low, high) = unsafe { sys.rdpmc(index - 1) };
                sys.between_loads();
                *count = extend_to(width, low, high).wrapping_add(self.offset(slot));
            }
            compiler_fence(Ordering::SeqCst);
            if self.lock_sum::<S>(sys, counts.len()) == before {
                return Ok(());
            }
        }
    }

    #[inline(always)]
    fn lock_sum<S: PerfSys>(self, sys: &S, pages: usize) -> u32 {
        let mut sum = 0u32;
        for slot in 0..pages {
            sum = sum.wrapping_add(self.lock(slot));
            sys.between_loads();
        }
        sum
    }
}

/// The two halves of a counter wider than 32 bits as a signed number.
///
/// The kernel starts a counter at minus its period, so the value is negative
/// until it overflows; without the extension counts jump by 2^WIDTH.
#[inline(always)]
fn extend<const WIDTH: u32>(low: u32, high: u32) -> u64 {
    debug_assert!(WIDTH > 32 && WIDTH <= 64);
    // The upper half alone is extended: bits 32..WIDTH move to the top and come
    // back down over bits 32..64, one instruction less than on the whole word.
    let high = ((u64::from(high) << (96 - WIDTH)) as i64 >> (64 - WIDTH)) as u64;
    high | u64::from(low)
}

/// As [`extend`], at any width from 1 to 64 bits.
fn extend_to(width: u8, low: u32, high: u32) -> u64 {
    let unused = 64 - u32::from(width);
    let value = u64::from(high) << 32 | u64::from(low);
    ((value << unused) as i64 >> unused) as u64
}

#[cfg(test)]
mod tests {
    use super::{extend, extend_to};

    /// The counter after `n` events when it was started at minus `period`.
    fn counter(width: u32, period: u64, n: u64) -> (u32, u32) {
        let mask = if width == 64 { u64::MAX } else { (1 << width) - 1 };
        let value = 0u64.wrapping_sub(period).wrapping_add(n) & mask;
        (value as u32, (value >> 32) as u32)
    }

    #[test]
    fn differences_survive_the_sign_change_at_every_width() {
        for width in [32u32, 40, 48] {
            let period = (1u64 << (width - 1)) - 1;
            for start in [0, 1, period - 5, period - 1] {
                for step in [0u64, 1, 7, 4096] {
                    let (l0, h0) = counter(width, period, start);
                    let (l1, h1) = counter(width, period, start + step);
                    let d =
                        extend_to(width as u8, l1, h1).wrapping_sub(extend_to(width as u8, l0, h0));
                    assert_eq!(d, step, "width {width}, start {start}");
                }
            }
        }
    }

    #[test]
    fn the_fast_extension_equals_the_plain_one() {
        let mut x = 0x9e37_79b9_7f4a_7c15u64;
        for _ in 0..10_000 {
            x = x.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let (low, high) = (x as u32, (x >> 32) as u32);
            assert_eq!(extend::<48>(low, high & 0xffff), extend_to(48, low, high & 0xffff));
            assert_eq!(extend::<40>(low, high & 0xff), extend_to(40, low, high & 0xff));
        }
    }

    #[test]
    fn a_negative_counter_and_a_positive_offset_give_the_small_count() {
        // What the kernel writes at start: counter = -period, offset = +period.
        let period = (1u64 << 39) - 1;
        let (low, high) = counter(40, period, 12);
        assert_eq!(extend::<40>(low, high).wrapping_add(period), 12);
    }
}
