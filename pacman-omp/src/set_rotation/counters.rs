//! The counters of one thread whose event sets take turns.

use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::{Ordering, compiler_fence};

use pacman_core::Attached;
use pacman_core::backend::Reading;
use pacman_regions::arena::{SetRow, SetTurn};

use super::SetOrder;
use crate::counting::{self, DEPTH, EventPlan, OPENING};
use crate::isolation::isolated;
use crate::process;
use crate::rows;

/// The changes of the set that tell what one costs: an even number, so that the first set is on the counters then.
const TRIES: usize = 6;

/// The counters of one thread. Only that thread uses them.
pub(crate) struct SetCounters {
    state: UnsafeCell<State>,
    /// A call is under way; a signal handler that interrupts it must not begin another.
    busy: Cell<bool>,
}

struct State {
    attached: Option<Attached>,
    /// The set on the counters; `None` after a change that failed.
    set: Option<usize>,
    plan: &'static EventPlan,
    /// The turns of all regions so far, and the number of the present one. A part inside others is of the
    /// outermost one's turn.
    turns: u64,
    turn: u64,
    /// The usual ticks of a change.
    change: u64,
    /// The open parts by nesting depth, those that are counted.
    open: [Option<OpenPart>; DEPTH],
    /// By number.
    regions: Vec<Option<RegionSets>>,
}

struct OpenPart {
    set: usize,
    turn: u64,
    reading: Reading,
}

/// The sets of one region.
struct RegionSets {
    order: SetOrder,
    /// The latest turn.
    turn: u64,
    /// The rows of each number that the thread had in the region, by set.
    rows: Vec<(u32, Box<[TurningRow]>)>,
}

/// A row, and its turn that may go on.
struct TurningRow {
    row: &'static SetRow,
    turn: Option<(u64, SetTurn)>,
}

impl SetCounters {
    /// Opens the calling thread's counters. If that fails the thread is only timed, and a note has the
    /// reason.
    pub(super) fn open() -> Option<SetCounters> {
        let plan = EventPlan::current();
        let attached = counting::attach(plan)?;
        // The thread may lose the processor in a change. If turns lasted as long as such a one pays for, they would be
        // few, and few turns say little. So the cost is that of the quickest of several.
        let clock = process::clock();
        let (mut set, mut change) = (Some(0), u64::MAX);
        for next in [1, 0].into_iter().cycle().take(TRIES) {
            let begun = clock.now();
            set = attached.put_set_on(next).is_ok().then_some(next);
            change = change.min(clock.now().saturating_sub(begun));
        }
        let state = State {
            attached: Some(attached),
            set,
            plan,
            turns: 0,
            turn: 0,
            change,
            open: [const { None }; DEPTH],
            regions: Vec::new(),
        };
        Some(SetCounters { state: UnsafeCell::new(state), busy: Cell::new(false) })
    }

    /// Begins a part of a region at nesting `depth`.
    pub(super) fn begin(&self, region: u32, depth: usize) {
        self.with(|state| state.begin(region, depth));
    }

    /// Ends a part that took `ticks`, as number `thread` of the team.
    pub(super) fn end(&self, region: u32, thread: u32, depth: usize, ticks: u64) {
        self.with(|state| state.end(region, thread, depth, ticks));
    }

    /// The work of a begin and an end without a region.
    pub(super) fn measure(&self) {
        self.with(State::measure);
    }

    /// The counts of a part with an empty body, by event: medians of so many rounds. No part is open.
    pub(super) fn empty_counts(&self, rounds: usize) -> Vec<Option<u64>> {
        self.with(|state| state.empty_counts(rounds)).unwrap_or_default()
    }

    /// How counts are read.
    pub(super) fn path(&self) -> &'static str {
        self.with(|state| state.attached.as_ref().map_or("none", counting::path)).unwrap_or("none")
    }

    /// The rows of all regions, to be given back.
    pub(super) fn rows(&self) -> Vec<&'static SetRow> {
        self.with(|state| {
            let regions = state.regions.iter().flatten();
            let rows = regions.flat_map(|region| &region.rows).flat_map(|(_, rows)| rows);
            rows.map(|own| own.row).collect()
        })
        .unwrap_or_default()
    }

    /// Calls `act` with the state; `None` if the caller is a signal handler that interrupted `act`.
    fn with<R>(&self, act: impl FnOnce(&mut State) -> R) -> Option<R> {
        if self.busy.replace(true) {
            return None;
        }
        // ATOMICS: orders this thread against its signal handlers.
        compiler_fence(Ordering::SeqCst);
        // SAFETY: only this thread uses it, and `busy` keeps others out until `act` returns.
        let result = act(unsafe { &mut *self.state.get() });
        compiler_fence(Ordering::SeqCst);
        self.busy.set(false);
        Some(result)
    }
}

impl State {
    fn begin(&mut self, region: u32, depth: usize) {
        if depth >= DEPTH {
            return;
        }
        self.open[depth] = None;
        if depth == 0 {
            self.take_turn(region);
        }
        let (Some(set), Some(attached)) = (self.set, &self.attached) else { return };
        let open = OpenPart { set, turn: self.turn, reading: Reading::EMPTY };
        let open = self.open[depth].insert(open);
        if attached.read_set(&mut open.reading).is_err() {
            self.open[depth] = None;
        }
    }

    fn end(&mut self, region: u32, thread: u32, depth: usize, ticks: u64) {
        if depth >= DEPTH {
            return;
        }
        if let Some(open) = self.open[depth].take() {
            self.add(region, thread, &open, ticks);
        }
        if let (0, Some(own)) = (depth, self.region(region)) {
            own.order.ended(ticks);
        }
    }

    /// Adds the counts since a part began, which took `ticks`.
    fn add(&mut self, region: u32, thread: u32, open: &OpenPart, ticks: u64) {
        let OpenPart { set, turn, reading } = open;
        let set = *set;
        if self.row(region, thread, set).is_none() {
            isolated(|| self.make_rows(region, thread));
        }
        // The counters have changed the set if a part inside ended after this one.
        let is_same = self.set == Some(set);
        let plan = self.plan;
        let Some(attached) = self.attached.as_ref().filter(|_| is_same) else { return };
        let own = self.regions.get_mut(region as usize).and_then(Option::as_mut);
        let Some(own) = own.and_then(|own| own.of(thread, set)) else { return };
        own.enter(*turn);
        let place = plan.measures.get(set);
        let before = place.map(|place| own.row.sum(*place));
        let mut is_counted = false;
        own.row.count(|sums| {
            is_counted = attached.add_set_since(reading, sums).is_ok();
            is_counted
        });
        if let (true, Some((_, begun))) = (is_counted, &own.turn) {
            let counted = place.map(|place| own.row.sum(*place)).zip(before);
            let measure = counted.map_or(ticks, |(after, before)| after.wrapping_sub(before));
            own.row.measure(begun, measure, plan.sets[set].len());
        }
    }

    /// Changes the set if the region has a turn for another one.
    fn take_turn(&mut self, region: u32) {
        if self.region(region).is_none() {
            isolated(|| self.enter(region));
        }
        let (change, turn) = (self.change, self.turns + 1);
        let Some(own) = self.region(region) else { return };
        let Some(next) = own.order.next(change) else {
            self.turn = own.turn;
            return;
        };
        (own.turn, self.turn, self.turns) = (turn, turn, turn);
        if self.set == Some(next) {
            return;
        }
        let clock = process::clock();
        let begun = clock.now();
        // The library's own stack, because a change makes system calls.
        let is_changed = isolated(|| {
            self.attached.as_ref().is_some_and(|attached| attached.put_set_on(next).is_ok())
        });
        let ticks = clock.now().saturating_sub(begun);
        // Again, one that took long says little.
        let usual = self.change;
        self.change = ticks.min(usual + (ticks.min(2 * usual).saturating_sub(usual)) / 16);
        self.set = is_changed.then_some(next);
    }

    fn measure(&mut self) {
        let Some(attached) = &self.attached else { return };
        let (mut reading, row) = (Reading::EMPTY, SetRow::unrecorded());
        let turn = row.begin_turn();
        if attached.read_set(&mut reading).is_ok() {
            row.count(|sums| attached.add_set_since(&reading, sums).is_ok());
            row.measure(&turn, 1, self.plan.sets[0].len());
        }
    }

    fn empty_counts(&mut self, rounds: usize) -> Vec<Option<u64>> {
        let mut all = vec![None; self.plan.events.len()];
        for (set, events) in self.plan.sets.iter().enumerate().rev() {
            let Some(attached) = &self.attached else { break };
            // The first set is the last one here, and stays on the counters.
            self.set = attached.put_set_on(set).is_ok().then_some(set);
            let (mut reading, row) = (Reading::EMPTY, SetRow::unrecorded());
            let mut each = Vec::with_capacity(rounds);
            for _ in 0..rounds {
                let before = row.sums();
                if attached.read_set(&mut reading).is_ok() {
                    row.count(|sums| attached.add_set_since(&reading, sums).is_ok());
                    each.push(counting::differences(&before, &row.sums()));
                }
            }
            for (known, found) in all.iter_mut().zip(counting::of_events(events, &each)) {
                *known = found.or(*known);
            }
        }
        all
    }

    fn region(&mut self, region: u32) -> Option<&mut RegionSets> {
        self.regions.get_mut(region as usize)?.as_mut()
    }

    fn enter(&mut self, region: u32) {
        let at = region as usize;
        if self.regions.len() <= at {
            self.regions.resize_with(at + 1, || None);
        }
        let order = SetOrder::new(region, self.plan.sets.len());
        self.regions[at] = Some(RegionSets { order, turn: 0, rows: Vec::new() });
    }

    fn row(&self, region: u32, thread: u32, set: usize) -> Option<&'static SetRow> {
        let own = self.regions.get(region as usize)?.as_ref()?;
        own.rows.iter().find(|(number, _)| *number == thread).map(|(_, rows)| rows[set].row)
    }

    fn make_rows(&mut self, region: u32, thread: u32) {
        if self.region(region).is_none() {
            self.enter(region);
        }
        let row = |set| TurningRow { row: rows::set_row(region, thread, set), turn: None };
        let rows = (0..self.plan.sets.len() as u32).map(row).collect();
        if let Some(own) = self.region(region) {
            own.rows.push((thread, rows));
        }
    }
}

impl RegionSets {
    fn of(&mut self, thread: u32, set: usize) -> Option<&mut TurningRow> {
        let rows = self.rows.iter_mut().find(|(number, _)| *number == thread);
        rows.map(|(_, rows)| &mut rows[set])
    }
}

impl TurningRow {
    /// Begins the turn of that number, if it is not the present one.
    fn enter(&mut self, turn: u64) {
        if self.turn.as_ref().is_none_or(|(known, _)| *known != turn) {
            self.turn = Some((turn, self.row.begin_turn()));
        }
    }
}

impl Drop for SetCounters {
    fn drop(&mut self) {
        let _one = OPENING.lock();
        self.state.get_mut().attached = None;
    }
}
