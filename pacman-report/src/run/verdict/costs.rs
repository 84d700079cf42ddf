//! The time that threads lose, by what it is lost to and where.

use super::kind::Kind;
use crate::run::report::{ProcessReport, Reason, RegionReport};

/// Thread time that is lost to one thing at one place.
#[derive(Debug)]
pub(super) struct Cost<'a> {
    pub(super) kind: Kind,
    pub(super) seconds: f64,
    pub(super) place: Option<(&'a ProcessReport, Option<&'a RegionReport>, Reason)>,
}

/// Adds what a process loses; answers the time of its threads.
pub(super) fn add<'a>(process: &'a ProcessReport, costs: &mut Vec<Cost<'a>>) -> f64 {
    let mut there = 0.0;
    for region in &process.regions {
        let outer = if region.seconds > 0.0 { region.outer / region.seconds } else { 0.0 };
        there += add_region(process, region, outer, costs);
    }
    let Some(tree) = &process.efficiency else { return there };
    for (&reason, (uneven, common)) in &tree.losses.reasons {
        if reason.is_mpi() {
            let place = Some((process, None, reason));
            costs.push(Cost { kind: Kind::of(reason, true), seconds: uneven + common, place });
        }
    }
    costs.push(Cost { kind: Kind::Serial, seconds: tree.serial, place: None });
    tree.serial + tree.losses.there
}

/// The same for a part of a region.
fn add_region<'a>(
    process: &'a ProcessReport,
    region: &'a RegionReport,
    part: f64,
    costs: &mut Vec<Cost<'a>>,
) -> f64 {
    let Some(states) = &region.states else { return 0.0 };
    let losses = &states.losses;
    let uneven: f64 =
        losses.reasons.iter().filter(|(reason, _)| meets(reason)).map(|(_, own)| own.0).sum();
    let lock = passed_on(region).map(|(lock, seconds)| (lock, seconds.min(uneven)));
    let own =
        lock.map_or(1.0, |(_, seconds)| if uneven > 0.0 { 1.0 - seconds / uneven } else { 1.0 });
    let mut cost = |kind: Kind, seconds: f64, reason: Reason| {
        let place = Some((process, Some(region), reason));
        costs.push(Cost { kind, seconds: part * seconds, place });
    };
    for (&reason, &(uneven, common)) in &losses.reasons {
        // The tree of the process has MPI inside and outside of regions.
        if reason.is_mpi() && process.efficiency.is_some() {
            continue;
        }
        let of_program = if meets(&reason) { own } else { 1.0 };
        cost(Kind::of(reason, true), of_program * uneven, reason);
        cost(Kind::of(reason, false), common, reason);
    }
    if let Some((lock, seconds)) = lock {
        cost(Kind::of(lock, true), seconds, lock);
    }
    part * losses.there
}

/// Whether threads wait for each other there.
fn meets(reason: &Reason) -> bool {
    Kind::of(*reason, true) == Kind::Imbalance
}

/// The seconds that threads wait for one that waited for a lock itself, and the lock: without its wait
/// that thread would have been there so much earlier.
fn passed_on(region: &RegionReport) -> Option<(Reason, f64)> {
    let states = region.states.as_ref()?;
    let locks = states.losses.reasons.iter();
    let locks = locks.filter(|(reason, _)| Kind::of(**reason, true).is_passed_on());
    let total = |own: &(f64, f64)| own.0 + own.1;
    let (lock, _) = locks.max_by(|(_, one), (_, other)| total(one).total_cmp(&total(other)))?;
    // Seconds for other threads, and for locks.
    let waits = states.threads.iter().filter(|thread| thread.there > 0.0).map(|thread| {
        thread.by_reason().fold((0.0, 0.0), |(others, locks), (reason, seconds)| {
            match Kind::of(reason, true) {
                Kind::Imbalance => (others + seconds, locks),
                kind if kind.is_passed_on() => (others, locks + seconds),
                _ => (others, locks),
            }
        })
    });
    let waits: Vec<(f64, f64)> = waits.collect();
    let (least, locked) =
        waits.iter().copied().min_by(|(one, _), (other, _)| one.total_cmp(other))?;
    Some((*lock, waits.iter().map(|(others, _)| (others - least).min(locked)).sum()))
}
