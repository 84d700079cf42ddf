//! What came of adapting a region, for the recording.
//!
//! It is text, and takes as long as several regions to put together: it is written when the region is
//! met, when the process exits, and in between after so much time in the region that nobody would
//! notice. A process that is killed leaves the latest.

use std::sync::atomic::{AtomicU64, Ordering};

use pacman_regions::arena::Slot;
use pacman_regions::{Adaptation, Guarded, Objective};
use try_lock::TryLock;

use super::{ADAPTING, Adapting, is_wished};
use crate::arena;
use crate::floating;
use crate::function::Function;
use crate::isolation::isolated;
use crate::process;
use crate::region::Region;
use crate::worker::Worker;
use crate::worksharing;

/// What is recorded of a region.
#[derive(Debug, Default)]
pub(crate) struct OutcomeRecord {
    slot: TryLock<Option<Slot>>,
    /// Ticks in the region since.
    since: AtomicU64,
    /// After so many it is said again.
    due: AtomicU64,
}

/// Seconds in a region after which it is said again, at the latest.
const PATIENCE: f64 = 50e-3;

/// An execution of `ticks` has ended: says what came of it and those before, if that is due.
#[inline]
pub(super) fn record_if_due(adapting: &Adapting, region: &Region, ticks: u64) {
    let OutcomeRecord { since, due, .. } = &region.adapted.outcome;
    let ticks = since.load(Ordering::Relaxed).saturating_add(ticks);
    // ATOMICS: whoever else starts the region may overwrite it: it is said a little later.
    since.store(ticks, Ordering::Relaxed);
    if ticks >= due.load(Ordering::Relaxed) {
        record_again(adapting, region);
    }
}

#[cold]
#[inline(never)]
fn record_again(adapting: &Adapting, region: &Region) {
    record_outcome(region);
    let OutcomeRecord { since, due, .. } = &region.adapted.outcome;
    let most = floating::isolated(|| (PATIENCE / adapting.seconds_per_tick) as u64);
    let next = due.load(Ordering::Relaxed).saturating_mul(2).clamp(adapting.long.min(most), most);
    since.store(0, Ordering::Relaxed);
    due.store(next, Ordering::Relaxed);
}

/// Says what came of adapting the region so far.
#[cold]
pub(crate) fn record_outcome(region: &Region) {
    if !is_wished() || !process::options().records() {
        return;
    }
    // Who else is at it says the same.
    let Some(mut slot) = region.adapted.outcome.slot.try_lock() else { return };
    isolated(|| {
        let text = outcome(region).and_then(|outcome| outcome.to_text());
        if let Some(text) = text {
            arena::replace(&mut slot, region.number, text.as_bytes());
        }
    });
}

/// What was done with a region; without a number of threads where it was left as it is.
fn outcome(region: &Region) -> Option<Adaptation> {
    if !is_wished() {
        return None;
    }
    let guards = region.adapted.guards.acted();
    // A thread that is in the midst of a decision while the process ends keeps it.
    let mut phase = region.adapted.phase.try_lock();
    let mut phase = phase.as_mut().and_then(|phase| phase.as_mut());
    // What other threads keep back, each less than eight executions, is left to them.
    let cached = Worker::known().and_then(|worker| worker.cached(region.number));
    if let (Some(phase), Some(Some(adapting)), Some(cached)) = (&mut phase, ADAPTING.get(), cached)
    {
        phase.catch_up(adapting, region, cached);
    }
    let Some(phase) = phase else {
        let why = match guards.last() {
            Some(Guarded { why, .. }) => why.clone(),
            None if region.entry == Function::ompt_start_tool => {
                "seen through OMPT, which tells of teams when they have started".to_owned()
            }
            None if region.loops.adapt() => "its loops are adapted one by one".to_owned(),
            None if matches!(ADAPTING.get(), Some(None)) => "nothing is adapted here".to_owned(),
            // The reader sees how many threads it had, and how often it ran.
            None => String::new(),
        };
        return Some(Adaptation {
            why,
            guards,
            loops: worksharing::recorded(region),
            ..Adaptation::default()
        });
    };
    let on = phase.controller.next();
    let mut why = phase.controller.why();
    if phase.refused > 0 {
        why += &format!("; {} teams did not get the threads that were chosen", phase.refused);
    }
    let time = matches!(process::options().adapt, Some(Objective::Time));
    Some(Adaptation {
        state: phase.controller.state().to_string(),
        threads: on.threads(),
        configuration: on.to_string(),
        why,
        narrowed: phase.controller.narrowed(),
        // Without a sign where nothing was: 0 - 0 is 0, and -0 is not.
        gained: time.then(|| 0.0 - phase.controller.account().lost()),
        guards,
        loops: worksharing::recorded(region),
    })
}
