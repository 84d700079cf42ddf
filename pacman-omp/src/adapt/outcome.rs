//! The record of what adaptation did with a region.
//!
//! The record is text, and writing it takes as long as several regions. The library writes it when it
//! first sees the region and when the process exits. In between it writes the record rarely enough
//! that the cost does not matter. A killed process leaves the latest record.

use std::sync::atomic::Ordering;

use pacman_regions::{Adaptation, Objective};

use super::adapting::{self, Adapting};
use super::group;
use crate::adapted::OutcomeRecord;
use crate::arena;
use crate::floating;
use crate::function::Function;
use crate::isolation::isolated;
use crate::packing;
use crate::process;
use crate::region::{self, Region};
use crate::runtime::Runtime;
use crate::seen::Seen;
use crate::worker::Worker;

/// The least and the most seconds in a region between two records, which take some microseconds each.
const PATIENCE: (f64, f64) = (1e-3, 50e-3);

/// An execution of `ticks` has ended. Writes the record if it is due.
#[inline]
pub(super) fn record_if_due(adapting: &Adapting, region: &Region, ticks: u64) {
    let OutcomeRecord { since, due, .. } = &region.adapted.outcome;
    let ticks = since.load(Ordering::Relaxed).saturating_add(ticks);
    // ATOMICS: another thread that starts the region may overwrite the sum. The record is then written
    // a little later.
    since.store(ticks, Ordering::Relaxed);
    if ticks >= due.load(Ordering::Relaxed) {
        record_again(adapting, region);
    }
}

#[cold]
#[inline(never)]
fn record_again(adapting: &Adapting, region: &Region) {
    let OutcomeRecord { since, due, .. } = &region.adapted.outcome;
    let ticks = |seconds: f64| (seconds / adapting.seconds_per_tick) as u64;
    let (least, most) = floating::isolated(|| (ticks(PATIENCE.0), ticks(PATIENCE.1)));
    if since.load(Ordering::Relaxed) < least {
        // This was the first execution, and the record from before it says nearly as much.
        return due.store(least, Ordering::Relaxed);
    }
    record_outcome(region);
    let next = due.load(Ordering::Relaxed).saturating_mul(2).clamp(least, most);
    since.store(0, Ordering::Relaxed);
    due.store(next, Ordering::Relaxed);
}

/// Enters a region at its first execution, and writes its first record. `None` if there are too many.
#[cold]
pub(crate) fn enter_region(
    body: u64,
    entry: Function,
    runtime: &'static Runtime,
    source: Option<String>,
) -> Option<&'static Region> {
    region::enter(body, entry, runtime, source, 0).inspect(|region| record_outcome(region))
}

/// As [`enter_region`], for the region that stands for `base` within kernels of that label.
#[cold]
pub(crate) fn enter_labelled(base: &Region, label: u32) -> Option<&'static Region> {
    let region = region::enter(base.body(), base.entry, base.runtime, base.source.clone(), label);
    region.inspect(|region| record_outcome(region))
}

/// Writes the record of `region`.
#[cold]
pub(crate) fn record_outcome(region: &Region) {
    if !process::plan().adapts() || !process::options().records() {
        return;
    }
    // A thread that holds the slot writes the same.
    let Some(mut slot) = region.adapted.outcome.slot.try_lock() else { return };
    isolated(|| {
        let text = outcome(region).and_then(|outcome| outcome.to_text());
        if let Some(text) = text {
            arena::replace(&mut slot, region.number, text.as_bytes());
        }
    });
}

/// Writes the records of all regions that are decided as a group.
#[cold]
pub(super) fn record_group() {
    let all = isolated(region::all);
    let members = all.iter().filter(|region| region.adapted.member.is_of_any());
    members.for_each(|region| record_outcome(region));
    isolated(|| drop(all));
}

/// The facts of the record. `threads` is 0 for a region that runs with the program's own teams.
fn outcome(region: &Region) -> Option<Adaptation> {
    if !process::plan().adapts() {
        return None;
    }
    if process::plan().packs() && region.entry != Function::ompt_start_tool {
        if let Some(packed) = packing::adaptation(&region.adapted.packing) {
            let all_in_rows = region.seen.get() & (Seen::TASKS | Seen::NESTED) == 0;
            return Some(Adaptation { all_in_rows, ..packed });
        }
    }
    if let Some(grouped) = group::adaptation(region) {
        return Some(grouped);
    }
    // A thread may be in a decision while the process ends; its phase is then left out.
    let mut phase = region.adapted.phase.try_lock();
    let mut phase = phase.as_mut().and_then(|phase| phase.as_mut());
    // Other threads keep their noted executions, up to fifteen each.
    let cached = Worker::known().and_then(|worker| worker.rows.cached_decision(region.number));
    if let (Some(phase), Some(adapting), Some(cached)) = (&mut phase, adapting::prepared(), cached)
    {
        phase.catch_up(adapting, region, cached);
    }
    let Some(phase) = phase else {
        let why = match region.adapted.request.latest() {
            Some(asked) => asked.why().to_owned(),
            None if region.entry == Function::ompt_start_tool => {
                "seen through OMPT, which reports teams after they have started".to_owned()
            }
            None if adapting::is_impossible() => "nothing is adapted here".to_owned(),
            None if !region.adapted.has_run() => {
                "ran too few times: the first execution shows what a region does".to_owned()
            }
            None if region.adapted.is_short() => {
                "its executions are too short to be decided alone".to_owned()
            }
            // The reader knows its team sizes.
            None => String::new(),
        };
        return Some(Adaptation { why, ..Adaptation::default() });
    };
    let on = phase.controller.next();
    let mut why = phase.controller.why();
    if let Some(words) = phase.useful.words() {
        why += &format!("; {words}");
    }
    if phase.refused > 0 {
        why += &format!("; {} teams did not get the threads that were chosen", phase.refused);
    }
    let time = matches!(process::options().adapt, Some(Objective::Time));
    Some(Adaptation {
        state: phase.controller.state().to_string(),
        threads: on.threads(),
        configuration: on.to_string(),
        why,
        packed: Vec::new(),
        // Teams have other sizes in between.
        all_in_rows: false,
        reduced: phase.controller.reduced_executions(),
        // The subtraction turns a loss of 0 into 0, where a negation would give -0.
        gained: time.then(|| 0.0 - phase.controller.account().lost()),
        remembered: adapting::prepared()
            .and_then(|adapting| adapting.memory.as_ref())
            .and_then(|memory| memory.remembered(region, phase)),
    })
}
