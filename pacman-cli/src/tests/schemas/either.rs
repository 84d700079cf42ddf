//! Commands that write one of several documents.

#![expect(dead_code, reason = "nothing but their schemas is used")]

use schemars::JsonSchema;

use crate::{events, metrics, plan, topo};

#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum Listed<'a> {
    Event(events::Event<'a>),
    Processor(events::Processor),
}

#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum Metrics<'a> {
    Listing(metrics::Listing<'a>),
    Values(Vec<metrics::Computed<'a>>),
}

#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum Plan<'a> {
    Feasible(plan::Plan<'a>),
    Infeasible(plan::Infeasible<'a>),
    Refusal(events::Refusal<'a>),
}

#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum Topology<'a> {
    Facts(topo::Facts<'a>),
    Die(topo::Die<'a>),
}
