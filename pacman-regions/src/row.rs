//! The executions of one thread.

use serde::{Deserialize, Serialize};

use crate::States;

/// The parts of one thread of the team in a region.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The number in the team.
    pub thread: u32,
    /// The executions that it took part in.
    pub executions: u64,
    /// Seconds inside the body. They include waits at barriers inside, but not the wait at the end of
    /// the region.
    pub seconds: f64,
    /// The hardware context at the latest sample. The library samples the first part and every 16th after
    /// it.
    pub cpu: Option<u32>,
    /// The samples that found another context than the sample before.
    pub moves: u64,
    /// Executions with counts; fewer than `executions` if a read failed.
    pub counted: u64,
    /// The sums over `counted` executions, in the order of [`Recording::events`](crate::Recording::events); `None` for an event
    /// without counts.
    /// Where [event sets](crate::Recording::sets) took turns they are estimates for the `counted` executions, and
    /// `None` where the counted ones say too little about the others.
    pub counts: Vec<Option<u64>>,
    /// Half of the interval of each count, if event sets took turns: the true count is in it in 95 of 100
    /// cases at least. 0 for an exact count.
    #[serde(default)]
    pub margins: Vec<f64>,
    /// For each event the executions from which its count is estimated, if event sets took turns;
    /// empty otherwise.
    #[serde(default)]
    pub counted_by_event: Vec<u64>,
    /// Waits and other states; `None` if they were not asked for.
    #[serde(default)]
    pub states: Option<States>,
}

impl Row {
    /// The part of the executions in which an event was counted, if its count is an estimate.
    pub fn counted_share(&self, event: usize) -> Option<f64> {
        let counted = *self.counted_by_event.get(event)?;
        (counted < self.executions).then(|| counted as f64 / self.executions as f64)
    }
}
