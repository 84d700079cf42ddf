//! The counter pages of a group, read by their owner without a system call.
//!
//! The kernel keeps, for each event, which hardware counter holds it (`index`,
//! 0 for none) and what to add to the counter (`offset`), under a sequence lock.
//! The pages of a group lie side by side, so that one base address reaches all.
//!
//! # Reading
//!
//! The kernel writes a page when its event is put on or taken off a counter and
//! when the counter overflows: rarely, against how often a program reads. So the
//! owner keeps register and offset of every event with the *sequence sum* at which they
//! held, and a read is: sequence sum as kept? read each counter; sequence sum still as kept?
//!
//! The sequence sum is the sum of the pages' lock-and-index words. A lock only ever
//! grows, so the sum changes whenever a page is written, unless 2^32 writes fall
//! between two reads of one thread. The first check keeps the reading instruction (RDPMC, MRS) from
//! running where it is no longer allowed (a forked child finds zero pages); the second
//! proves that nothing moved while the counters were read.

use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::atomic::{Ordering, compiler_fence};

use perf_event_open_sys::bindings::perf_event_mmap_page;

use crate::arch::{self, RawCount, Register, extend_to};
use crate::primitive::made;
use crate::seam::{PAGE, PerfSys};

/// Where a page has its lock, and the index behind it.
const LOCK: usize = std::mem::offset_of!(perf_event_mmap_page, lock);

/// Why the pages could not answer: the caller asks the kernel instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OffCounter;

/// The pages of a group's events, `PAGE` bytes apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pages {
    /// The first page's lock and index: from here the others' are at round distances, which AArch64 adds
    /// in one instruction.
    locks: NonNull<u8>,
}

/// The address of a page's lock and index.
#[derive(Clone, Copy, Debug)]
struct LockAndIndex(NonNull<u64>);

impl LockAndIndex {
    #[inline(always)]
    fn load(self) -> u64 {
        const { assert!(LOCK % 8 == 0) };
        const { assert!(std::mem::offset_of!(perf_event_mmap_page, index) == LOCK + 4) };
        // SAFETY: the page is mapped and readable (see `Pages::new`), and the two fields
        // are one aligned word. Volatile, because the kernel writes it behind the
        // compiler's back.
        unsafe { self.0.read_volatile() }
    }
}

/// The pages of `N` events. With the address of each one's lock at hand, AArch64 takes no instructions for its
/// distance from the first.
#[derive(Clone, Copy, Debug)]
pub(super) struct PagesOf<const N: usize> {
    pages: Pages,
    locks: [LockAndIndex; N],
}

/// No page and no sum of pages has this: neither those in use, whose indices are small, nor the zero pages of
/// a forked child.
const NOT_KNOWN: u64 = u64::MAX;

/// Where one event is, as its page said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CounterLocation {
    register: Register,
    offset: u64,
}

impl CounterLocation {
    /// Never read: no sequence sum of pages in use is that of unknown locations.
    fn unknown() -> CounterLocation {
        CounterLocation { register: Register::simulated(0), offset: 0 }
    }
}

/// Where all events of a group are, and the sequence sum at which that held. A signal handler may learn it anew while
/// its thread does: the sum is stored last, and no page has two locations at one sum.
#[derive(Clone, Debug)]
pub(super) struct CounterLocations<A> {
    seq_sum: Cell<u64>,
    /// The part of the first page in it, where reads go [ahead](arch::READS_AHEAD).
    first: Cell<u64>,
    events: A,
}

impl Pages {
    /// # Safety
    /// `base` must be a reservation whose pages are all mapped counter pages and
    /// stay so (or become readable zero pages) while the value is used.
    pub(super) unsafe fn new(base: NonNull<u8>) -> Pages {
        // SAFETY: the field is within the first page.
        Pages { locks: unsafe { base.add(LOCK) } }
    }

    /// The pages without the first `slots` ones, of which there must be more.
    pub(super) fn behind(self, slots: usize) -> Pages {
        // SAFETY: callers leave a page of the reservation.
        Pages { locks: unsafe { self.locks.add(slots * PAGE) } }
    }

    /// The first `N`, of which there must be so many.
    pub(super) fn of<const N: usize>(self) -> PagesOf<N> {
        PagesOf { pages: self, locks: std::array::from_fn(|slot| self.lock_at(slot)) }
    }

    #[inline(always)]
    fn page(self, slot: usize) -> *const perf_event_mmap_page {
        // SAFETY: callers pass slots below the number of pages in the reservation.
        unsafe { self.locks.as_ptr().sub(LOCK).add(slot * PAGE).cast() }
    }

    /// The lock in the lower half, the index in the upper.
    #[inline(always)]
    fn lock_and_index(self, slot: usize) -> u64 {
        self.lock_at(slot).load()
    }

    #[inline(always)]
    fn lock_at(self, slot: usize) -> LockAndIndex {
        // SAFETY: callers pass slots below the number of pages in the reservation.
        LockAndIndex(unsafe { self.locks.add(slot * PAGE).cast() })
    }

    #[inline(always)]
    fn seq_sum<S: PerfSys>(self, sys: &S, pages: usize) -> u64 {
        let mut sum = 0u64;
        for slot in 0..pages {
            sum = sum.wrapping_add(self.lock_and_index(slot));
            sys.between_loads();
        }
        sum
    }

    /// Whether the event of `slot` is on a counter now.
    pub(super) fn is_counting(self, slot: usize) -> bool {
        self.lock_and_index(slot) >> 32 != 0
    }

    /// The counter's width in bits, where the kernel lets this process read the
    /// counter in user mode.
    pub(super) fn rdpmc_width(self, slot: usize) -> Option<u8> {
        let page = self.page(slot);
        // SAFETY: as for `lock_and_index`.
        let (capabilities, width) = unsafe {
            let anon = &raw const (*page).__bindgen_anon_1.capabilities;
            (anon.read_volatile(), (&raw const (*page).pmc_width).read_volatile())
        };
        // Bit 2 is cap_user_rdpmc; bit 1 says that bit 0 no longer means both
        // capabilities at once, as it did before Linux 3.12.
        (capabilities & 0b110 == 0b110 && (1..=64).contains(&width)).then_some(width as u8)
    }

    /// Where an event is by its index, which has just been read; it holds if that and the lock
    /// are the same afterwards.
    #[inline(always)]
    fn location<S: PerfSys>(
        self,
        sys: &S,
        slot: usize,
        lock_and_index: u64,
    ) -> Result<CounterLocation, OffCounter> {
        // ATOMICS: the writer is the kernel on this very CPU (in a context switch or an interrupt
        // of this thread), so program order is all that is needed: the fence stops the compiler,
        // the CPU needs none.
        compiler_fence(Ordering::SeqCst);
        sys.between_loads();
        let index = ((lock_and_index >> 32) as u32).checked_sub(1).ok_or(OffCounter)?;
        let register = sys.register(index).ok_or(OffCounter)?;
        // SAFETY: as for `lock_and_index`.
        let offset = unsafe { (&raw const (*self.page(slot)).offset).read_volatile() as u64 };
        sys.between_loads();
        Ok(CounterLocation { register, offset })
    }

    /// Learns where the events are, one for each of `locations`; answers the sequence sum.
    fn refresh<S: PerfSys>(
        self,
        sys: &S,
        locations: &[Cell<CounterLocation>],
    ) -> Result<u64, OffCounter> {
        loop {
            let mut seq_sum = 0u64;
            for (slot, location) in locations.iter().enumerate() {
                let lock_and_index = self.lock_and_index(slot);
                seq_sum = seq_sum.wrapping_add(lock_and_index);
                location.set(self.location(sys, slot, lock_and_index)?);
            }
            // ATOMICS: as in `location`.
            compiler_fence(Ordering::SeqCst);
            if self.seq_sum(sys, locations.len()) == seq_sum {
                return Ok(seq_sum);
            }
        }
    }

    /// Reads the counters at known locations; false if the locations have changed.
    ///
    /// # Safety
    /// The calling thread must own the group, and all its pages must have offered
    /// user-mode reads.
    #[inline(always)]
    unsafe fn read_at<S: PerfSys>(
        self,
        sys: &S,
        seq_sum: &Cell<u64>,
        locations: &[Cell<CounterLocation>],
        counts: &mut [u64],
        extend: impl Fn(RawCount) -> u64,
    ) -> bool {
        if self.seq_sum(sys, locations.len()) != seq_sum.get() {
            return false;
        }
        compiler_fence(Ordering::SeqCst);
        for (count, location) in counts.iter_mut().zip(locations) {
            // SAFETY: the sequence sum said that the event is on this counter. If it is
            // moved before the instruction runs, the counter still exists, and
            // the sequence sum below tells.
            let raw = unsafe { sys.read_counter(location.get().register) };
            sys.between_loads();
            // A copy of both before the instruction would keep the offset in a register, for one more instruction.
            *count = made(extend(raw).wrapping_add(location.get().offset));
        }
        compiler_fence(Ordering::SeqCst);
        // From memory again: in a register until now it would cost the counts one.
        // SAFETY: a cell, to which only this thread writes.
        self.seq_sum(sys, locations.len()) == unsafe { seq_sum.as_ptr().read_volatile() }
    }
}

impl<const N: usize> CounterLocations<[Cell<CounterLocation>; N]> {
    /// Nothing known yet.
    pub(super) fn unknown() -> CounterLocations<[Cell<CounterLocation>; N]> {
        CounterLocations {
            seq_sum: Cell::new(NOT_KNOWN),
            first: Cell::new(NOT_KNOWN),
            events: std::array::from_fn(|_| Cell::new(CounterLocation::unknown())),
        }
    }

    /// Reads `N` counters of `WIDTH` bits; false if the locations have changed.
    ///
    /// # Safety
    /// As for [`Pages::read_at`].
    #[inline(always)]
    pub(super) unsafe fn read<S: PerfSys, const WIDTH: u32>(
        &self,
        sys: &S,
        pages: &PagesOf<N>,
        counts: &mut [u64; N],
    ) -> bool {
        // SAFETY: the contract is that of `Pages::read_at`.
        unsafe {
            if arch::READS_AHEAD {
                return self.read_ahead::<S, WIDTH>(sys, pages, counts);
            }
            let extend = RawCount::extended::<WIDTH>;
            pages.pages.read_at(sys, &self.seq_sum, &self.events, counts, extend)
        }
    }

    /// As [`read`](Self::read), with fewer instructions and more registers.
    ///
    /// The first page alone tells that the group is on counters and may be read, as the first check of
    /// all pages does: the kernel puts the members of a group on and off together.
    ///
    /// # Safety
    /// As for [`Pages::read_at`].
    #[inline(always)]
    unsafe fn read_ahead<S: PerfSys, const WIDTH: u32>(
        &self,
        sys: &S,
        pages: &PagesOf<N>,
        counts: &mut [u64; N],
    ) -> bool {
        // Before the locations: a signal handler that learns them anew in between changes it.
        let seq_sum = self.seq_sum.get();
        // Once: behind the fences the compiler would load the first one again.
        let locks = pages.locks;
        compiler_fence(Ordering::SeqCst);
        if locks[0].load() != self.first.get() {
            return false;
        }
        sys.between_loads();
        compiler_fence(Ordering::SeqCst);
        let known: [CounterLocation; N] = std::array::from_fn(|slot| self.events[slot].get());
        // SAFETY: as in `Pages::read_at`. `read_anew` made the registers for this.
        let raw = unsafe { sys.read_counters(known.map(|location| location.register)) };
        let now = std::array::from_fn(|slot| {
            made(raw[slot].extended::<WIDTH>().wrapping_add(known[slot].offset))
        });
        compiler_fence(Ordering::SeqCst);
        let now_sum = locks.iter().fold(0u64, |sum, lock| {
            let sum = sum.wrapping_add(lock.load());
            sys.between_loads();
            sum
        });
        if now_sum != seq_sum {
            return false;
        }
        *counts = now;
        true
    }
}

impl<const N: usize> CounterLocations<[Cell<CounterLocation>; N]> {
    /// Learns where the events are and reads their counters there, between two stamps: what a
    /// thread that sleeps between its phases does at every other read.
    ///
    /// # Safety
    /// As for [`Pages::read_at`].
    #[inline(always)]
    pub(super) unsafe fn read_anew<S: PerfSys, const WIDTH: u32>(
        &self,
        sys: &S,
        pages: &PagesOf<N>,
        counts: &mut [u64; N],
    ) -> Result<(), OffCounter> {
        let pages = pages.pages;
        loop {
            // Each page's own lock is read before what it guards, and all of them again behind
            // everything: what has moved in between changes the sum.
            let (mut seq_sum, mut first) = (0u64, None);
            for (slot, (location, count)) in self.events.iter().zip(&mut *counts).enumerate() {
                let lock_and_index = pages.lock_and_index(slot);
                seq_sum = seq_sum.wrapping_add(lock_and_index);
                first.get_or_insert(lock_and_index);
                let known = pages.location(sys, slot, lock_and_index)?;
                let register = sys.followed_by(known.register, N - 1 - slot);
                location.set(CounterLocation { register, ..known });
                // SAFETY: the kernel had the event on this counter just now. If it has been moved,
                // the counter still exists, and the sequence sum below tells.
                let raw = unsafe { sys.read_counter(known.register) };
                sys.between_loads();
                *count = raw.extended::<WIDTH>().wrapping_add(known.offset);
            }
            compiler_fence(Ordering::SeqCst);
            if pages.seq_sum(sys, N) == seq_sum {
                if arch::READS_AHEAD {
                    self.first.set(first.unwrap_or_default());
                }
                self.seq_sum.set(seq_sum);
                return Ok(());
            }
        }
    }
}

impl CounterLocations<Vec<Cell<CounterLocation>>> {
    /// Nothing known yet about `events` events.
    pub(super) fn unknown_of(events: usize) -> CounterLocations<Vec<Cell<CounterLocation>>> {
        CounterLocations {
            seq_sum: Cell::new(NOT_KNOWN),
            first: Cell::new(NOT_KNOWN),
            events: vec![Cell::new(CounterLocation::unknown()); events],
        }
    }

    /// Reads counters of any width; false if the locations have changed.
    ///
    /// # Safety
    /// As for [`Pages::read_at`].
    pub(super) unsafe fn read_any<S: PerfSys>(
        &self,
        sys: &S,
        pages: Pages,
        width: u8,
        counts: &mut [u64],
    ) -> bool {
        let extend = |raw: RawCount| extend_to(width, raw.whole());
        // SAFETY: the contract is that of `Pages::read_at`.
        unsafe { pages.read_at(sys, &self.seq_sum, &self.events, counts, extend) }
    }
}

impl CounterLocations<Vec<Cell<CounterLocation>>> {
    /// How many events there are.
    pub(super) fn len(&self) -> usize {
        self.events.len()
    }

    /// The offset that the last read added to the counter of `slot`.
    pub(super) fn offset(&self, slot: usize) -> u64 {
        self.events[slot].get().offset
    }

    /// Learns anew where the events are.
    pub(super) fn refresh<S: PerfSys>(&self, sys: &S, pages: Pages) -> Result<(), OffCounter> {
        self.seq_sum.set(pages.refresh(sys, &self.events)?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{RawCount, extend_to};

    /// The counter after `n` events when it was started at minus `period`.
    fn counter(width: u32, period: u64, n: u64) -> RawCount {
        let mask = if width == 64 { u64::MAX } else { (1 << width) - 1 };
        RawCount::simulated(0u64.wrapping_sub(period).wrapping_add(n) & mask)
    }

    #[test]
    fn differences_survive_the_sign_change_at_every_width() {
        for width in [32u32, 40, 48, 64] {
            let period = (1u64 << (width - 1)) - 1;
            for start in [0, 1, period - 5, period - 1] {
                for step in [0u64, 1, 7, 4096] {
                    let at = |n| extend_to(width as u8, counter(width, period, n).whole());
                    let d = at(start + step).wrapping_sub(at(start));
                    assert_eq!(d, step, "width {width}, start {start}");
                }
            }
        }
    }

    #[test]
    fn a_negative_counter_and_a_positive_offset_give_the_small_count() {
        // The kernel's first values: counter = -period, offset = +period.
        let period = (1u64 << 39) - 1;
        assert_eq!(counter(40, period, 12).extended::<40>().wrapping_add(period), 12);
    }
}
