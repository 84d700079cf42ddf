//! Issue slots in JSON.

use pacman_metrics::slots::SmtOff;
use serde::Serialize;

use super::report::{CoreSlots, RegionSlots, ThreadSlots};
use crate::rows::Rows;
use crate::slots::Shares;

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Slots<'a> {
    /// Cores by package and number, then threads that moved, [as columns](#conventions).
    cores: Rows<Core<'a>>,
    /// Threads by core, [as columns](#conventions).
    threads: Rows<Thread>,
    /// Effect of SMT off on the region, over all its cores.
    smt_off: Option<Off<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Core<'a> {
    /// Number of the package; null for a thread that moved.
    package: Option<u32>,
    /// Number of the core in its package; null for a thread that moved.
    core: Option<u32>,
    /// Reason for absent shares.
    why_absent: Option<&'a str>,
    /// Effect of SMT off on this core; null without two threads all the time.
    smt_off: Option<Off<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Thread {
    /// Index into `cores`.
    slot_core: usize,
    /// Number in the team.
    thread: u32,
    /// Shares of the thread's slots; null if they are not known.
    shares: Option<Shares>,
}

/// The speed with SMT off over that with SMT on.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Off<'a> {
    /// Whether SMT pays against SMT off.
    #[cfg_attr(test, schemars(extend("enum" = ["pays", "costs", "undecided"])))]
    verdict: &'static str,
    /// Least speed with SMT off over that with SMT on.
    speed_low: f64,
    /// Greatest speed with SMT off over that with SMT on.
    speed_high: f64,
    /// Reason in one sentence.
    reason: &'a str,
}

pub(super) fn slots(slots: &RegionSlots) -> Slots<'_> {
    let cores = slots.cores.iter().enumerate();
    let threads = cores.flat_map(|(at, core)| core.threads.iter().map(move |own| thread(at, own)));
    Slots {
        cores: Rows(slots.cores.iter().map(core).collect()),
        threads: Rows(threads.collect()),
        smt_off: slots.smt_off.as_ref().map(off),
    }
}

fn core(core: &CoreSlots) -> Core<'_> {
    Core {
        package: core.place.map(|(package, _)| package),
        core: core.place.map(|(_, core)| core),
        why_absent: core.why_absent.as_deref(),
        smt_off: core.smt_off.as_ref().map(off),
    }
}

fn thread(slot_core: usize, slots: &ThreadSlots) -> Thread {
    Thread { slot_core, thread: slots.thread, shares: slots.shares.map(Shares::from) }
}

fn off(off: &SmtOff) -> Off<'_> {
    Off {
        verdict: off.verdict.word(),
        speed_low: off.speed.low,
        speed_high: off.speed.high,
        reason: &off.reason,
    }
}
