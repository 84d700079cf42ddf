//! The fixed JSON shape of a plan and of a conflict.

use pacman_events::allocate;
use pacman_events::partition::{CorePlan, Schedule};
use serde::Serialize;

use super::request::Request;

#[derive(Serialize)]
pub(super) struct Plan<'a> {
    feasible: bool,
    /// For each set and thread.
    sets: Vec<Vec<Vec<Placement<'a>>>>,
}

#[derive(Serialize)]
struct Placement<'a> {
    event: &'a str,
    counter: Option<u8>,
    escr: Option<String>,
}

#[derive(Serialize)]
pub(super) struct Infeasible<'a> {
    feasible: bool,
    conflict: Conflict<'a>,
}

#[derive(Serialize)]
struct Conflict<'a> {
    events: Vec<&'a str>,
    resource: String,
    reason: &'a str,
    remedy: &'a str,
}

pub(super) fn plan<'a>(
    schedule: &Schedule,
    request: &'a Request,
    threads: usize,
    spread: bool,
) -> Plan<'a> {
    let set = |set: &CorePlan| {
        let own = set.contexts()[..threads].iter();
        own.map(|assignment| {
            let list = if spread { 0 } else { usize::from(assignment.context()) };
            let placements = assignment.placements().iter();
            placements.map(|it| placement(request.asked(list, it.event()), it)).collect()
        })
        .collect()
    };
    Plan { feasible: true, sets: schedule.sets().iter().map(set).collect() }
}

fn placement<'a>(asked: &'a str, placement: &allocate::Placement) -> Placement<'a> {
    let escr = placement.escr().and_then(|claim| claim.register.number());
    Placement {
        event: asked,
        counter: placement.counter().map(|counter| counter.number()),
        escr: escr.map(|msr| format!("{msr:#x}")),
    }
}

pub(super) fn conflict<'a>(
    conflict: &'a allocate::Conflict,
    request: &'a Request,
) -> Infeasible<'a> {
    Infeasible {
        feasible: false,
        conflict: Conflict {
            events: request.names(conflict),
            resource: conflict.resource().to_string(),
            reason: conflict.reason(),
            remedy: conflict.remedy(),
        },
    }
}
