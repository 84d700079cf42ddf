//! The report of a run: recordings with names, figures and places.

mod columns;
mod efficiency;
mod energy;
mod mpi;
mod process;
mod region;
mod states;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use pacman_core::Topology;
use pacman_regions::Recording;

use super::energy::RunEnergy;
use super::launch::Ended;
use super::names::Names;

pub(super) use columns::{Column, Columns, Count, Figures};
pub(super) use efficiency::{Efficiency, EfficiencyTree, Factor, FactorLoss};
pub(super) use energy::{EnergyFigures, mean};
pub(super) use mpi::{MpiCall, MpiFactor, MpiFactors, ProcessTime, calls};
pub(super) use process::{ProcessReport, runtime};
pub(super) use region::{RegionReport, Thread};
pub(super) use states::{Reason, SiteReport, ThreadStates};

/// All about one run.
#[derive(Debug)]
pub(super) struct Report {
    /// The program and its arguments.
    pub(super) command: Vec<String>,
    pub(super) ended: Ended,
    /// The objective of adaptation; `None` if it only observed.
    pub(super) objective: Option<String>,
    /// The simulated machine whose counts these are.
    pub(super) simulated: Option<String>,
    /// The energy of the packages during the run, if it was read.
    pub(super) energy: Option<RunEnergy>,
    /// Every process that left a recording, those with regions first.
    pub(super) processes: Vec<ProcessReport>,
    /// Warnings about the figures, one line each.
    pub(super) notes: Vec<String>,
}

/// Facts in addition to the recordings.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) command: Vec<String>,
    pub(super) ended: Ended,
    pub(super) objective: Option<String>,
    pub(super) simulated: Option<String>,
    pub(super) energy: Option<RunEnergy>,
}

impl Report {
    /// Names and computes; `topology` has the contexts that share a core.
    pub(super) fn of(run: Run, recordings: &[Recording], topology: Option<&Topology>) -> Report {
        let mut names = Names::default();
        let mut processes: Vec<ProcessReport> = recordings
            .iter()
            .map(|recording| {
                ProcessReport::of(recording, &mut names, topology, run.energy.as_ref())
            })
            .collect();
        processes.sort_by_key(ProcessReport::order);
        let mut notes = names.notes;
        let Run { command, ended, objective, simulated, energy } = run;
        let ran = processes.iter().any(|process| !process.regions.is_empty());
        if objective.is_some() && ran && !processes.iter().any(ProcessReport::is_adapted) {
            notes.push("adaptation was asked for, but no region was adapted".into());
        }
        Report { command, ended, objective, simulated, energy, processes, notes }
    }

    /// Processes in which regions ran.
    pub(super) fn parallel(&self) -> impl Iterator<Item = &ProcessReport> {
        self.processes.iter().filter(|process| !process.regions.is_empty())
    }

    /// Whether MPI calls were timed.
    pub(super) fn has_mpi(&self) -> bool {
        self.processes.iter().any(|process| process.mpi.is_some())
    }

    /// A line about each event that a process with regions could not count, which most often is the
    /// same in all of them.
    pub(super) fn uncounted(&self) -> BTreeSet<String> {
        self.parallel().flat_map(|process| process.columns.uncounted()).collect()
    }
}
