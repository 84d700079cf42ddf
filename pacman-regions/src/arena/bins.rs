//! The times of a region, in bins that grow with the run time of the program.

use std::cell::Cell;
use std::mem::offset_of;
use std::sync::atomic::AtomicU64;

use super::cell::{add, load, publish, store};

/// The number of bins in a row.
pub(super) const BINS: usize = 512;
/// The length of the finest bins of a recording: 2^16 ticks, some tens of microseconds.
pub(super) const FINEST: u64 = 16;
/// The doublings of the bins with which a region begins: 80 to 130 µs, so that a program of 50 ms folds none.
/// Each fold of a region takes 5,000 instructions.
const FIRST: u64 = 2;
/// The most doublings. The longest bins are 2^63 ticks long, which fits a `u64`.
const COARSEST: u64 = 47;

/// The executions of one region that one thread started, over time.
///
/// One thread at a time writes. Ticks count from the start of the process.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Bins {
    /// The lower half has the number of doublings: a bin is 2^(doublings + [`FINEST`]) ticks long. While
    /// bins fold, the upper half has one more than the next bin to fold.
    pub(super) state: AtomicU64,
    /// The sum of bins 0 and 1 during a fold, until it replaces bin 0.
    pub(super) spare: Bin,
    /// The start of the bin in which the latest execution ended.
    from: AtomicU64,
    /// The end of the first execution that ended in that bin.
    until: AtomicU64,
    pub(super) bins: [Bin; BINS],
}

/// The bin in which the latest execution of a thread ended. It must be in private memory, because it
/// contains an address.
#[derive(Debug)]
pub struct CurrentBin {
    bin: Cell<*const Bin>,
    /// The start and the end of the bin.
    from: Cell<u64>,
    to: Cell<u64>,
}

impl CurrentBin {
    /// The state before the first execution.
    pub const fn none() -> CurrentBin {
        CurrentBin { bin: Cell::new(std::ptr::null()), from: Cell::new(0), to: Cell::new(0) }
    }
}

/// The ticks of one bin, and those ticks times the size of the team.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Bin {
    ticks: AtomicU64,
    thread_ticks: AtomicU64,
}

/// The contents of a row of bins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct BinTotals {
    pub(super) shift: u64,
    pub(super) ticks: Vec<u64>,
    pub(super) thread_ticks: Vec<u64>,
}

impl Bin {
    #[inline(always)]
    fn put(&self, ticks: u64, threads: u64) {
        add(&self.ticks, ticks);
        add(&self.thread_ticks, ticks.wrapping_mul(threads));
    }

    fn look(&self) -> (u64, u64) {
        (load(&self.ticks), load(&self.thread_ticks))
    }

    fn set(&self, (ticks, thread_ticks): (u64, u64)) {
        store(&self.ticks, ticks);
        store(&self.thread_ticks, thread_ticks);
    }
}

impl Bins {
    /// Begins with bins of the first length.
    pub(super) fn begin(&self) {
        store(&self.state, FIRST);
    }

    /// Adds an execution of `ticks` from `begin` on, with a team of `threads`.
    ///
    /// # Safety
    /// `latest` must belong to these bins.
    #[inline(always)]
    pub(super) unsafe fn add(&self, latest: &CurrentBin, begin: u64, ticks: u64, threads: u64) {
        let end = begin.wrapping_add(ticks);
        if begin < latest.from.get() || end >= latest.to.get() {
            return self.spread(latest, begin, end.max(begin), threads);
        }
        // SAFETY: `spread` set it to one of these bins, together with the times.
        unsafe { &*latest.bin.get() }.put(ticks, threads);
    }

    /// Adds `ticks` of several executions, evenly between `from` and `to`.
    ///
    /// # Safety
    /// As of [`add`](Self::add).
    pub(super) unsafe fn add_evenly(
        &self,
        latest: &CurrentBin,
        (from, to): (u64, u64),
        ticks: u64,
        threads: u64,
    ) {
        let to = to.max(from);
        let shift = self.shift_for(to);
        let (first, last) = (from >> shift, (to >> shift).min(BINS as u64 - 1));
        let mut left = ticks;
        for bin in first..=last {
            let end = to.min((bin + 1) << shift);
            let part = match bin == last {
                true => left,
                // No product of two times fits a `u64`.
                false => {
                    let ended = u128::from(end - from) * u128::from(ticks);
                    let until_now = (ended / u128::from((to - from).max(1))) as u64;
                    until_now.saturating_sub(ticks - left)
                }
            };
            self.bins[bin as usize].put(part, threads);
            left = left.saturating_sub(part);
        }
        self.set_latest(latest, last, shift, to);
    }

    /// Adds an execution to several bins, or to another bin than the latest.
    #[inline(never)]
    fn spread(&self, latest: &CurrentBin, begin: u64, end: u64, threads: u64) {
        let shift = self.shift_for(end);
        let last = (end >> shift).min(BINS as u64 - 1);
        for bin in begin >> shift..=last {
            let (from, to) = (begin.max(bin << shift), end.min((bin + 1) << shift));
            self.bins[bin as usize].put(to.saturating_sub(from), threads);
        }
        self.set_latest(latest, last, shift, end);
    }

    /// The length of bins of which one has the time `end`, as a power of 2.
    fn shift_for(&self, end: u64) -> u64 {
        let shift = (load(&self.state) & 0xffff_ffff).min(COARSEST) + FINEST;
        if end >> shift >= BINS as u64 { self.fold(end) } else { shift }
    }

    /// The latest execution ended at `end`, in that bin.
    fn set_latest(&self, latest: &CurrentBin, bin: u64, shift: u64, end: u64) {
        store(&self.from, bin << shift);
        store(&self.until, end);
        latest.bin.set(&raw const self.bins[bin as usize]);
        latest.from.set(bin << shift);
        latest.to.set((bin + 1) << shift);
    }

    /// Fills the bins. Each is 2 to the power of `shift` ticks long.
    pub(super) fn fill(&self, shift: u64, all: impl Iterator<Item = (u64, u64)>) {
        store(&self.state, shift - FINEST);
        self.bins.iter().zip(all).for_each(|(bin, ticks)| bin.set(ticks));
    }

    /// Doubles the length of the bins until `end` is in one of them.
    ///
    /// Bin `n` becomes the sum of bins `2n` and `2n + 1`. The process may end at any store, so a reader
    /// must be able to repeat each fold. It cannot repeat the fold of bin 0, which is a part of its own
    /// sum. So `spare` gets that sum first, and bin 0 gets a copy.
    #[cold]
    fn fold(&self, end: u64) -> u64 {
        let mut shift = (load(&self.state) & 0xffff_ffff).min(COARSEST);
        if load(&self.until) == 0 {
            // The bins are empty. A region that begins late would fold them several times for nothing.
            while end >> (shift + FINEST) >= BINS as u64 && shift < COARSEST {
                shift += 1;
            }
            publish(&self.state, shift);
            return shift + FINEST;
        }
        while end >> (shift + FINEST) >= BINS as u64 && shift < COARSEST {
            let sum = |number: usize| {
                let of = |number: usize| self.bins.get(number).map_or((0, 0), Bin::look);
                let (first, second) = (of(2 * number), of(2 * number + 1));
                (first.0.wrapping_add(second.0), first.1.wrapping_add(second.1))
            };
            self.spare.set(sum(0));
            publish(&self.state, shift | 1 << 32);
            self.bins[0].set(self.spare.look());
            for number in 1..BINS {
                publish(&self.state, shift | (number as u64 + 1) << 32);
                self.bins[number].set(sum(number));
            }
            shift += 1;
            publish(&self.state, shift);
        }
        shift + FINEST
    }
}

impl BinTotals {
    /// Reads the words of [`Bins`]. Completes a fold that the process did not finish.
    pub(super) fn of(words: &[u64]) -> BinTotals {
        const STATE: usize = offset_of!(Bins, state) / 8;
        const SPARE: usize = offset_of!(Bins, spare) / 8;
        const FIRST: usize = offset_of!(Bins, bins) / 8;
        let get = |at: usize| words.get(at).copied().unwrap_or(0);
        let (shift, next) = (get(STATE) & 0xffff_ffff, (get(STATE) >> 32) as usize);
        let mut bins: Vec<(u64, u64)> =
            (0..BINS).map(|bin| (get(FIRST + 2 * bin), get(FIRST + 2 * bin + 1))).collect();
        let mut shift = shift.min(COARSEST);
        if next > 0 {
            if next == 1 {
                bins[0] = (get(SPARE), get(SPARE + 1));
            }
            for number in next.saturating_sub(1).max(1)..BINS {
                let of = |number: usize| bins.get(number).copied().unwrap_or_default();
                let (first, second) = (of(2 * number), of(2 * number + 1));
                bins[number] = (first.0.wrapping_add(second.0), first.1.wrapping_add(second.1));
            }
            shift = (shift + 1).min(COARSEST);
        }
        let (ticks, thread_ticks) = bins.into_iter().unzip();
        BinTotals { shift: shift + FINEST, ticks, thread_ticks }
    }

    /// The earliest possible end of the latest execution, in ticks; `words` are those of the bins.
    pub(super) fn until(&self, words: &[u64]) -> u64 {
        let from = words.get(offset_of!(Bins, from) / 8).copied().unwrap_or(0);
        let latest = usize::try_from(from >> self.shift).unwrap_or(usize::MAX);
        let ticks = self.ticks.get(latest).copied().unwrap_or(0);
        let until = words.get(offset_of!(Bins, until) / 8).copied().unwrap_or(0);
        from.saturating_add(ticks.min(1 << self.shift)).max(until)
    }

    /// Folds to bins of 2 to the power of `shift` ticks, which must not be shorter.
    pub(super) fn folded(mut self, shift: u64) -> BinTotals {
        while self.shift < shift {
            for cells in [&mut self.ticks, &mut self.thread_ticks] {
                let sum =
                    |pair: &[u64]| pair.iter().fold(0u64, |sum, ticks| sum.wrapping_add(*ticks));
                *cells = cells.chunks(2).map(sum).collect();
            }
            self.shift += 1;
        }
        self
    }

    /// Adds `other`, whose bins must have the same length.
    pub(super) fn merge(&mut self, other: &BinTotals) {
        let both = [(&mut self.ticks, &other.ticks), (&mut self.thread_ticks, &other.thread_ticks)];
        for (own, others) in both {
            own.resize(own.len().max(others.len()), 0);
            own.iter_mut().zip(others).for_each(|(sum, more)| *sum = sum.wrapping_add(*more));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::cell::{Words, zeroed};
    use super::super::tests::words_of;
    use super::*;

    // SAFETY: as its definition shows.
    unsafe impl Words for Bins {}

    impl Bins {
        fn enter(&self, latest: &CurrentBin, begin: u64, ticks: u64, threads: u64) {
            // SAFETY: each test has one row of bins and one current bin.
            unsafe { self.add(latest, begin, ticks, threads) };
        }
    }

    fn look(bins: &Bins) -> BinTotals {
        BinTotals::of(&words_of(bins))
    }

    #[test]
    fn nothing_is_lost_when_bins_fold_or_executions_span_them() {
        let (bins, latest) = (zeroed::<Bins>(), CurrentBin::none());
        let (mut sum, mut at) = (0, 0);
        for round in 0..20_000u64 {
            let length = round * round % 300_001;
            bins.enter(&latest, at, length, 1 + round % 4);
            (sum, at) = (sum + length * (1 + round % 4), at + length + 5);
        }
        let held = look(&bins);
        assert_eq!(held.thread_ticks.iter().sum::<u64>(), sum);
        assert_eq!(held.ticks.iter().sum::<u64>(), at - 20_000 * 5);
        assert!(held.ticks.iter().all(|&ticks| ticks <= 1 << held.shift), "no bin is over-full");
        let (shift, total) = (held.shift + 3, held.ticks.iter().sum::<u64>());
        let mut coarse = held.folded(shift);
        assert_eq!((coarse.ticks.len(), coarse.ticks.iter().sum::<u64>()), (BINS / 8, total));
        coarse.merge(&coarse.clone());
        assert_eq!(coarse.ticks.iter().sum::<u64>(), 2 * total);
    }

    #[test]
    fn untimed_executions_fill_the_bins_between_two_times_evenly() {
        let (bins, latest) = (zeroed::<Bins>(), CurrentBin::none());
        let span = ((3 << FINEST) + (1 << (FINEST - 1)), 7 << FINEST);
        // SAFETY: one row of bins and one current bin.
        unsafe { bins.add_evenly(&latest, span, 7_001, 2) };
        let held = look(&bins);
        let there: Vec<u64> = held.ticks[3..8].to_vec();
        assert_eq!(there, [1_000, 2_000, 2_000, 2_001, 0]);
        assert_eq!(held.thread_ticks.iter().sum::<u64>(), 2 * 7_001);
        // SAFETY: as above.
        unsafe { bins.add_evenly(&latest, (7 << FINEST, 7 << FINEST), 30, 1) };
        bins.enter(&latest, 7 << FINEST, 5, 1);
        assert_eq!(look(&bins).ticks[7], 30 + 5);
    }

    #[test]
    fn an_execution_is_in_the_bins_of_its_time() {
        let (bins, latest) = (zeroed::<Bins>(), CurrentBin::none());
        bins.enter(&latest, 100 << FINEST, (2 << FINEST) + 7, 3);
        let held = look(&bins);
        let there: Vec<_> =
            held.ticks.iter().enumerate().filter(|(_, ticks)| **ticks > 0).collect();
        assert_eq!(there, [(100, &(1 << FINEST)), (101, &(1 << FINEST)), (102, &7)]);
        assert_eq!(held.thread_ticks[102], 21);
    }

    #[test]
    fn a_program_of_50_ms_folds_no_bin() {
        let (bins, latest) = (zeroed::<Bins>(), CurrentBin::none());
        bins.begin();
        for at in 0..BINS as u64 {
            bins.enter(&latest, at << (FINEST + FIRST), 1_000, 2);
        }
        let held = look(&bins);
        assert_eq!(held.shift, FINEST + FIRST);
        assert!(held.ticks.iter().all(|ticks| *ticks == 1_000), "{held:?}");
        bins.enter(&latest, (BINS as u64) << (FINEST + FIRST), 1_000, 2);
        assert_eq!(look(&bins).shift, FINEST + FIRST + 1);
    }

    #[test]
    fn empty_bins_become_longer_without_a_fold() {
        let (bins, latest) = (zeroed::<Bins>(), CurrentBin::none());
        let begin = (BINS as u64 * 5) << FINEST;
        let stores = super::super::tests::logged(|| bins.enter(&latest, begin, 100, 2));
        assert!(stores.len() < 10, "{} stores", stores.len());
        let held = look(&bins);
        assert_eq!(held.shift, FINEST + 3, "the shortest bins in which the end is");
        assert_eq!(held.ticks[BINS * 5 / 8], 100);
        assert_eq!(held.ticks.iter().sum::<u64>(), 100);
    }

    #[test]
    fn a_fold_that_ends_at_any_store_loses_and_doubles_nothing() {
        let (bins, latest) = (zeroed::<Bins>(), CurrentBin::none());
        for bin in 0..BINS as u64 {
            bins.enter(&latest, bin << FINEST, 1 + bin * bin % 1_000, 3);
        }
        let whole = look(&bins);
        let total = whole.ticks.iter().sum::<u64>();
        let before = words_of(&bins);
        let stores = super::super::tests::logged(|| {
            bins.fold((BINS as u64) << FINEST);
        });
        assert!(stores.len() > 2 * BINS, "{} stores", stores.len());
        let expected = whole.clone().folded(FINEST + 1);
        let base = std::ptr::from_ref(&bins).addr();
        let mut words = before;
        for (done, (cell, value)) in stores.into_iter().enumerate() {
            words[(cell - base) / 8] = value;
            let held = BinTotals::of(&words);
            assert_eq!(held.ticks.iter().sum::<u64>(), total, "after {done} stores");
            let mut coarse = held.folded(FINEST + 1);
            coarse.ticks.truncate(BINS / 2);
            coarse.thread_ticks.truncate(BINS / 2);
            assert_eq!(coarse, expected, "after {done} stores");
        }
    }
}
