//! The fixed JSON shape of a plan and of a refusal.

use pacman_events::ResolveError;
use pacman_events::allocate::{Conflict, Placement};
use pacman_events::partition::Schedule;
use serde_json::{Value, json};

use super::request::Request;

/// `{"feasible": true, "sets": [[per thread: [{"event","counter","escr"}]]]}`
pub(super) fn plan(schedule: &Schedule, request: &Request, threads: usize, spread: bool) -> Value {
    let set = |set: &pacman_events::partition::CorePlan| -> Vec<Vec<Value>> {
        let own = set.contexts()[..threads].iter();
        own.map(|assignment| {
            let list = if spread { 0 } else { usize::from(assignment.context()) };
            let placements = assignment.placements().iter();
            placements.map(|it| placement(request.asked(list, it.event()), it)).collect()
        })
        .collect()
    };
    let sets: Vec<_> = schedule.sets().iter().map(set).collect();
    json!({ "feasible": true, "sets": sets })
}

fn placement(asked: &str, placement: &Placement) -> Value {
    let escr = placement.escr().and_then(|claim| claim.register.number());
    json!({
        "event": asked,
        "counter": placement.counter().map(|counter| counter.number()),
        "escr": escr.map(|msr| format!("{msr:#x}")),
    })
}

/// `{"feasible": false, "conflict": {"events":[…],"resource","reason","remedy"}}`
pub(super) fn conflict(conflict: &Conflict, request: &Request) -> Value {
    json!({
        "feasible": false,
        "conflict": {
            "events": request.names(conflict),
            "resource": conflict.resource().to_string(),
            "reason": conflict.reason(),
            "remedy": conflict.remedy(),
        },
    })
}

/// A name that is no event: the object that `encode` gives for it.
pub(super) fn refusal(asked: &str, refusal: &ResolveError) -> Value {
    json!({
        "event": asked,
        "error": refusal.to_string(),
        "kind": refusal.kind().as_str(),
        "nearest": refusal.nearest(),
    })
}
