//! A session's record of each thread: readable by all, written by its owner.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use super::log::Log;
use super::open::Open;
use super::rotation::{RotatingStats, SetStats, Sets};
use crate::backend::{Caps, MAX_EVENTS, perf};
use crate::event::Event;
use crate::fork::Fenced;
use crate::plausible::Limits;
use crate::report::ThreadState;

/// Notes kept per thread. Further notes are only counted.
const NOTES: usize = 32;

/// One thread's part of a session; outlives the thread.
#[derive(Debug)]
pub(crate) struct ThreadRecord {
    pub(super) arrival: Arrival,
    /// Ticks at detach, or 0.
    until: AtomicU64,
    state: AtomicU8,
    /// The phases that it has begun and not ended.
    pub(crate) open: Open,
    pub(crate) counted: Counted,
    pub(crate) log: Option<Log>,
    notes: Fenced<Notes>,
    /// The process of the thread. A forked child inherits the record, but not the thread.
    generation: u32,
}

/// The counts that a thread shows.
// Not boxed, because the hot path reads the larger kind and a session has only one of the kinds.
#[allow(clippy::large_enum_variant)]
#[derive(Debug)]
pub(crate) enum Counted {
    AtOnce(SetStats),
    Rotating(RotatingStats),
}

#[derive(Debug, Default)]
struct Notes {
    lines: Vec<String>,
    more: usize,
}

/// The facts of a thread when it attaches.
#[derive(Debug)]
pub(super) struct Arrival {
    pub(super) number: usize,
    pub(super) tid: i32,
    pub(super) name: Option<String>,
    /// The logical CPU that it is on.
    pub(super) cpu: Option<u32>,
    /// The session bound it there.
    pub(super) bound: bool,
    pub(super) caps: Caps,
    /// Ticks.
    pub(super) since: u64,
}

impl ThreadRecord {
    /// The record of a thread that counts `events` in `sets`.
    pub(super) fn new(arrival: Arrival, events: &[Event], sets: &Sets, log: usize) -> ThreadRecord {
        let (since, timed) = (arrival.since, !arrival.caps.simulated);
        let limits = |set: usize| {
            let counted = sets.events(set).into_iter().map(|event| &events[event]);
            Limits::of_events(counted, since, timed)
        };
        let widest = (0..sets.len()).map(|set| sets.width(set)).max().unwrap_or(0);
        debug_assert!(widest <= MAX_EVENTS);
        ThreadRecord {
            arrival,
            until: AtomicU64::new(0),
            state: AtomicU8::new(0),
            open: Open::new(),
            counted: match sets.len() {
                1 => Counted::AtOnce(SetStats::new(widest, limits(0))),
                _ => Counted::Rotating(RotatingStats::new(sets, limits)),
            },
            log: (log > 0).then(|| Log::new(log, widest)),
            notes: Fenced::default(),
            generation: perf::generation(),
        }
    }

    /// Whether the thread is not in this process, because another one forked.
    pub(super) fn is_gone(&self) -> bool {
        self.generation != perf::generation()
    }

    /// The limits of an execution that counts a set.
    pub(super) fn limits(&self, set: usize) -> Limits {
        self.set_stats()[set].rows.limits().clone()
    }

    /// The thread's counts of each set, in order.
    pub(super) fn set_stats(&self) -> &[SetStats] {
        match &self.counted {
            Counted::AtOnce(set_stats) => std::slice::from_ref(set_stats),
            Counted::Rotating(rotating) => rotating.each(),
        }
    }

    pub(super) fn end(&self, ticks: u64, state: ThreadState) {
        self.until.store(ticks, Ordering::Relaxed);
        let code = match state {
            ThreadState::Attached => 0,
            ThreadState::Detached => 1,
            ThreadState::Exited => 2,
        };
        // ATOMICS: Release, so that a reader of the new state sees the time above.
        self.state.store(code, Ordering::Release);
    }

    pub(super) fn state(&self) -> ThreadState {
        match self.state.load(Ordering::Acquire) {
            0 => ThreadState::Attached,
            1 => ThreadState::Detached,
            _ => ThreadState::Exited,
        }
    }

    /// Ticks at detach, or `now` while attached.
    pub(super) fn until(&self, now: u64) -> u64 {
        if self.state() == ThreadState::Attached { now } else { self.until.load(Ordering::Relaxed) }
    }

    /// Keeps a line for the report.
    #[cold]
    pub(crate) fn note(&self, line: String) {
        let mut notes = self.notes.lock();
        if notes.lines.len() < NOTES {
            notes.lines.push(line);
        } else {
            notes.more += 1;
        }
    }

    pub(super) fn notes(&self) -> Vec<String> {
        let notes = self.notes.lock();
        let mut lines = notes.lines.clone();
        if notes.more > 0 {
            lines.push(format!("{} more of the same", notes.more));
        }
        lines
    }
}
