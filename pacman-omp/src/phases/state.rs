//! The phases of one thread.

use std::cell::{Cell, UnsafeCell};
use std::collections::BTreeMap;
use std::sync::atomic::{Ordering, compiler_fence};

use pacman_core::backend::Reading;
use pacman_regions::PhaseKind;
use pacman_regions::arena::PhaseRow;

use super::names::{self, Mark};
use crate::counting::Counters;
use crate::isolation::isolated;
use crate::rows;
use crate::waits::PhaseBegin;

/// A phase that the thread has begun before.
struct Known {
    hash: u64,
    kind: PhaseKind,
    name: Box<[u8]>,
    number: u32,
    /// `None` before the first execution, and again after a fork.
    row: Option<&'static PhaseRow>,
}

/// An execution that has begun.
pub(crate) struct Open {
    /// The index of its phase.
    at: usize,
    pub(crate) ticks: u64,
    /// The counters that count it; null without.
    pub(crate) counters: *const Counters,
    pub(crate) reading: Reading,
    /// If waits are timed.
    pub(crate) waits: Option<PhaseBegin>,
}

/// The phases of one thread.
#[derive(Default)]
pub(crate) struct Phases {
    known: Vec<Known>,
    /// One more than an index in `known`, or 0; a hash table with linear probing and a free half.
    places: Vec<u32>,
    /// The indices of the phases of sessions.
    marked: BTreeMap<Mark, usize>,
    /// The innermost is the last.
    open: Vec<Open>,
    /// The thread's number in rows.
    thread: Option<u32>,
}

/// The state of one thread. Only that thread uses it.
#[derive(Default)]
pub(crate) struct PhaseState {
    phases: UnsafeCell<Phases>,
    /// A call is under way; a signal handler that interrupts it must not begin another.
    busy: Cell<bool>,
    /// The label of the innermost open kernel of Kokkos; 0 without.
    label: Cell<u32>,
}

impl PhaseState {
    /// The label of the innermost open kernel of Kokkos; 0 without.
    #[inline]
    pub(crate) fn label(&self) -> u32 {
        self.label.get()
    }

    pub(crate) fn set_label(&self, label: u32) {
        self.label.set(label);
    }

    /// Calls `act` with the phases; `None` if the caller is a signal handler that interrupted `act`.
    #[inline]
    pub(crate) fn with<R>(&self, act: impl FnOnce(&mut Phases) -> R) -> Option<R> {
        if self.busy.replace(true) {
            return None;
        }
        // ATOMICS: orders this thread against its signal handlers.
        compiler_fence(Ordering::SeqCst);
        // SAFETY: only this thread uses them, and `busy` keeps others out until `act` returns.
        let result = act(unsafe { &mut *self.phases.get() });
        compiler_fence(Ordering::SeqCst);
        self.busy.set(false);
        Some(result)
    }

    /// The thread ends, and gives back its rows.
    pub(crate) fn retire(self) {
        let known = self.phases.into_inner().known;
        if !known.is_empty() {
            isolated(|| rows::give_back_phases(known.iter().filter_map(|known| known.row)));
        }
    }

    /// In the child of a fork: all rows are the parent's.
    pub(crate) fn forked(&self) {
        self.with(|phases| phases.known.iter_mut().for_each(|known| known.row = None));
    }
}

impl Phases {
    /// The index of a phase that the thread has begun before.
    #[inline]
    pub(crate) fn find(&self, kind: PhaseKind, name: &[u8]) -> Option<usize> {
        let hash = hash(kind, name);
        let mut place = hash as usize;
        loop {
            let mask = self.places.len().checked_sub(1)?;
            let at = self.places[place & mask].checked_sub(1)? as usize;
            let known = &self.known[at];
            if known.hash == hash && known.kind == kind && *known.name == *name {
                return Some(at);
            }
            place = place.wrapping_add(1);
        }
    }

    /// Adds a phase that the thread begins for the first time; `None` if the process has too many.
    /// `thread` gives the thread a number.
    pub(crate) fn enter(
        &mut self,
        kind: PhaseKind,
        name: &[u8],
        thread: impl FnOnce() -> u32,
    ) -> Option<usize> {
        let number = names::number(kind, name)?;
        self.thread.get_or_insert_with(thread);
        let (hash, name) = (hash(kind, name), name.into());
        self.known.push(Known { hash, kind, name, number, row: None });
        if 2 * self.known.len() > self.places.len() {
            self.places = vec![0; (4 * self.known.len()).next_power_of_two()];
            (0..self.known.len()).for_each(|at| self.place(at));
        } else {
            self.place(self.known.len() - 1);
        }
        Some(self.known.len() - 1)
    }

    /// The index of a phase of a session that the thread has begun before.
    #[inline]
    pub(crate) fn marked(&self, mark: Mark) -> Option<usize> {
        self.marked.get(&mark).copied()
    }

    /// As [`enter`](Self::enter), for a phase of a session. `None` also if it has no name.
    pub(crate) fn enter_marked(
        &mut self,
        mark: Mark,
        thread: impl FnOnce() -> u32,
    ) -> Option<usize> {
        let (kind, name) = (PhaseKind::Pacman, names::marked(mark)?);
        let known = self.find(kind, &name);
        let at = known.or_else(|| self.enter(kind, &name, thread))?;
        self.marked.insert(mark, at);
        Some(at)
    }

    /// The place of the latest open execution of a phase of a session.
    #[inline]
    pub(crate) fn latest_marked(&self, mark: Mark) -> Option<usize> {
        let at = self.marked(mark)?;
        self.open.iter().rposition(|open| open.at == at)
    }

    fn place(&mut self, at: usize) {
        let mask = self.places.len() - 1;
        let mut place = self.known[at].hash as usize;
        while self.places[place & mask] != 0 {
            place = place.wrapping_add(1);
        }
        self.places[place & mask] = at as u32 + 1;
    }

    /// Whether the next execution of a phase needs no memory.
    #[inline]
    pub(crate) fn is_prepared(&self, at: usize) -> bool {
        self.has_row(at) && self.open.len() < self.open.capacity()
    }

    /// Makes the memory for the next execution of a phase.
    pub(crate) fn prepare(&mut self, at: usize) {
        self.row(at);
        self.open.reserve(1);
    }

    /// The thread's row of a phase.
    pub(crate) fn row(&mut self, at: usize) -> &'static PhaseRow {
        let thread = self.thread.unwrap_or_default();
        let Known { number, row, .. } = &mut self.known[at];
        row.get_or_insert_with(|| rows::phase_row(*number, thread))
    }

    pub(crate) fn has_row(&self, at: usize) -> bool {
        self.known[at].row.is_some()
    }

    pub(crate) fn is_kernel(&self, at: usize) -> bool {
        self.known[at].kind.is_kernel()
    }

    pub(crate) fn number(&self, at: usize) -> u32 {
        self.known[at].number
    }

    /// Opens an execution, whose begin the caller fills in.
    #[inline]
    pub(crate) fn open(&mut self, at: usize) -> &mut Open {
        let (counters, reading) = (std::ptr::null(), Reading::EMPTY);
        self.open.push(Open { at, ticks: 0, counters, reading, waits: None });
        self.open.last_mut().expect("pushed above")
    }

    /// The place of the latest open execution whose phase `is_one` accepts, by kind, name and number.
    #[inline]
    pub(crate) fn latest(&self, is_one: impl Fn(PhaseKind, &[u8], u32) -> bool) -> Option<usize> {
        self.open.iter().rposition(|open| {
            let known = &self.known[open.at];
            is_one(known.kind, &known.name, known.number)
        })
    }

    /// Takes out an open execution, with the index of its phase.
    #[inline]
    pub(crate) fn close(&mut self, place: usize) -> (usize, Open) {
        let open = self.open.remove(place);
        (open.at, open)
    }

    /// The number of the innermost open kernel.
    pub(crate) fn innermost_kernel(&self) -> Option<u32> {
        let mut kernels =
            self.open.iter().rev().filter(|open| self.known[open.at].kind.is_kernel());
        kernels.next().map(|open| self.known[open.at].number)
    }
}

/// FNV-1a.
#[inline]
fn hash(kind: PhaseKind, name: &[u8]) -> u64 {
    let begin = 0xcbf2_9ce4_8422_2325 ^ kind as u64;
    name.iter().fold(begin, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_phase_is_found_by_kind_and_name() {
        let mut phases = Phases::default();
        let name = |number: usize| format!("phase {number}").into_bytes();
        assert_eq!(phases.find(PhaseKind::Papi, b"phase 0"), None);
        for number in 0..500 {
            for kind in [PhaseKind::Likwid, PhaseKind::Papi] {
                assert_eq!(phases.find(kind, &name(number)), None);
                let at = phases.enter(kind, &name(number), || 3);
                assert_eq!(at, phases.find(kind, &name(number)));
            }
        }
        assert_eq!(phases.known.len(), 1000);
        let at = phases.find(PhaseKind::Likwid, b"phase 77").expect("entered");
        assert_eq!((phases.known[at].kind, phases.thread), (PhaseKind::Likwid, Some(3)));
    }

    #[test]
    fn a_call_inside_of_a_call_is_refused() {
        let state = PhaseState::default();
        assert_eq!(state.with(|_| state.with(|_| ())), Some(None));
        assert_eq!(state.with(|_| ()), Some(()));
    }
}
