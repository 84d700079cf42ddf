//! When a region ran, in bins that become longer as the program goes on.

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// How many bins a row has.
pub(crate) const BINS: usize = 512;
/// The first bins are of 2^16 ticks: some tens of microseconds.
const FINEST: u64 = 16;

/// The executions of one region that one thread started, over time.
///
/// Its thread alone writes. Ticks are counted from the start of the process.
#[derive(Debug)]
pub(crate) struct Bins {
    /// The length of a bin is 2 to the power of it, in ticks.
    shift: AtomicU64,
    /// Odd while bins are being folded.
    folds: AtomicU64,
    bins: Box<[Bin; BINS]>,
    /// The bin that the latest execution ended in, from when on, and until when.
    latest: AtomicPtr<Bin>,
    from: AtomicU64,
    to: AtomicU64,
}

/// Ticks of one bin, and those times the threads of their teams.
#[derive(Debug, Default)]
struct Bin {
    ticks: AtomicU64,
    thread_ticks: AtomicU64,
}

/// What a row of bins held when it was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) shift: u64,
    pub(crate) ticks: Vec<u64>,
    pub(crate) thread_ticks: Vec<u64>,
}

impl Bins {
    pub(crate) fn new() -> Bins {
        // Not as an array on the stack: how large that of the program's thread is the program says.
        let bins: Box<[Bin]> = (0..BINS).map(|_| Bin::default()).collect();
        let bins = bins.try_into().expect("as many as were made");
        Bins {
            shift: AtomicU64::new(FINEST),
            folds: AtomicU64::new(0),
            bins,
            latest: AtomicPtr::new(std::ptr::null_mut()),
            from: AtomicU64::new(0),
            to: AtomicU64::new(0),
        }
    }

    /// An execution of `ticks` from `begin` on, with a team of `threads`.
    #[inline(always)]
    pub(crate) fn add(&self, begin: u64, ticks: u64, threads: u64) {
        let end = begin.wrapping_add(ticks);
        if begin < self.from.load(Ordering::Relaxed) || end >= self.to.load(Ordering::Relaxed) {
            return self.spread(begin, end.max(begin), threads);
        }
        // SAFETY: `spread` set it, with the times, to one of the bins, which stay where they are.
        unsafe { &*self.latest.load(Ordering::Relaxed) }.put(ticks, threads);
    }

    /// The same over several bins, or in another one than the latest.
    #[inline(never)]
    fn spread(&self, begin: u64, end: u64, threads: u64) {
        let mut shift = self.shift.load(Ordering::Relaxed);
        if end >> shift >= BINS as u64 {
            shift = self.fold(end);
        }
        for bin in begin >> shift..=end >> shift {
            let (from, to) = (begin.max(bin << shift), end.min((bin + 1) << shift));
            self.bins[bin as usize].put(to - from, threads);
        }
        let latest = end >> shift;
        let bin = std::ptr::from_ref(&self.bins[latest as usize]);
        self.latest.store(bin.cast_mut(), Ordering::Relaxed);
        self.from.store(latest << shift, Ordering::Relaxed);
        self.to.store((latest + 1) << shift, Ordering::Relaxed);
    }

    /// Makes bins longer until `end` is in one of them.
    #[cold]
    fn fold(&self, end: u64) -> u64 {
        self.folds.fetch_add(1, Ordering::AcqRel);
        let mut shift = self.shift.load(Ordering::Relaxed);
        while (end >> shift) as usize >= BINS {
            for (number, bin) in self.bins.iter().enumerate() {
                let of = |number: usize| self.bins.get(number).map_or((0, 0), Bin::look);
                let (first, second) = (of(2 * number), of(2 * number + 1));
                bin.ticks.store(first.0 + second.0, Ordering::Relaxed);
                bin.thread_ticks.store(first.1 + second.1, Ordering::Relaxed);
            }
            shift += 1;
        }
        self.shift.store(shift, Ordering::Relaxed);
        self.folds.fetch_add(1, Ordering::AcqRel);
        shift
    }

    /// What the bins hold now; an execution that is being added may be there in part.
    pub(crate) fn look(&self) -> Held {
        loop {
            // ATOMICS: a sequence lock over the folding alone, which happens a few dozen times
            // in the life of a process.
            let before = self.folds.load(Ordering::Acquire);
            let shift = self.shift.load(Ordering::Relaxed);
            let (ticks, thread_ticks) = self.bins.iter().map(Bin::look).unzip();
            let held = Held { shift, ticks, thread_ticks };
            std::sync::atomic::fence(Ordering::Acquire);
            if before % 2 == 0 && self.folds.load(Ordering::Relaxed) == before {
                return held;
            }
            std::hint::spin_loop();
        }
    }
}

impl Bin {
    #[inline(always)]
    fn put(&self, ticks: u64, threads: u64) {
        let add = |sum: &AtomicU64, more| {
            sum.store(sum.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
        };
        add(&self.ticks, ticks);
        add(&self.thread_ticks, ticks.wrapping_mul(threads));
    }

    #[inline(always)]
    fn look(&self) -> (u64, u64) {
        (self.ticks.load(Ordering::Relaxed), self.thread_ticks.load(Ordering::Relaxed))
    }
}

impl Held {
    /// The same in bins of 2 to the power of `shift` ticks, which are no shorter.
    pub(crate) fn folded(mut self, shift: u64) -> Held {
        while self.shift < shift {
            for cells in [&mut self.ticks, &mut self.thread_ticks] {
                *cells = cells.chunks(2).map(|pair| pair.iter().sum()).collect();
            }
            self.shift += 1;
        }
        self
    }

    /// Adds `other`, whose bins are as long.
    pub(crate) fn merge(&mut self, other: &Held) {
        let both = [(&mut self.ticks, &other.ticks), (&mut self.thread_ticks, &other.thread_ticks)];
        for (own, others) in both {
            own.resize(own.len().max(others.len()), 0);
            own.iter_mut().zip(others).for_each(|(sum, more)| *sum += more);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_when_bins_fold_or_executions_span_them() {
        let bins = Bins::new();
        let (mut sum, mut at) = (0, 0);
        for round in 0..20_000u64 {
            let length = round * round % 300_001;
            bins.add(at, length, 1 + round % 4);
            (sum, at) = (sum + length * (1 + round % 4), at + length + 5);
        }
        let held = bins.look();
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
    fn an_execution_is_where_it_was() {
        let bins = Bins::new();
        bins.add(100 << FINEST, (2 << FINEST) + 7, 3);
        let held = bins.look();
        let there: Vec<_> =
            held.ticks.iter().enumerate().filter(|(_, ticks)| **ticks > 0).collect();
        assert_eq!(there, [(100, &(1 << FINEST)), (101, &(1 << FINEST)), (102, &7)]);
        assert_eq!(held.thread_ticks[102], 21);
    }
}
