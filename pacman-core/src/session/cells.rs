//! One row: the sums of a phase on one thread, as words that other threads may read.

use std::ops::Range;

use crate::plausible::{Doubt, Limits};
use crate::primitive::{AtomicU64, Ordering, fence, made, own, own_plain};
use crate::stat::Stat;

/// One row.
#[derive(Debug)]
pub(super) struct Cells<const W: usize> {
    pub(super) sequence: AtomicU64,
    executions: AtomicU64,
    pub(super) recursions: AtomicU64,
    panics: AtomicU64,
    enabled: AtomicU64,
    running: AtomicU64,
    /// Executions left out of all sums, and the reason for the first.
    set_aside: AtomicU64,
    doubt: [AtomicU64; 3],
    time: StatCells,
    events: [StatCells; W],
}

#[derive(Debug)]
struct StatCells {
    sum: AtomicU64,
    max: AtomicU64,
    /// `u64::MAX` until there is a value.
    min: AtomicU64,
}

/// One finished execution of a phase.
#[derive(Clone, Debug)]
pub(crate) struct Execution<'a, const W: usize> {
    pub(crate) ticks: Range<u64>,
    pub(crate) begin: &'a [u64; W],
    pub(crate) end: &'a [u64; W],
    /// Enabled and running time, for a group that shares its counters.
    pub(crate) times: Option<(u64, u64)>,
    pub(crate) panicked: bool,
}

/// A row as it stood at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) executions: u64,
    pub(crate) recursions: u64,
    pub(crate) panics: u64,
    pub(crate) enabled: u64,
    pub(crate) running: u64,
    /// Executions left out of all sums, and the reason for the first.
    pub(crate) set_aside: Option<(u64, Doubt)>,
    pub(crate) ticks: Stat,
    /// One entry per column. Entries beyond the set's events have no meaning.
    pub(crate) counts: Vec<Stat>,
}

/// The result of a look at a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// The phase never ran here.
    Never,
    Whole(Row),
    /// The owner stopped in the middle of a write.
    Cut,
}

impl Row {
    /// Adds the executions of another thread.
    pub(crate) fn add(&mut self, other: &Row) {
        let both = |one: Stat, two: Stat| match (self.executions, other.executions) {
            (0, _) => two,
            (_, 0) => one,
            _ => one.and(two),
        };
        self.ticks = both(self.ticks, other.ticks);
        let counts = self.counts.iter().zip(&other.counts);
        self.counts = counts.map(|(one, two)| both(*one, *two)).collect();
        self.executions += other.executions;
        self.recursions += other.recursions;
        self.panics += other.panics;
        self.enabled += other.enabled;
        self.set_aside = match (self.set_aside, other.set_aside) {
            (Some((one, doubt)), Some((other, _))) => Some((one + other, doubt)),
            (one, other) => one.or(other),
        };
        self.running += other.running;
    }
}

impl<const W: usize> Cells<W> {
    pub(super) fn none() -> Cells<W> {
        Cells {
            sequence: AtomicU64::new(0),
            executions: AtomicU64::new(0),
            recursions: AtomicU64::new(0),
            panics: AtomicU64::new(0),
            enabled: AtomicU64::new(0),
            running: AtomicU64::new(0),
            set_aside: AtomicU64::new(0),
            doubt: std::array::from_fn(|_| AtomicU64::new(0)),
            time: StatCells::none(),
            events: std::array::from_fn(|_| StatCells::none()),
        }
    }

    /// Adds a finished execution.
    ///
    /// An execution with a new extreme is checked first. If it is impossible, it is set aside.
    // By value: for a reference the hot path would have to build the structure in memory.
    #[inline(always)]
    pub(super) fn add(&self, execution: Execution<'_, W>, limits: &Limits) {
        let time = made(execution.time());
        let mut usual = self.time.spans(time);
        let mut counts = [0; W];
        for (at, (stat, count)) in self.events.iter().zip(&mut counts).enumerate() {
            if usual {
                *count = made(execution.count(at));
                usual = stat.spans(*count);
            }
        }
        if !usual {
            let unusual = execution;
            return self.add_unusual(&unusual, limits);
        }
        let sequence = self.start_writing();
        increase(&self.time.sum, time);
        for (stat, count) in self.events.iter().zip(counts) {
            increase(&stat.sum, count);
        }
        self.note(&execution);
        self.finish_writing(sequence);
    }

    /// Adds an execution with a new extreme of its time or of a count.
    #[cold]
    #[inline(never)]
    pub(super) fn add_unusual(&self, execution: &Execution<'_, W>, limits: &Limits) {
        let counts: [u64; W] = std::array::from_fn(|at| execution.count(at));
        let doubt = limits.judge(execution.ticks.clone(), &counts);
        let sequence = self.start_writing();
        match doubt {
            None => {
                self.time.fold(execution.time());
                for (stat, count) in self.events.iter().zip(counts) {
                    stat.fold(count);
                }
                self.note(execution);
            }
            Some(doubt) => {
                if own(&self.set_aside) == 0 {
                    for (cell, word) in self.doubt.iter().zip(doubt.to_words()) {
                        cell.store(word, Ordering::Relaxed);
                    }
                }
                increase(&self.set_aside, 1);
            }
        }
        self.finish_writing(sequence);
    }

    // ATOMICS: the writer's side of the sequence lock of README.md. There is one writer, so a plain
    // load of its own sequence suffices.
    #[inline(always)]
    pub(super) fn start_writing(&self) -> u64 {
        let sequence = own(&self.sequence);
        self.sequence.store(sequence.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        sequence
    }

    #[inline(always)]
    pub(super) fn finish_writing(&self, sequence: u64) {
        self.sequence.store(sequence.wrapping_add(2), Ordering::Release);
    }

    /// Adds an execution to the sums.
    #[inline(always)]
    fn note(&self, execution: &Execution<'_, W>) {
        increase(&self.executions, 1);
        if execution.panicked {
            increase(&self.panics, 1);
        }
        if let Some((enabled, running)) = execution.times {
            increase(&self.enabled, enabled);
            increase(&self.running, running);
        }
    }

    pub(super) fn copy(&self) -> Row {
        let load = |word: &AtomicU64| word.load(Ordering::Relaxed);
        let executions = load(&self.executions);
        let stat = |cells: &StatCells| Stat {
            sum: load(&cells.sum),
            min: if executions > 0 { load(&cells.min) } else { 0 },
            max: load(&cells.max),
        };
        Row {
            executions,
            recursions: load(&self.recursions),
            panics: load(&self.panics),
            enabled: load(&self.enabled),
            running: load(&self.running),
            set_aside: Some(load(&self.set_aside))
                .filter(|times| *times > 0)
                .map(|times| (times, Doubt::from_words(self.doubt.each_ref().map(load)))),
            ticks: stat(&self.time),
            counts: self.events.iter().map(stat).collect(),
        }
    }
}

impl StatCells {
    fn none() -> StatCells {
        StatCells { sum: AtomicU64::new(0), max: AtomicU64::new(0), min: AtomicU64::new(u64::MAX) }
    }

    /// Whether a value is between the extremes, for the row's owner.
    #[inline(always)]
    fn spans(&self, value: u64) -> bool {
        // SAFETY: a row has one writer, which calls this.
        unsafe { own_plain(&self.max) >= value && own_plain(&self.min) <= value }
    }

    fn fold(&self, value: u64) {
        increase(&self.sum, value);
        if own(&self.max) < value {
            self.max.store(value, Ordering::Relaxed);
        }
        if own(&self.min) > value {
            self.min.store(value, Ordering::Relaxed);
        }
    }
}

// ATOMICS: one writer, so load and store need not be one operation.
#[inline(always)]
pub(super) fn increase(word: &AtomicU64, by: u64) {
    word.store(own(word).wrapping_add(by), Ordering::Relaxed);
}

impl<const W: usize> Execution<'_, W> {
    #[inline(always)]
    fn time(&self) -> u64 {
        self.ticks.end.wrapping_sub(self.ticks.start)
    }

    #[inline(always)]
    fn count(&self, at: usize) -> u64 {
        self.end[at].wrapping_sub(self.begin[at])
    }
}
