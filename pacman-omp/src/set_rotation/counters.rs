//! The counters of one thread whose event sets take turns.

use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::{Ordering, compiler_fence};

use pacman_core::Attached;
use pacman_core::backend::Reading;
use pacman_regions::arena::SetRow;

use super::SetOrder;
use crate::counting::{self, DEPTH, OPENING, Plan};
use crate::isolation::isolated;
use crate::process;
use crate::rows;

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
    sets: usize,
    /// The usual ticks of a change.
    change: u64,
    /// The open parts by nesting depth, those that are counted.
    open: [Option<OpenPart>; DEPTH],
    /// By number.
    regions: Vec<Option<RegionSets>>,
}

struct OpenPart {
    set: usize,
    reading: Reading,
}

/// The sets of one region.
struct RegionSets {
    order: SetOrder,
    /// The rows of each number that the thread had in the region, by set.
    rows: Vec<(u32, Box<[&'static SetRow]>)>,
}

impl SetCounters {
    /// Opens the calling thread's counters. If that fails the thread is only timed, and a note has the
    /// reason.
    pub(super) fn open() -> Option<SetCounters> {
        let plan = Plan::current();
        let attached = counting::attach(plan)?;
        let state = State {
            attached: Some(attached),
            set: Some(0),
            sets: plan.sets.len(),
            change: 0,
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

    /// How counts are read.
    pub(super) fn path(&self) -> &'static str {
        self.with(|state| state.attached.as_ref().map_or("none", counting::path)).unwrap_or("none")
    }

    /// The rows of all regions, to be given back.
    pub(super) fn rows(&self) -> Vec<&'static SetRow> {
        self.with(|state| {
            let regions = state.regions.iter().flatten();
            regions.flat_map(|region| &region.rows).flat_map(|(_, rows)| rows).copied().collect()
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
        let open = self.open[depth].insert(OpenPart { set, reading: Reading::EMPTY });
        if attached.read_set(&mut open.reading).is_err() {
            self.open[depth] = None;
        }
    }

    fn end(&mut self, region: u32, thread: u32, depth: usize, ticks: u64) {
        if depth >= DEPTH {
            return;
        }
        if let Some(open) = self.open[depth].take() {
            self.add(region, thread, &open);
        }
        if let (0, Some(own)) = (depth, self.region(region)) {
            own.order.ended(ticks);
        }
    }

    /// Adds the counts since a part began.
    fn add(&mut self, region: u32, thread: u32, open: &OpenPart) {
        let OpenPart { set, reading } = open;
        let set = *set;
        if self.row(region, thread, set).is_none() {
            isolated(|| self.make_rows(region, thread));
        }
        // The counters have changed the set if a part inside ended after this one.
        let is_same = self.set == Some(set);
        if let (Some(row), Some(attached)) =
            (self.row(region, thread, set), self.attached.as_ref().filter(|_| is_same))
        {
            row.count(|sums| attached.add_set_since(reading, sums).is_ok());
        }
    }

    /// Changes the set if the region has a turn for another one.
    fn take_turn(&mut self, region: u32) {
        if self.region(region).is_none() {
            isolated(|| self.enter(region));
        }
        let change = self.change;
        let Some(next) = self.region(region).and_then(|own| own.order.next(change)) else {
            return;
        };
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
        self.change = if self.change == 0 { ticks } else { (3 * self.change + ticks) / 4 };
        self.set = is_changed.then_some(next);
    }

    fn measure(&mut self) {
        let Some(attached) = &self.attached else { return };
        let (mut reading, row) = (Reading::EMPTY, SetRow::unrecorded());
        if attached.read_set(&mut reading).is_ok() {
            row.count(|sums| attached.add_set_since(&reading, sums).is_ok());
        }
    }

    fn region(&mut self, region: u32) -> Option<&mut RegionSets> {
        self.regions.get_mut(region as usize)?.as_mut()
    }

    fn enter(&mut self, region: u32) {
        let at = region as usize;
        if self.regions.len() <= at {
            self.regions.resize_with(at + 1, || None);
        }
        let order = SetOrder::new(region, self.sets);
        self.regions[at] = Some(RegionSets { order, rows: Vec::new() });
    }

    fn row(&self, region: u32, thread: u32, set: usize) -> Option<&'static SetRow> {
        let own = self.regions.get(region as usize)?.as_ref()?;
        own.rows.iter().find(|(number, _)| *number == thread).map(|(_, rows)| rows[set])
    }

    fn make_rows(&mut self, region: u32, thread: u32) {
        if self.region(region).is_none() {
            self.enter(region);
        }
        let rows = (0..self.sets as u32).map(|set| rows::set_row(region, thread, set)).collect();
        if let Some(own) = self.region(region) {
            own.rows.push((thread, rows));
        }
    }
}

impl Drop for SetCounters {
    fn drop(&mut self) {
        let _one = OPENING.lock();
        self.state.get_mut().attached = None;
    }
}
