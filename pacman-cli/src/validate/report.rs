//! The results of a validation, and the exit status that they give.

use crate::validate::checks::Outcome;
use pacman_events::CpuId;

/// The validated events, and the machine.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) machine: String,
    /// The event table's name and the processor's in words.
    pub(super) table: (&'static str, &'static str),
    pub(super) cpu_id: Option<CpuId>,
    pub(super) cpu: u32,
    pub(super) repeats: usize,
    pub(super) outcomes: Vec<Outcome>,
}

/// 0 when everything that was counted can be used, 1 when something cannot or nothing was.
pub(super) fn exit_status(report: &Report) -> u8 {
    let mut counted = report.outcomes.iter().filter_map(|outcome| outcome.result.as_ref().ok());
    let nothing = counted.clone().next().is_none();
    u8::from(nothing || counted.any(|counted| !counted.verdict.is_usable()))
}
