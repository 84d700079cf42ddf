//! What each phase cost one thread so far, as words that others may read.

use std::sync::OnceLock;

use crate::backend::MAX_EVENTS;
use crate::primitive::{AtomicU64, Ordering, fence, relax};

/// Rows that a thread has from the start: programs with fewer phases never
/// allocate one, and find it without a search.
const FIRST: usize = 16;
/// Buckets of 16, 32, 64, … further rows: enough for 2^32 phases.
const BUCKETS: usize = 28;

/// The rows of one thread, by phase number; written by the thread alone.
///
/// Four widths, so that the code which folds an execution in is unrolled for
/// its number of events; unused columns mean nothing.
#[derive(Debug)]
pub(crate) enum Rows {
    Four(RowsOf<4>),
    Eight(RowsOf<8>),
    Sixteen(RowsOf<16>),
    TwentyFour(RowsOf<MAX_EVENTS>),
}

/// Rows of up to `W` events.
#[derive(Debug)]
pub(crate) struct RowsOf<const W: usize> {
    first: Box<[Cells<W>; FIRST]>,
    buckets: [OnceLock<Box<[Cells<W>]>>; BUCKETS],
}

/// One row.
#[derive(Debug)]
struct Cells<const W: usize> {
    sequence: AtomicU64,
    executions: AtomicU64,
    recursions: AtomicU64,
    panics: AtomicU64,
    enabled: AtomicU64,
    running: AtomicU64,
    time: StatCells,
    events: [StatCells; W],
}

#[derive(Debug)]
struct StatCells {
    sum: AtomicU64,
    max: AtomicU64,
    /// The greatest number until there is a value.
    min: AtomicU64,
}

/// One finished execution of a phase.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Execution<'a, const W: usize> {
    pub(crate) ticks: u64,
    pub(crate) begin: &'a [u64; W],
    pub(crate) end: &'a [u64; W],
    /// Times enabled and running, of a group that shares its counters.
    pub(crate) times: Option<(u64, u64)>,
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

impl Stat {
    /// Of the executions of both; each must have some.
    pub(crate) fn and(self, other: Stat) -> Stat {
        Stat {
            sum: self.sum.wrapping_add(other.sum),
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }
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
    /// One entry a column; those beyond the set's events mean nothing.
    pub(crate) counts: Vec<Stat>,
}

/// The bucket of a phase beyond the first rows, and its place in it.
fn place(phase: u32) -> (usize, usize) {
    let phase = phase as usize;
    debug_assert!(phase >= FIRST);
    let bucket = phase.ilog2() as usize - FIRST.ilog2() as usize;
    (bucket, phase - (FIRST << bucket))
}

impl Rows {
    pub(crate) fn new(events: usize) -> Rows {
        match events {
            0..=4 => Rows::Four(RowsOf::new()),
            5..=8 => Rows::Eight(RowsOf::new()),
            9..=16 => Rows::Sixteen(RowsOf::new()),
            _ => Rows::TwentyFour(RowsOf::new()),
        }
    }

    /// The row of a phase as it stands, or `None` if the phase never ran here.
    pub(crate) fn get(&self, phase: u32) -> Option<Row> {
        match self {
            Rows::Four(rows) => rows.get(phase),
            Rows::Eight(rows) => rows.get(phase),
            Rows::Sixteen(rows) => rows.get(phase),
            Rows::TwentyFour(rows) => rows.get(phase),
        }
    }
}

impl<const W: usize> RowsOf<W> {
    fn new() -> RowsOf<W> {
        RowsOf {
            first: Box::new(std::array::from_fn(|_| Cells::none())),
            buckets: std::array::from_fn(|_| OnceLock::new()),
        }
    }

    #[inline(always)]
    fn cells(&self, phase: u32) -> &Cells<W> {
        match self.first.get(phase as usize) {
            Some(cells) => cells,
            None => self.cells_beyond(phase),
        }
    }

    /// Allocates when a phase of its bucket ends for the first time on this thread.
    fn cells_beyond(&self, phase: u32) -> &Cells<W> {
        let (bucket, row) = place(phase);
        let rows = self.buckets[bucket]
            .get_or_init(|| (0..FIRST << bucket).map(|_| Cells::none()).collect());
        &rows[row]
    }

    /// Adds a finished execution. Only the rows' owner calls this.
    #[inline(always)]
    pub(crate) fn add(&self, phase: u32, execution: &Execution<'_, W>) {
        let cells = self.cells(phase);
        let sequence = cells.start_writing();
        increase(&cells.executions, 1);
        if execution.panicked {
            increase(&cells.panics, 1);
        }
        if let Some((enabled, running)) = execution.times {
            increase(&cells.enabled, enabled);
            increase(&cells.running, running);
        }
        cells.time.fold(execution.ticks);
        for ((stat, end), begin) in cells.events.iter().zip(execution.end).zip(execution.begin) {
            stat.fold(end.wrapping_sub(*begin));
        }
        cells.finish_writing(sequence);
    }

    /// Notes an execution inside one of the same phase: it is part of the outer
    /// one's cost already.
    #[cold]
    pub(crate) fn add_recursion(&self, phase: u32) {
        let cells = self.cells(phase);
        let sequence = cells.start_writing();
        increase(&cells.recursions, 1);
        cells.finish_writing(sequence);
    }

    fn get(&self, phase: u32) -> Option<Row> {
        let cells = match self.first.get(phase as usize) {
            Some(cells) => cells,
            None => {
                let (bucket, row) = place(phase);
                &self.buckets[bucket].get()?[row]
            }
        };
        loop {
            // ATOMICS: the sequence lock of README.md, reader's side.
            let before = cells.sequence.load(Ordering::Acquire);
            if before == 0 {
                return None;
            }
            if before & 1 == 0 {
                let row = cells.copy();
                fence(Ordering::Acquire);
                if cells.sequence.load(Ordering::Relaxed) == before {
                    return Some(row);
                }
            }
            relax();
        }
    }
}

impl<const W: usize> Cells<W> {
    fn none() -> Cells<W> {
        Cells {
            sequence: AtomicU64::new(0),
            executions: AtomicU64::new(0),
            recursions: AtomicU64::new(0),
            panics: AtomicU64::new(0),
            enabled: AtomicU64::new(0),
            running: AtomicU64::new(0),
            time: StatCells::none(),
            events: std::array::from_fn(|_| StatCells::none()),
        }
    }

    // ATOMICS: the sequence lock of README.md, writer's side; one writer, so a plain
    // load of its own sequence will do.
    #[inline(always)]
    fn start_writing(&self) -> u64 {
        let sequence = self.sequence.load(Ordering::Relaxed);
        self.sequence.store(sequence.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        sequence
    }

    #[inline(always)]
    fn finish_writing(&self, sequence: u64) {
        self.sequence.store(sequence.wrapping_add(2), Ordering::Release);
    }

    fn copy(&self) -> Row {
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
            ticks: stat(&self.time),
            counts: self.events.iter().map(stat).collect(),
        }
    }
}

impl StatCells {
    fn none() -> StatCells {
        StatCells { sum: AtomicU64::new(0), max: AtomicU64::new(0), min: AtomicU64::new(u64::MAX) }
    }

    #[inline(always)]
    fn fold(&self, value: u64) {
        increase(&self.sum, value);
        if self.max.load(Ordering::Relaxed) < value {
            self.max.store(value, Ordering::Relaxed);
        }
        if self.min.load(Ordering::Relaxed) > value {
            self.min.store(value, Ordering::Relaxed);
        }
    }
}

// ATOMICS: one writer, so load and store need not be one operation.
#[inline(always)]
fn increase(word: &AtomicU64, by: u64) {
    word.store(word.load(Ordering::Relaxed).wrapping_add(by), Ordering::Relaxed);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn add(rows: &Rows, phase: u32, ticks: u64, end: [u64; 4]) {
        let Rows::Four(rows) = rows else { panic!("four events are enough here") };
        let execution =
            Execution { ticks, begin: &[0; 4], end: &end, times: None, panicked: false };
        rows.add(phase, &execution);
    }

    #[test]
    fn every_phase_number_has_one_place() {
        let mut expected = (0, 0);
        for phase in FIRST as u32..100_000 {
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
        assert_eq!((rows.get(3), rows.get(40)), (None, None));
        add(&rows, 40, 5, [100, 0, 0, 0]);
        add(&rows, 40, 3, [7, 2, 0, 0]);
        if let Rows::Four(rows) = &rows {
            rows.add_recursion(40);
        }
        let row = rows.get(40).unwrap();
        assert_eq!((row.executions, row.recursions, row.panics), (2, 1, 0));
        assert_eq!(row.ticks, Stat { sum: 8, min: 3, max: 5 });
        assert_eq!(row.counts[0], Stat { sum: 107, min: 7, max: 100 });
        assert_eq!(row.counts[1], Stat { sum: 2, min: 0, max: 2 });
        assert_eq!(rows.get(41), None, "its neighbour never ran");
    }

    #[test]
    fn each_width_holds_its_events() {
        for (events, columns) in [(1, 4), (4, 4), (5, 8), (8, 8), (9, 16), (16, 16), (17, 24)] {
            let rows = Rows::new(events);
            match &rows {
                Rows::Four(rows) => rows.add_recursion(0),
                Rows::Eight(rows) => rows.add_recursion(0),
                Rows::Sixteen(rows) => rows.add_recursion(0),
                Rows::TwentyFour(rows) => rows.add_recursion(0),
            }
            assert_eq!(rows.get(0).unwrap().counts.len(), columns);
        }
    }

    #[test]
    fn a_reader_sees_whole_rows_while_the_owner_writes() {
        let rows = Rows::new(3);
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for _ in 0..100_000 {
                    add(&rows, 0, 2, [2, 4, 6, 0]);
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
