//! Issue slots in JSON.

use pacman_metrics::slots::{SlotShares, SmtOff};
use serde::Serialize;

use super::report::{CoreSlots, RegionSlots, ThreadSlots};

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Slots<'a> {
    /// Cores by package and number, then threads that moved.
    cores: Vec<Core<'a>>,
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
    /// Threads of the core.
    threads: Vec<Thread>,
    /// Reason for absent shares.
    why_absent: Option<&'a str>,
    /// Effect of SMT off on this core; null without two threads all the time.
    smt_off: Option<Off<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Thread {
    /// Number in the team.
    thread: u32,
    /// Shares of the thread's slots; null if they are not known.
    shares: Option<Shares>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Shares {
    /// Slots whose operation retired.
    retiring: f64,
    /// Slots lost to operations that never retired.
    bad_speculation: f64,
    /// Slots that the front end left empty.
    frontend_bound: f64,
    /// Slots for which the back end took no operation.
    backend_bound: f64,
    /// Slots for which the sibling was chosen; null where no event counts them.
    smt_contention: Option<f64>,
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
    Slots {
        cores: slots.cores.iter().map(core).collect(),
        smt_off: slots.smt_off.as_ref().map(off),
    }
}

fn core(core: &CoreSlots) -> Core<'_> {
    Core {
        package: core.place.map(|(package, _)| package),
        core: core.place.map(|(_, core)| core),
        threads: core.threads.iter().map(thread).collect(),
        why_absent: core.why_absent.as_deref(),
        smt_off: core.smt_off.as_ref().map(off),
    }
}

fn thread(slots: &ThreadSlots) -> Thread {
    let SlotShares { retiring, bad_speculation, frontend_bound, backend_bound, smt_contention } =
        match slots.shares {
            Some(shares) => shares,
            None => return Thread { thread: slots.thread, shares: None },
        };
    let shares =
        Shares { retiring, bad_speculation, frontend_bound, backend_bound, smt_contention };
    Thread { thread: slots.thread, shares: Some(shares) }
}

fn off(off: &SmtOff) -> Off<'_> {
    Off {
        verdict: off.verdict.word(),
        speed_low: off.speed.low,
        speed_high: off.speed.high,
        reason: &off.reason,
    }
}
