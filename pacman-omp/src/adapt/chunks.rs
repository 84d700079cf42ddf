//! How many chunks of a dynamic loop a thread takes at once.
//!
//! `schedule(dynamic, c)` gives each chunk of `c` iterations to the next thread that asks. A thread that
//! asks again before the others do has two chunks in a row. So a loop whose threads always take `m` chunks
//! at once is one of the outcomes that the program must expect, and no guard is needed. Fewer requests cost
//! less; a loop of 10 ns an iteration takes a tenth of its time.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use try_lock::TryLock;

/// The next multiple to try, over the present one.
const STEP: u32 = 4;

/// The executions that are measured of each multiple; the shortest counts, because another program can only
/// lengthen one.
const MEASURED: u32 = 3;

/// A multiple must be this much better than the best one: 3 %, as 32 parts of 33.
const BETTER: (u64, u64) = (32, 33);

/// The search ends after so many multiples in a row that are not better.
const WORSE: u32 = 2;

/// The chunks that remain for each thread. The last one ends at most a hundredth of a thread's share late,
/// where iterations take equally long.
const REMAIN: u64 = 128;

/// The state of the search in one region.
#[derive(Debug)]
pub(super) struct ChunkSearch {
    stage: AtomicU8,
    /// The chunks that a thread takes at once now.
    multiple: AtomicU32,
    measured: TryLock<Measured>,
}

/// Nothing is known before the first execution.
const UNKNOWN: u8 = 0;
const SEARCHED: u8 = 1;
const SETTLED: u8 = 2;

#[derive(Debug, Default)]
struct Measured {
    /// The executions at the present multiple, and the shortest time for a chunk of the program, in ticks
    /// over [`UNIT`].
    count: u32,
    shortest: u64,
    /// The same time of the best multiple, and that multiple.
    best: Option<(u64, u32)>,
    /// The multiples since then that were not better.
    worse: u32,
}

/// Times of chunks have ten binary digits behind the point.
const UNIT: u64 = 1 << 10;

impl Default for ChunkSearch {
    fn default() -> ChunkSearch {
        ChunkSearch {
            stage: AtomicU8::new(UNKNOWN),
            multiple: AtomicU32::new(1),
            measured: TryLock::new(Measured::default()),
        }
    }
}

impl ChunkSearch {
    /// The chunks that threads take at once in the next execution.
    #[inline]
    pub(super) fn multiple(&self) -> u32 {
        self.multiple.load(Ordering::Relaxed)
    }

    /// Whether threads take several chunks at once.
    #[inline]
    pub(super) fn are_joined(&self) -> bool {
        self.multiple() > 1
    }

    /// Whether the chunks of the next execution are to be counted.
    pub(super) fn wants_count(&self) -> bool {
        self.stage.load(Ordering::Relaxed) != SETTLED
    }

    /// Whether the next execution measures a multiple, so that nothing else may change.
    pub(super) fn is_searched(&self) -> bool {
        self.stage.load(Ordering::Relaxed) == SEARCHED
    }

    /// An execution of `size` threads has ended that took `ticks` and had `chunks` of the program. Chunks
    /// of `long` ticks are left alone.
    pub(super) fn ended(&self, size: u32, ticks: u64, chunks: u64, long: u64) {
        // Another thread runs the region as well: this execution is left out.
        let Some(mut measured) = self.measured.try_lock() else { return };
        match self.stage.load(Ordering::Relaxed) {
            // Everything is cold in the first execution.
            UNKNOWN => {
                let threads = u64::from(size);
                let is_short = ticks.saturating_mul(threads) / chunks.max(1) < long;
                let are_many = chunks / (threads.max(1) * REMAIN) > 1;
                let stage = if is_short && are_many && size > 0 { SEARCHED } else { SETTLED };
                self.stage.store(stage, Ordering::Relaxed);
            }
            SEARCHED => {
                let most = chunks / (u64::from(size.max(1)) * REMAIN);
                self.measure(&mut measured, ticks.saturating_mul(UNIT) / chunks.max(1), most);
            }
            _ => {}
        }
    }

    /// Takes a measurement: the time for a chunk. The loops have chunks for the multiple `most`.
    fn measure(&self, measured: &mut Measured, time: u64, most: u64) {
        measured.shortest = if measured.count == 0 { time } else { measured.shortest.min(time) };
        measured.count += 1;
        if measured.count < MEASURED {
            return;
        }
        measured.count = 0;
        let (time, multiple) = (measured.shortest, self.multiple());
        if measured.best.is_none_or(|(best, _)| time < best / BETTER.1 * BETTER.0) {
            (measured.best, measured.worse) = (Some((time, multiple)), 0);
        } else {
            measured.worse += 1;
        }
        let next = multiple.saturating_mul(STEP);
        if measured.worse < WORSE && u64::from(next) <= most {
            return self.multiple.store(next, Ordering::Relaxed);
        }
        let best = measured.best.map_or(1, |(_, best)| best);
        self.multiple.store(best, Ordering::Relaxed);
        self.stage.store(SETTLED, Ordering::Relaxed);
    }
}

/// The chunk for a thread that may take `multiple` of the program's chunks, of `chunk` iterations each, of
/// a loop that has `chunks` of them for `threads`.
pub(crate) fn joined(multiple: u32, chunk: i64, chunks: u64, threads: u32) -> i64 {
    let most = chunks / (u64::from(threads.max(1)) * REMAIN);
    let multiple = u64::from(multiple).min(most).max(1);
    i64::try_from(multiple).ok().and_then(|multiple| chunk.checked_mul(multiple)).unwrap_or(chunk)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: u64 = 40_000;

    /// A loop of 2^20 chunks by two threads. A request takes 200 ticks, a chunk `work`. Answers the multiple
    /// in the end and the executions until then.
    fn settled(work: u64) -> (u32, u32) {
        let (search, chunks) = (ChunkSearch::default(), 1 << 20);
        for execution in 1.. {
            let requests = chunks / u64::from(search.multiple());
            let ticks = (chunks * work + requests * 200) / 2;
            search.ended(2, ticks, chunks, LONG);
            if !search.wants_count() {
                return (search.multiple(), execution);
            }
        }
        unreachable!()
    }

    #[test]
    fn requests_that_cost_more_than_the_work_are_joined() {
        let (multiple, executions) = settled(20);
        assert!(multiple >= 64, "{multiple}");
        assert!(executions <= 22, "{executions}");
    }

    #[test]
    fn a_disturbed_execution_decides_nothing() {
        let (search, chunks) = (ChunkSearch::default(), 1_u64 << 20);
        for execution in 0.. {
            let requests = chunks / u64::from(search.multiple());
            let ticks = (chunks * 20 + requests * 200) / 2;
            // Every second one meets another program.
            search.ended(2, ticks * (1 + 3 * (execution % 2)), chunks, LONG);
            if !search.wants_count() {
                break;
            }
        }
        assert!(search.multiple() >= 64, "{}", search.multiple());
    }

    #[test]
    fn loops_of_long_chunks_are_left_alone() {
        assert_eq!(settled(LONG), (1, 1));
        let few = ChunkSearch::default();
        few.ended(2, 1000, 2 * REMAIN, LONG);
        assert_eq!((few.multiple(), few.wants_count()), (1, false), "a thread has 128 chunks");
        let none = ChunkSearch::default();
        none.ended(2, 1000, 0, LONG);
        assert_eq!((none.multiple(), none.wants_count()), (1, false));
    }

    #[test]
    fn a_multiple_that_is_not_better_is_taken_back() {
        let search = ChunkSearch::default();
        let chunks = 1 << 20;
        for execution in 0..10 {
            assert!(search.wants_count(), "{execution}");
            search.ended(2, 100_000_000 + u64::from(search.multiple()), chunks, LONG);
        }
        assert_eq!((search.multiple(), search.wants_count()), (1, false));
    }

    #[test]
    fn a_thread_keeps_at_least_128_chunks() {
        assert_eq!(joined(64, 1, 1 << 20, 2), 64);
        assert_eq!(joined(64, 3, 1 << 20, 2), 192);
        assert_eq!(joined(64, 1, 1 << 10, 2), 4);
        assert_eq!(joined(64, 1, 255, 2), 1);
        assert_eq!(joined(64, i64::MAX / 2, 1 << 20, 2), i64::MAX / 2, "the product is no number");
        for (multiple, chunks, threads) in [(7, 12_345, 3), (1024, 1 << 30, 64), (4, 300, 1)] {
            let joined = joined(multiple, 1, chunks, threads) as u64;
            assert!(joined == 1 || chunks / joined / u64::from(threads) >= REMAIN, "{joined}");
        }
    }
}
