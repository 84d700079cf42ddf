//! The fixed JSON shape of a plan and of a conflict.

use pacman_events::allocate;
use pacman_events::partition::{CorePlan, Schedule};
use serde::Serialize;

use super::request::Request;

/// The counters of all events.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Plan<'a> {
    /// All events are placed.
    #[cfg_attr(test, schemars(extend("const" = true)))]
    feasible: bool,
    /// Counters of the events, for each set and thread.
    sets: Vec<Vec<Vec<Placement<'a>>>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Placement<'a> {
    /// Name of the event.
    event: &'a str,
    /// Number of the counter; 32 + n for fixed counter n; null for an event without one.
    counter: Option<u8>,
    /// Register number of the ESCR.
    #[cfg_attr(test, schemars(extend("pattern" = r"^0x[0-9a-f]+$")))]
    escr: Option<String>,
}

/// Events that cannot be counted like this.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Infeasible<'a> {
    /// The events cannot be counted like this.
    #[cfg_attr(test, schemars(extend("const" = false)))]
    feasible: bool,
    /// Events that cannot be counted together.
    conflict: Conflict<'a>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Conflict<'a> {
    /// Events of the conflict.
    events: Vec<&'a str>,
    /// Resource that they need at the same time.
    resource: String,
    /// Reason for the conflict.
    reason: &'a str,
    /// Remedy in words.
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
