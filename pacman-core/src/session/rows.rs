//! The cost of each phase on one thread so far, as words that others may read.

use std::sync::OnceLock;

use super::cells::{Cells, Execution, Seen, increase};
use super::patience::Patience;
use crate::backend::MAX_EVENTS;
use crate::plausible::Limits;
use crate::primitive::{Ordering, fence};

/// Rows that a thread has from the start: programs with fewer phases never
/// allocate one, and find it without a search.
const FIRST: usize = 16;
/// The number of further rows that are allocated together, when one of them is first used.
const CHUNK: usize = 16;
/// The entries of each of the two directories of further rows, which are allocated as late.
const ENTRIES: usize = 64;

/// The most phases of a session.
pub const MAX_PHASES: usize = ENTRIES * ENTRIES * CHUNK;

/// The rows of one thread, by phase number. Only that thread writes them.
///
/// There are four widths, so that the code that adds an execution is unrolled for its number of
/// events. Unused columns have no meaning.
#[derive(Debug)]
pub(crate) enum Rows {
    Four(RowsOf<4>),
    Eight(RowsOf<8>),
    Sixteen(RowsOf<16>),
    TwentyFour(RowsOf<MAX_EVENTS>),
}

/// Rows of up to `W` events.
///
/// It is small, because a thread makes it on its own stack, which may have the least possible size.
/// All large parts are on the heap from the start.
#[derive(Debug)]
pub(crate) struct RowsOf<const W: usize> {
    first: Box<[Cells<W>; FIRST]>,
    beyond: OnceLock<Directory<Directory<Box<[Cells<W>]>>>>,
    limits: Limits,
}

type Directory<T> = Box<[OnceLock<T>]>;

/// The position of a phase beyond the first rows: in both directories and in its chunk.
fn place(phase: u32) -> [usize; 3] {
    let phase = phase as usize;
    debug_assert!((FIRST..MAX_PHASES).contains(&phase));
    [phase / CHUNK / ENTRIES, phase / CHUNK % ENTRIES, phase % CHUNK]
}

fn directory<T>() -> Directory<T> {
    (0..ENTRIES).map(|_| OnceLock::new()).collect()
}

impl Rows {
    pub(crate) fn new(events: usize, limits: Limits) -> Rows {
        match events {
            0..=4 => Rows::Four(RowsOf::new(limits)),
            5..=8 => Rows::Eight(RowsOf::new(limits)),
            9..=16 => Rows::Sixteen(RowsOf::new(limits)),
            _ => Rows::TwentyFour(RowsOf::new(limits)),
        }
    }

    /// The limits of an execution.
    pub(crate) fn limits(&self) -> &Limits {
        match self {
            Rows::Four(rows) => &rows.limits,
            Rows::Eight(rows) => &rows.limits,
            Rows::Sixteen(rows) => &rows.limits,
            Rows::TwentyFour(rows) => &rows.limits,
        }
    }

    /// The row of a phase as it stands; `is_gone` tells whether its owner is not in this process.
    pub(crate) fn get(&self, phase: u32, is_gone: impl Fn() -> bool) -> Seen {
        match self {
            Rows::Four(rows) => rows.get(phase, is_gone),
            Rows::Eight(rows) => rows.get(phase, is_gone),
            Rows::Sixteen(rows) => rows.get(phase, is_gone),
            Rows::TwentyFour(rows) => rows.get(phase, is_gone),
        }
    }

    /// The phases that may have a row, ascending: all that have one, and some others.
    pub(crate) fn phases(&self) -> Vec<u32> {
        match self {
            Rows::Four(rows) => rows.phases(),
            Rows::Eight(rows) => rows.phases(),
            Rows::Sixteen(rows) => rows.phases(),
            Rows::TwentyFour(rows) => rows.phases(),
        }
    }
}

impl<const W: usize> RowsOf<W> {
    fn new(limits: Limits) -> RowsOf<W> {
        // One by one into the heap: an array would be made on the stack first.
        let first: Box<[Cells<W>]> = (0..FIRST).map(|_| Cells::none()).collect();
        RowsOf {
            first: first.try_into().unwrap_or_else(|_| unreachable!("{FIRST} were made")),
            beyond: OnceLock::new(),
            limits,
        }
    }

    #[inline(always)]
    fn cells(&self, phase: u32) -> &Cells<W> {
        match self.first.get(phase as usize) {
            Some(cells) => cells,
            None => self.cells_beyond(phase),
        }
    }

    /// Allocates when a phase of its chunk ends for the first time on this thread.
    #[inline(never)]
    fn cells_beyond(&self, phase: u32) -> &Cells<W> {
        let [outer, inner, row] = place(phase);
        let outer = &self.beyond.get_or_init(directory)[outer];
        let inner = &outer.get_or_init(directory)[inner];
        &inner.get_or_init(|| (0..CHUNK).map(|_| Cells::none()).collect())[row]
    }

    /// Adds a finished execution. Only the rows' owner calls this.
    #[inline(always)]
    pub(crate) fn add(&self, phase: u32, execution: Execution<'_, W>) {
        self.cells(phase).add(execution, &self.limits);
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

    fn find(&self, phase: u32) -> Option<&Cells<W>> {
        if let Some(cells) = self.first.get(phase as usize) {
            return Some(cells);
        }
        let [outer, inner, row] = place(phase);
        Some(&self.beyond.get()?[outer].get()?[inner].get()?[row])
    }

    fn get(&self, phase: u32, is_gone: impl Fn() -> bool) -> Seen {
        let Some(cells) = self.find(phase) else { return Seen::Never };
        let mut patience = Patience::with(is_gone);
        loop {
            // ATOMICS: the sequence lock of README.md, reader's side.
            let before = cells.sequence.load(Ordering::Acquire);
            if before == 0 {
                return Seen::Never;
            }
            if before & 1 == 0 {
                let row = cells.copy();
                fence(Ordering::Acquire);
                if cells.sequence.load(Ordering::Relaxed) == before {
                    return Seen::Whole(row);
                }
            }
            if !patience.wait() {
                return Seen::Cut;
            }
        }
    }

    fn phases(&self) -> Vec<u32> {
        let mut phases: Vec<u32> = (0..FIRST as u32).collect();
        let outer = self.beyond.get().into_iter().flatten().enumerate();
        for (outer, inner) in outer.filter_map(|(at, inner)| Some((at, inner.get()?))) {
            let chunks = inner.iter().enumerate().filter(|(_, chunk)| chunk.get().is_some());
            for (inner, _) in chunks {
                let first = ((outer * ENTRIES + inner) * CHUNK) as u32;
                phases.extend(first..first + CHUNK as u32);
            }
        }
        phases
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::session::cells::Row;
    use crate::stat::Stat;

    fn rows_of(events: usize) -> Rows {
        Rows::new(events, Limits::of(std::iter::empty(), 0, false))
    }

    fn add(rows: &Rows, phase: u32, ticks: u64, end: [u64; 4]) {
        let Rows::Four(rows) = rows else { panic!("four events are enough here") };
        let execution =
            Execution { ticks: 0..ticks, begin: &[0; 4], end: &end, times: None, panicked: false };
        rows.add(phase, execution);
    }

    fn seen(rows: &Rows, phase: u32) -> Option<Row> {
        match rows.get(phase, || false) {
            Seen::Never => None,
            Seen::Whole(row) => Some(row),
            Seen::Cut => panic!("nobody died"),
        }
    }

    #[test]
    fn every_phase_number_has_one_place() {
        let all: Vec<_> = (FIRST as u32..MAX_PHASES as u32).map(place).collect();
        assert!(all.is_sorted_by(|a, b| a < b));
        assert_eq!(all.last(), Some(&[ENTRIES - 1, ENTRIES - 1, CHUNK - 1]));
    }

    #[test]
    fn a_late_phase_takes_the_memory_of_a_few() {
        let rows = rows_of(3);
        add(&rows, MAX_PHASES as u32 - 1, 5, [1, 0, 0, 0]);
        assert_eq!(seen(&rows, MAX_PHASES as u32 - 1).unwrap().executions, 1);
        assert_eq!(seen(&rows, MAX_PHASES as u32 - 2), None);
        assert_eq!(rows.phases().len(), FIRST + CHUNK);
        assert_eq!(rows.phases().last(), Some(&(MAX_PHASES as u32 - 1)));
    }

    #[test]
    fn a_row_that_a_dead_owner_left_half_written_is_cut() {
        let rows = rows_of(3);
        add(&rows, 0, 5, [1, 0, 0, 0]);
        let Rows::Four(four) = &rows else { panic!("four events are enough here") };
        let sequence = four.cells(0).start_writing();
        assert_eq!(rows.get(0, || true), Seen::Cut);
        four.cells(0).finish_writing(sequence);
        assert!(matches!(rows.get(0, || true), Seen::Whole(_)));
    }

    #[test]
    fn rows_add_up_to_the_row_of_all_executions() {
        let (one, two, all) = (rows_of(2), rows_of(2), rows_of(2));
        for (ticks, count) in [(5, 100), (3, 7), (8, 9)] {
            add(&one, 0, ticks, [count, 2 * count, 0, 0]);
            add(&all, 0, ticks, [count, 2 * count, 0, 0]);
        }
        add(&two, 0, 1, [50, 0, 0, 0]);
        add(&all, 0, 1, [50, 0, 0, 0]);
        if let Rows::Four(rows) = &two {
            rows.add_recursion(1);
            let only_inside = seen(&two, 1).unwrap();
            let mut sum = only_inside.clone();
            sum.add(&seen(&one, 0).unwrap());
            assert_eq!((sum.ticks.min, sum.recursions), (3, 1), "no executions, no least");
        }
        let mut sum = seen(&one, 0).unwrap();
        sum.add(&seen(&two, 0).unwrap());
        assert_eq!(sum, seen(&all, 0).unwrap());
    }

    #[test]
    fn sums_and_extremes_follow_the_executions() {
        let rows = rows_of(2);
        assert_eq!((seen(&rows, 3), seen(&rows, 40)), (None, None));
        add(&rows, 40, 5, [100, 0, 0, 0]);
        add(&rows, 40, 3, [7, 2, 0, 0]);
        if let Rows::Four(rows) = &rows {
            rows.add_recursion(40);
        }
        let row = seen(&rows, 40).unwrap();
        assert_eq!((row.executions, row.recursions, row.panics), (2, 1, 0));
        assert_eq!(row.ticks, Stat { sum: 8, min: 3, max: 5 });
        assert_eq!(row.counts[0], Stat { sum: 107, min: 7, max: 100 });
        assert_eq!(row.counts[1], Stat { sum: 2, min: 0, max: 2 });
        assert_eq!(seen(&rows, 41), None, "its neighbour never ran");
    }

    #[test]
    fn each_width_holds_its_events() {
        for (events, columns) in [(1, 4), (4, 4), (5, 8), (8, 8), (9, 16), (16, 16), (17, 24)] {
            let rows = rows_of(events);
            match &rows {
                Rows::Four(rows) => rows.add_recursion(0),
                Rows::Eight(rows) => rows.add_recursion(0),
                Rows::Sixteen(rows) => rows.add_recursion(0),
                Rows::TwentyFour(rows) => rows.add_recursion(0),
            }
            assert_eq!(seen(&rows, 0).unwrap().counts.len(), columns);
        }
    }

    #[test]
    fn a_reader_sees_whole_rows_while_the_owner_writes() {
        let rows = rows_of(3);
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for _ in 0..100_000 {
                    add(&rows, 0, 2, [2, 4, 6, 0]);
                }
            });
            while !writer.is_finished() {
                if let Some(row) = seen(&rows, 0) {
                    assert_eq!(row.ticks.sum, 2 * row.executions);
                    assert_eq!(row.counts[2].sum, 6 * row.executions);
                }
            }
        });
        assert_eq!(seen(&rows, 0).unwrap().executions, 100_000);
    }
}

/// Run as `slot::model` is.
#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::primitive::interleave;
    use loom::sync::Arc;

    #[test]
    fn no_interleaving_tears_a_row() {
        let mut builder = loom::model::Builder::new();
        // A row is a dozen words: three changes of thread catch what more would.
        builder.preemption_bound = Some(3);
        interleave(builder, || {
            let rows = Arc::new(RowsOf::<1>::new(Limits::of(std::iter::empty(), 0, false)));
            let writer = {
                let rows = Arc::clone(&rows);
                loom::thread::spawn(move || {
                    for _ in 0..2 {
                        rows.add(
                            0,
                            Execution {
                                ticks: 7..10,
                                begin: &[0],
                                end: &[5],
                                times: None,
                                panicked: false,
                            },
                        );
                    }
                })
            };
            match rows.get(0, || false) {
                Seen::Never => {}
                Seen::Whole(row) => {
                    assert!((1..=2).contains(&row.executions));
                    let sums = [row.ticks.sum, row.counts[0].sum];
                    assert_eq!(sums, [3, 5].map(|one| one * row.executions));
                    assert_eq!([row.ticks.min, row.ticks.max], [3; 2]);
                    assert_eq!([row.counts[0].min, row.counts[0].max], [5; 2]);
                }
                Seen::Cut => panic!("nobody died"),
            }
            writer.join().unwrap();
            let Seen::Whole(row) = rows.get(0, || false) else { panic!("it ran twice") };
            assert_eq!((row.executions, row.counts[0].sum), (2, 10));
        });
    }
}
