//! The MPI calls of one process.

use std::collections::BTreeMap;

use super::total::total_of;
use pacman_regions::{Recording, Wait};
use serde::Serialize;

/// The MPI calls of one process.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::run) struct MpiReport {
    /// MPI functions, those with the most time first.
    pub(in crate::run) calls: Vec<MpiCall>,
    /// The seconds outside of regions by thread: its number in
    /// [`OutsideWaits`](pacman_regions::OutsideWaits), whether it starts regions, and the seconds.
    #[serde(skip)]
    pub(in crate::run) threads: Vec<(u32, bool, f64)>,
    /// Time outside of regions, of the thread that starts regions; without regions, of the thread with the most.
    // The threads of its teams wait meanwhile.
    #[serde(rename = "outside_s")]
    pub(in crate::run) outside: f64,
}

/// The calls of one MPI function.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::run) struct MpiCall {
    /// Name of the MPI function.
    pub(in crate::run) name: String,
    /// Calls outside of regions, on all threads.
    pub(in crate::run) count: u64,
    /// Their time, of all threads.
    #[serde(rename = "time_s")]
    pub(in crate::run) seconds: f64,
    /// Calls inside of regions, on all threads.
    pub(in crate::run) inside_count: u64,
    /// Their time, of all threads.
    #[serde(rename = "inside_s")]
    pub(in crate::run) inside_seconds: f64,
}

impl MpiCall {
    /// Seconds outside and inside of regions.
    pub(in crate::run) fn total(&self) -> f64 {
        self.seconds + self.inside_seconds
    }

    pub(super) fn add(&mut self, other: &MpiCall) {
        self.count += other.count;
        self.seconds += other.seconds;
        self.inside_count += other.inside_count;
        self.inside_seconds += other.inside_seconds;
    }
}

impl MpiReport {
    /// `None` without timed calls.
    pub(super) fn of(recording: &Recording) -> Option<MpiReport> {
        let waits = recording.waits.as_ref()?;
        let mut calls: BTreeMap<&str, MpiCall> = BTreeMap::new();
        let mut call = |wait: &Wait, add: fn(&mut MpiCall, &Wait)| {
            let name = waits.sites.get(wait.site).and_then(|site| site.call.as_deref());
            if let Some(name) = name {
                add(calls.entry(name).or_default(), wait);
            }
        };
        for wait in waits.outside.iter().flat_map(|own| &own.waits) {
            call(wait, |call, wait| {
                call.count += wait.count;
                call.seconds += wait.seconds;
            });
        }
        let rows = recording.regions.iter().flat_map(|region| &region.rows);
        for wait in rows.filter_map(|row| row.states.as_ref()).flat_map(|states| &states.waits) {
            call(wait, |call, wait| {
                call.inside_count += wait.count;
                call.inside_seconds += wait.seconds;
            });
        }
        let named = |(name, call): (&str, MpiCall)| MpiCall { name: name.to_owned(), ..call };
        let mut calls: Vec<MpiCall> = calls.into_iter().map(named).collect();
        calls.sort_by(|one, other| other.total().total_cmp(&one.total()));
        let threads =
            waits.outside.iter().map(|own| (own.thread, own.starts_regions, sum(&own.waits)));
        (!calls.is_empty()).then(|| MpiReport {
            calls,
            threads: threads.collect(),
            outside: outside(recording),
        })
    }
}

fn sum(waits: &[Wait]) -> f64 {
    total_of(waits.iter().map(|wait| wait.seconds))
}

/// The calls outside of regions for which the threads of teams wait: those of the thread that starts
/// regions. Without regions they are those of the thread with the most.
fn leading(recording: &Recording) -> &[Wait] {
    let mut threads = recording.waits.iter().flat_map(|waits| &waits.outside);
    let own = match recording.regions.is_empty() {
        false => threads.find(|own| own.starts_regions),
        true => threads.max_by(|one, other| sum(&one.waits).total_cmp(&sum(&other.waits))),
    };
    own.map_or(&[], |own| &own.waits)
}

/// Their seconds.
pub(super) fn outside(recording: &Recording) -> f64 {
    sum(leading(recording))
}

/// Their seconds by site.
pub(super) fn outside_by_site(recording: &Recording) -> impl Iterator<Item = (usize, f64)> {
    leading(recording).iter().map(|wait| (wait.site, wait.seconds))
}
