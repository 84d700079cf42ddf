//! What each phase cost one thread so far, as words that others may read.

use std::sync::OnceLock;

use crate::backend::MAX_EVENTS;
use crate::primitive::{AtomicU64, Ordering, fence, relax};

/// Rows of the first bucket; each further bucket holds twice as many as the last.
const FIRST: usize = 16;
/// Enough buckets for 2^28 phases.
const BUCKETS: usize = 24;

// The words of a row.
const SEQUENCE: usize = 0;
const EXECUTIONS: usize = 1;
const RECURSIONS: usize = 2;
const PANICS: usize = 3;
const ENABLED: usize = 4;
const RUNNING: usize = 5;
/// From here on in threes: time first, then each event.
const STATS: usize = 6;
const SUM: usize = 0;
const MAX: usize = 1;
/// The complement of the least value, so that zeroed memory means "none yet".
const NOT_MIN: usize = 2;
const STAT: usize = 3;

/// The rows of one thread, by phase number; written by the thread alone.
#[derive(Debug)]
pub(crate) struct Rows {
    events: usize,
    buckets: [OnceLock<Box<[AtomicU64]>>; BUCKETS],
}

/// One finished execution of a phase.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Execution<'a> {
    pub(crate) ticks: u64,
    pub(crate) counts: &'a [u64],
    pub(crate) enabled: u64,
    pub(crate) running: u64,
    pub(crate) panicked: bool,
}

/// Sum, least and greatest of one quantity over the executions of a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stat {
    /// The total.
    pub sum: u64,
    /// The least of a single execution.
    pub min: u64,
    /// The greatest of a single execution.
    pub max: u64,
}

/// A row as it stood at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) executions: u64,
    pub(crate) recursions: u64,
    pub(crate) panics: u64,
    pub(crate) enabled: u64,
    pub(crate) running: u64,
    pub(crate) ticks: Stat,
    pub(crate) counts: Vec<Stat>,
}

/// The bucket of a phase, and its place in it.
#[inline]
fn place(phase: u32) -> (usize, usize) {
    let shifted = phase as usize + FIRST;
    let bucket = shifted.ilog2() as usize - FIRST.ilog2() as usize;
    (bucket, shifted - (FIRST << bucket))
}

impl Rows {
    pub(crate) fn new(events: usize) -> Rows {
        assert!(events <= MAX_EVENTS);
        Rows { events, buckets: std::array::from_fn(|_| OnceLock::new()) }
    }

    fn stride(&self) -> usize {
        STATS + STAT * (1 + self.events)
    }

    #[inline]
    fn words(&self, phase: u32) -> &[AtomicU64] {
        let (bucket, row) = place(phase);
        let words = match self.buckets[bucket].get() {
            Some(words) => words,
            None => self.allocate(bucket),
        };
        &words[row * self.stride()..][..self.stride()]
    }

    #[cold]
    fn allocate(&self, bucket: usize) -> &[AtomicU64] {
        self.buckets[bucket].get_or_init(|| {
            (0..(FIRST << bucket) * self.stride()).map(|_| AtomicU64::new(0)).collect()
        })
    }

    /// Adds a finished execution. Only the rows' owner calls this.
    #[inline]
    pub(crate) fn add(&self, phase: u32, execution: &Execution<'_>) {
        let words = self.words(phase);
        // ATOMICS: the sequence lock of README.md, writer's side.
        let sequence = words[SEQUENCE].load(Ordering::Relaxed);
        words[SEQUENCE].store(sequence.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        increase(&words[EXECUTIONS], 1);
        if execution.panicked {
            increase(&words[PANICS], 1);
        }
        if execution.enabled != 0 {
            increase(&words[ENABLED], execution.enabled);
            increase(&words[RUNNING], execution.running);
        }
        let (time, events) = words[STATS..].split_at(STAT);
        fold(time, execution.ticks);
        for (stat, count) in events.chunks_exact(STAT).zip(execution.counts) {
            fold(stat, *count);
        }
        words[SEQUENCE].store(sequence.wrapping_add(2), Ordering::Release);
    }

    /// Notes an execution inside one of the same phase: it is part of the outer
    /// one's cost already.
    pub(crate) fn add_recursion(&self, phase: u32) {
        let words = self.words(phase);
        let sequence = words[SEQUENCE].load(Ordering::Relaxed);
        words[SEQUENCE].store(sequence.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        increase(&words[RECURSIONS], 1);
        words[SEQUENCE].store(sequence.wrapping_add(2), Ordering::Release);
    }

    /// The row of a phase as it stands, or `None` if the phase never ran here.
    pub(crate) fn get(&self, phase: u32) -> Option<Row> {
        let (bucket, row) = place(phase);
        let words = &self.buckets[bucket].get()?[row * self.stride()..][..self.stride()];
        let mut copy = vec![0u64; self.stride()];
        loop {
            // ATOMICS: the sequence lock of README.md, reader's side.
            let before = words[SEQUENCE].load(Ordering::Acquire);
            if before == 0 {
                return None;
            }
            if before & 1 == 0 {
                for (value, word) in copy.iter_mut().zip(words) {
                    *value = word.load(Ordering::Relaxed);
                }
                fence(Ordering::Acquire);
                if words[SEQUENCE].load(Ordering::Relaxed) == before {
                    break;
                }
            }
            relax();
        }
        let executed = copy[EXECUTIONS] > 0;
        let mut stats = copy[STATS..].chunks_exact(STAT).map(|stat| Stat {
            sum: stat[SUM],
            min: if executed { !stat[NOT_MIN] } else { 0 },
            max: stat[MAX],
        });
        Some(Row {
            executions: copy[EXECUTIONS],
            recursions: copy[RECURSIONS],
            panics: copy[PANICS],
            enabled: copy[ENABLED],
            running: copy[RUNNING],
            ticks: stats.next().expect("a row begins with time"),
            counts: stats.collect(),
        })
    }
}

// ATOMICS: one writer, so load and store need not be one operation.
#[inline]
fn increase(word: &AtomicU64, by: u64) {
    word.store(word.load(Ordering::Relaxed).wrapping_add(by), Ordering::Relaxed);
}

#[inline]
fn fold(stat: &[AtomicU64], value: u64) {
    increase(&stat[SUM], value);
    raise(&stat[MAX], value);
    raise(&stat[NOT_MIN], !value);
}

#[inline]
fn raise(word: &AtomicU64, to: u64) {
    if word.load(Ordering::Relaxed) < to {
        word.store(to, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn execution(ticks: u64, counts: &[u64]) -> Execution<'_> {
        Execution { ticks, counts, enabled: 0, running: 0, panicked: false }
    }

    #[test]
    fn every_phase_number_has_one_place() {
        let mut expected = (0, 0);
        for phase in 0..100_000 {
            assert_eq!(place(phase), expected, "phase {phase}");
            expected.1 += 1;
            if expected.1 == FIRST << expected.0 {
                expected = (expected.0 + 1, 0);
            }
        }
    }

    #[test]
    fn sums_and_extremes_follow_the_executions() {
        let rows = Rows::new(2);
        assert_eq!(rows.get(40), None);
        rows.add(40, &execution(5, &[100, 0]));
        rows.add(40, &execution(3, &[7, 2]));
        rows.add_recursion(40);
        let row = rows.get(40).unwrap();
        assert_eq!((row.executions, row.recursions, row.panics), (2, 1, 0));
        assert_eq!(row.ticks, Stat { sum: 8, min: 3, max: 5 });
        assert_eq!(row.counts[0], Stat { sum: 107, min: 7, max: 100 });
        assert_eq!(row.counts[1], Stat { sum: 2, min: 0, max: 2 });
        assert_eq!(rows.get(41), None, "its neighbour never ran");
    }

    #[test]
    fn a_reader_sees_whole_rows_while_the_owner_writes() {
        let rows = Rows::new(3);
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for _ in 0..100_000 {
                    rows.add(0, &execution(2, &[2, 4, 6]));
                }
            });
            while !writer.is_finished() {
                if let Some(row) = rows.get(0) {
                    assert_eq!(row.ticks.sum, 2 * row.executions);
                    assert_eq!(row.counts[2].sum, 6 * row.executions);
                }
            }
        });
        assert_eq!(rows.get(0).unwrap().executions, 100_000);
    }
}
