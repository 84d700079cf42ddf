//! Issue slots in JSON.

use pacman_metrics::slots::{SlotShares, SmtOff};
use serde::Serialize;

use super::report::{CoreSlots, RegionSlots, ThreadSlots};

#[derive(Serialize)]
pub(super) struct Slots<'a> {
    cores: Vec<Core<'a>>,
    smt_off: Option<Off<'a>>,
}

#[derive(Serialize)]
struct Core<'a> {
    package: Option<u32>,
    core: Option<u32>,
    threads: Vec<Thread>,
    why_absent: Option<&'a str>,
    smt_off: Option<Off<'a>>,
}

#[derive(Serialize)]
struct Thread {
    thread: u32,
    shares: Option<Shares>,
}

#[derive(Serialize)]
struct Shares {
    retiring: f64,
    bad_speculation: f64,
    frontend_bound: f64,
    backend_bound: f64,
    smt_contention: Option<f64>,
}

/// The speed with SMT off over that with SMT on.
#[derive(Serialize)]
struct Off<'a> {
    verdict: &'static str,
    speed_low: f64,
    speed_high: f64,
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
