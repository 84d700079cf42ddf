//! Records that change while the program runs.
//!
//! One thread at a time writes a record, with plain loads and stores.

use std::sync::atomic::AtomicU64;

use super::bins::{Bins, CurrentBin};
use super::cell::{add, load, publish, store, zeroed};
use super::open_part::open_part;

/// The number of sums in a row: the most counts that a reading can have.
pub const EVENTS: usize = 24;

/// A process.
#[derive(Debug)]
#[repr(C)]
pub struct Process {
    header: AtomicU64,
    /// The process number. The upper half has the parent's.
    pub(super) numbers: AtomicU64,
    /// Nanoseconds since 1970.
    pub(super) began: AtomicU64,
    /// The length of a tick in seconds, as the bits of an `f64`; 0 if the header has it.
    pub(super) seconds_per_tick: AtomicU64,
    /// The owner of the process that it was forked from; 0 for a started program.
    pub(super) forked_from: AtomicU64,
    pub(super) ending: AtomicU64,
    /// The time of the end, in ticks since the start of the process.
    pub(super) ended: AtomicU64,
    /// The number of records that did not fit.
    pub(super) refused: AtomicU64,
    /// 1 if regions are adapted.
    pub(super) adapted: AtomicU64,
    /// 1 if waits are timed.
    pub(super) waits: AtomicU64,
    /// 1 if several threads started regions that were inside no other.
    pub(super) several_roots: AtomicU64,
    /// Nanoseconds that the threads ran, and that they could run and had no processor.
    pub(super) ran: AtomicU64,
    pub(super) delayed: AtomicU64,
    /// One more than the number of the first thread that started a region inside no other; 0 before it.
    pub(super) root: AtomicU64,
}

/// Values of [`Process::ending`].
pub(super) const EXIT: u64 = 1;
pub(super) const EXEC: u64 = 2;

impl Process {
    /// The process ends after `ticks`, or becomes another program. Safe in signal handlers.
    pub fn ends(&self, becomes_another: bool, ticks: u64) {
        store(&self.ended, ticks);
        publish(&self.ending, if becomes_another { EXEC } else { EXIT });
    }

    /// Several threads start regions that are inside no other.
    pub fn has_several_roots(&self) {
        store(&self.several_roots, 1);
    }

    /// Sets the number of the first thread that starts a region inside no other.
    pub fn has_root(&self, thread: u32) {
        store(&self.root, u64::from(thread) + 1);
    }

    /// Sets the nanoseconds that the process's threads ran, and that they waited for a processor.
    pub fn scheduled(&self, ran: u64, delayed: u64) {
        store(&self.delayed, delayed);
        store(&self.ran, ran);
    }
}

/// The parts of a thread in one region, under one number in the team.
#[derive(Debug)]
#[repr(C)]
pub struct Row {
    header: AtomicU64,
    /// The region. The upper half has the thread's number in the team.
    pub(super) key: AtomicU64,
    pub(super) executions: AtomicU64,
    pub(super) ticks: AtomicU64,
    /// One more than the context; 0 before the first sample.
    pub(super) cpu: AtomicU64,
    pub(super) moves: AtomicU64,
    pub(super) counted: AtomicU64,
    pub(super) counts: [AtomicU64; EVENTS],
    /// The part under way: see [`open`](Row::open).
    pub(super) open: AtomicU64,
}

/// Executions between two samples of the hardware context. A sample costs as much as reading a counter.
const SAMPLE: u64 = 16;

impl Row {
    /// A record outside of any arena.
    pub const fn unrecorded() -> Row {
        zeroed()
    }

    /// A part begins, `since` ticks after the start of the process. It is open until the next execution is added.
    pub fn open(&self, since: u64) {
        store(&self.open, open_part(since, load(&self.executions)));
    }

    /// Sets the region and the thread's number.
    pub fn set_key(&self, region: u32, thread: u32) {
        store(&self.key, u64::from(region) | u64::from(thread) << 32);
    }

    /// The region.
    pub fn region(&self) -> u32 {
        load(&self.key) as u32
    }

    /// The thread's number in the team.
    #[inline(always)]
    pub fn thread(&self) -> u32 {
        (load(&self.key) >> 32) as u32
    }

    /// The executions with counts so far, and the sums of their counts.
    pub fn sums(&self) -> (u64, [u64; EVENTS]) {
        (load(&self.counted), std::array::from_fn(|event| load(&self.counts[event])))
    }

    /// Adds an execution. `cpu` returns the hardware context of the thread.
    #[inline(always)]
    pub fn add(&self, ticks: u64, cpu: impl FnOnce() -> Option<u32>) {
        let executions = load(&self.executions);
        if executions % SAMPLE == 0 {
            self.sample_cpu(cpu);
        }
        store(&self.executions, executions + 1);
        add(&self.ticks, ticks);
    }

    /// Adds an execution without its time and counts, which are in those of the execution of the same region
    /// around it.
    pub fn add_within(&self, is_counted: bool) {
        add(&self.executions, 1);
        add(&self.counted, is_counted.into());
    }

    /// Adds a timed execution that stands for `weight` of them.
    pub fn add_weighted(&self, ticks: u64, weight: u32, cpu: impl FnOnce() -> Option<u32>) {
        let (executions, weight) = (load(&self.executions), u64::from(weight));
        // As often as if all of them had been added.
        if executions.div_ceil(SAMPLE) != (executions + weight).div_ceil(SAMPLE) {
            self.sample_cpu(cpu);
        }
        store(&self.executions, executions + weight);
        add(&self.ticks, ticks.wrapping_mul(weight));
    }

    /// Adds the counts of an execution. `add_to` adds one count for each event, or returns false.
    #[inline(always)]
    pub fn count(&self, add_to: impl FnOnce(&[AtomicU64; EVENTS]) -> bool) {
        if add_to(&self.counts) {
            add(&self.counted, 1);
        }
    }

    /// Samples the hardware context of the thread.
    #[inline(never)]
    pub fn sample_cpu(&self, cpu: impl FnOnce() -> Option<u32>) {
        let Some(cpu) = cpu() else { return };
        let (before, now) = (load(&self.cpu), u64::from(cpu) + 1);
        store(&self.cpu, now);
        if before != now && before != 0 {
            add(&self.moves, 1);
        }
    }
}

/// The executions of one region that a thread started.
#[derive(Debug)]
#[repr(C)]
pub struct PrimaryStats {
    header: AtomicU64,
    pub(super) region: AtomicU64,
    /// The number of the [`Thread`](super::Thread).
    pub(super) starter: AtomicU64,
    /// The executions inside another region, also those of `within`.
    pub(super) nested: AtomicU64,
    /// The executions inside another execution of the same region. Only the outermost one has the time.
    pub(super) within: AtomicU64,
    /// The ticks of executions inside another region.
    pub(super) nested_ticks: AtomicU64,
    /// The ticks that timing an execution usually costs, at the latest execution that was chosen for it.
    pub(super) cost: AtomicU64,
    /// The ticks of the shortest execution; `u64::MAX` before the first.
    pub(super) shortest: AtomicU64,
    pub(super) longest: AtomicU64,
    pub(super) teams: [Size; SIZES],
    pub(super) bins: Bins,
    /// The sum of w (w - 1) t² over timed executions of weight w and ticks t, as the bits of an `f64`.
    pub(super) squares: AtomicU64,
}

/// The number of team sizes in a record: more than adaptation has candidates. Further sizes share the
/// last place.
pub(super) const SIZES: usize = 16;

/// Executions with teams of one size.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Size {
    pub(super) threads: AtomicU64,
    /// The timed executions.
    pub(super) executions: AtomicU64,
    /// Their ticks.
    pub(super) ticks: AtomicU64,
    /// The untimed executions for which they stand, and the ticks of these if they are alike.
    pub(super) represented: AtomicU64,
    pub(super) represented_ticks: AtomicU64,
}

/// The place of an execution among others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nested {
    /// It is inside no other region.
    No,
    /// It is inside another region.
    Inside,
    /// It is inside another execution of the same region.
    Within,
}

impl PrimaryStats {
    /// A record outside of any arena. It has 9 kB, which is too much for a small stack.
    pub const fn unrecorded() -> PrimaryStats {
        PrimaryStats { shortest: AtomicU64::new(u64::MAX), ..zeroed() }
    }

    /// Sets the region of a new record.
    pub fn set_key(&self, region: u32) {
        store(&self.region, u64::from(region));
        store(&self.shortest, u64::MAX);
        self.bins.begin();
    }

    /// The region.
    pub fn region(&self) -> u32 {
        load(&self.region) as u32
    }

    /// Sets the thread that starts the executions.
    pub fn set_starter(&self, thread: u32) {
        store(&self.starter, thread.into());
    }

    /// Adds an execution with a team of `threads`: `ticks` long, `since` ticks after the start of the
    /// process.
    ///
    /// # Safety
    /// `latest` must belong to this record, from [`CurrentBin::none()`] on.
    #[inline(always)]
    pub unsafe fn add(
        &self,
        latest: &CurrentBin,
        since: u64,
        ticks: u64,
        threads: u32,
        nested: impl FnOnce() -> Nested,
    ) {
        let first = &self.teams[0];
        let is_first = load(&first.threads) == u64::from(threads);
        let size = if is_first { first } else { self.size(threads) };
        let nested = nested();
        if nested == Nested::Within {
            add(&self.nested, 1);
            add(&self.within, 1);
            return add(&size.executions, 1);
        }
        add(&size.ticks, ticks);
        add(&size.executions, 1);
        if ticks < load(&self.shortest) {
            store(&self.shortest, ticks);
        }
        if ticks > load(&self.longest) {
            store(&self.longest, ticks);
        }
        if nested == Nested::No {
            // SAFETY: as the caller guarantees.
            unsafe { self.bins.add(latest, since, ticks, u64::from(threads)) };
        } else {
            add(&self.nested, 1);
            add(&self.nested_ticks, ticks);
        }
    }

    /// As [`add`](Self::add), for an execution inside no other region that stands for `weight` of them.
    ///
    /// # Safety
    /// As there.
    pub unsafe fn add_weighted(
        &self,
        latest: &CurrentBin,
        since: u64,
        ticks: u64,
        threads: u32,
        weight: u32,
    ) {
        let others = u64::from(weight).saturating_sub(1);
        let size = self.size(threads);
        add(&size.ticks, ticks);
        add(&size.represented_ticks, ticks.wrapping_mul(others));
        add(&size.represented, others);
        // The process may end between any two stores: the number of executions is one store.
        add(&size.executions, 1);
        store(&self.shortest, load(&self.shortest).min(ticks));
        store(&self.longest, load(&self.longest).max(ticks));
        if others > 0 {
            let square = (u64::from(weight) * others) as f64 * ticks as f64 * ticks as f64;
            store(&self.squares, (f64::from_bits(load(&self.squares)) + square).to_bits());
        }
        // SAFETY: as the caller guarantees.
        unsafe { self.bins.add(latest, since, ticks, u64::from(threads)) };
    }

    /// Sets the ticks that timing an execution usually costs.
    pub fn set_cost(&self, ticks: u64) {
        store(&self.cost, ticks);
    }

    /// Puts `ticks` of executions that are not timed into the bins, evenly between `from` and `to`.
    ///
    /// # Safety
    /// As of [`add`](Self::add).
    pub unsafe fn put_untimed(
        &self,
        latest: &CurrentBin,
        (from, to): (u64, u64),
        ticks: u64,
        threads: u32,
    ) {
        // SAFETY: as the caller guarantees.
        unsafe { self.bins.add_evenly(latest, (from, to), ticks, u64::from(threads)) };
    }

    /// Adds the widths of the region's teams to `widths`. A usual team has `usual` threads.
    pub fn add_widths(&self, usual: u32, widths: &mut Widths) {
        for size in &self.teams {
            match load(&size.threads) {
                0 => return,
                wide if wide >= u64::from(usual) => widths.wide += load(&size.executions),
                _ => {
                    widths.narrow += load(&size.executions);
                    widths.narrow_ticks += load(&size.ticks);
                }
            }
        }
    }

    #[inline(never)]
    pub(super) fn size(&self, threads: u32) -> &Size {
        let mut sizes = self.teams.iter();
        let size = sizes.find(|size| {
            let known = load(&size.threads);
            known == u64::from(threads) || known == 0
        });
        let size = size.unwrap_or(&self.teams[SIZES - 1]);
        store(&size.threads, u64::from(threads));
        size
    }
}

/// The widths of teams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Widths {
    /// Executions with the usual number of threads or more.
    pub wide: u64,
    /// Executions with fewer threads, and their ticks.
    pub narrow: u64,
    /// See [`narrow`](Widths::narrow).
    pub narrow_ticks: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn teams_are_wide_or_narrow() {
        let (primary_stats, latest) = (PrimaryStats::unrecorded(), CurrentBin::none());
        let mut widths = Widths::default();
        primary_stats.add_widths(4, &mut widths);
        assert_eq!(widths, Widths::default());
        for (threads, ticks) in [(4, 10), (2, 20), (4, 30), (1, 40), (8, 50)] {
            // SAFETY: `latest` belongs to this record.
            unsafe { primary_stats.add(&latest, 5, ticks, threads, || Nested::No) };
        }
        primary_stats.add_widths(4, &mut widths);
        assert_eq!(widths, Widths { wide: 3, narrow: 2, narrow_ticks: 60 });
        primary_stats.add_widths(1, &mut widths);
        assert_eq!(widths, Widths { wide: 3 + 5, narrow: 2, narrow_ticks: 60 });
    }

    #[test]
    fn a_row_counts_a_move_when_another_thread_takes_it_over() {
        let row = Row::unrecorded();
        row.sample_cpu(|| None);
        row.add(5, || Some(3));
        row.add(5, || Some(9));
        assert_eq!((load(&row.cpu), load(&row.moves)), (4, 0), "sampled in every 16th execution");
        row.sample_cpu(|| Some(3));
        row.sample_cpu(|| Some(4));
        assert_eq!((load(&row.cpu), load(&row.moves)), (5, 1));
    }
}
