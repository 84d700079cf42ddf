//! The report of a run: recordings with names, figures and places.

mod busy;
mod columns;
mod counts_by_state;
mod crowd;
mod efficiency;
mod energy;
mod figure;
mod mpi;
mod mpi_factors;
mod open;
mod overview;
mod phase;
mod process;
mod region;
mod seats;
mod slots;
#[cfg(test)]
mod slots_tests;
mod states;
#[cfg(test)]
mod talp_tests;
#[cfg(test)]
pub(super) mod tests;
mod thread;
mod total;

use std::collections::BTreeSet;

use pacman_core::Provenance;
use pacman_regions::{Recording, Remembered};

use super::energy::RunEnergy;
use super::launch::Ended;
use super::names::Names;
use crate::quota::GroupAccount;

pub(super) use busy::{Busy, BusyCause};
pub(super) use columns::{Column, Columns, Count, Figures, MOSTLY_READINGS};
pub(super) use crowd::threads_of;
pub(super) use efficiency::{Efficiency, EfficiencyTree, Factor, FactorLoss};
pub(super) use energy::{EnergyFigures, mean};
pub(super) use figure::Members;
pub(crate) use figure::{FIGURES, Figure, Unit};
pub(super) use mpi::{MpiCall, MpiReport};
pub(super) use mpi_factors::{MpiFactor, MpiFactors, MpiSummary};
pub(super) use open::{OpenExecution, OpenThread};
pub(super) use overview::{Overview, RankSummary, RegionSummary, named_ranks};
pub(super) use phase::{PhaseReport, ThreadPhase};
pub(super) use process::{ProcessReport, runtime};
pub(super) use region::RegionReport;
pub(super) use seats::Seat;
pub(super) use slots::{CoreSlots, RegionSlots, ThreadSlots};
pub(super) use states::{Losses, Reason, SiteReport, ThreadStates, WaitSum};
pub(super) use thread::Thread;

/// All about one run.
#[derive(Debug)]
pub(super) struct Report {
    /// The program and its arguments.
    pub(super) command: Vec<String>,
    /// The user's name of this version of the program.
    pub(super) label: Option<String>,
    pub(super) ended: Ended,
    pub(super) provenance: Provenance,
    /// The objective of adaptation; `None` if it only observed.
    pub(super) objective: Option<String>,
    /// The simulated machine whose counts these are.
    pub(super) simulated: Option<String>,
    /// The energy of the packages during the run, if it was read.
    pub(super) energy: Option<RunEnergy>,
    /// Every process that left a recording, those with regions first.
    pub(super) processes: Vec<ProcessReport>,
    /// Processes of other ranks with regions, which `overview` alone has.
    pub(super) left_out: usize,
    /// All ranks at a glance.
    pub(super) overview: Overview,
    /// The number of threads that was chosen before the program started, and by what.
    pub(super) start: Option<String>,
    /// Lines about processes whose threads had no processor of their own.
    pub(super) busy: Vec<String>,
    /// Warnings about the figures, one line each.
    pub(super) notes: Vec<String>,
}

/// Facts in addition to the recordings.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) command: Vec<String>,
    pub(super) label: Option<String>,
    pub(super) ended: Ended,
    pub(super) provenance: Provenance,
    pub(super) objective: Option<String>,
    pub(super) simulated: Option<String>,
    pub(super) energy: Option<RunEnergy>,
    /// The account of the control group whose quota is the tightest.
    pub(super) quota: Option<GroupAccount>,
}

impl Report {
    /// The costs that adaptation has measured of each region, with the region's name.
    pub(super) fn remembered(&self) -> impl Iterator<Item = (&str, &Remembered)> {
        let regions = self.processes.iter().flat_map(|process| &process.regions);
        regions.filter_map(|region| {
            Some((region.name.text.as_str(), region.adaptation.as_ref()?.remembered.as_ref()?))
        })
    }

    /// Names and computes.
    pub(super) fn of(run: Run, recordings: &[Recording]) -> Report {
        let mut names = Names::default();
        let energy = run.energy.as_ref();
        let mut processes: Vec<ProcessReport> = recordings
            .iter()
            .map(|recording| ProcessReport::of(recording, &mut names, energy))
            .collect();
        let sharing = processes.iter().filter(|process| process.has_figures()).count();
        if let Some(throttled) = run.quota.as_ref().and_then(GroupAccount::throttled) {
            let throttled = throttled.among(sharing);
            processes.iter_mut().for_each(|process| process.throttled = Some(throttled));
        }
        let mut overview = Overview::default();
        processes.iter().for_each(|process| overview.add(process));
        Report::with(run, processes, overview.finished(), names.notes)
    }

    /// Of these processes; `notes` are warnings about names.
    pub(super) fn with(
        run: Run,
        mut processes: Vec<ProcessReport>,
        overview: Overview,
        mut notes: Vec<String>,
    ) -> Report {
        processes.sort_by_key(ProcessReport::order);
        let Run { command, label, ended, provenance, objective, simulated, energy, quota } = run;
        let throttled = quota.as_ref().and_then(GroupAccount::throttled);
        let ran = processes.iter().any(|process| !process.regions.is_empty());
        if objective.is_some() && ran && !processes.iter().any(ProcessReport::is_adapted) {
            notes.push("adaptation was asked for, but no region was adapted".into());
        }
        notes.extend(overview.killed());
        let left_out = 0;
        Report {
            start: None,
            busy: busy::lines(&processes, throttled),
            command,
            label,
            ended,
            provenance,
            objective,
            simulated,
            energy,
            processes,
            left_out,
            overview,
            notes,
        }
    }

    /// All lines about the run as a whole: those about the machine come first.
    pub(super) fn remarks(&self) -> Vec<&str> {
        self.busy.iter().chain(&self.notes).map(String::as_str).collect()
    }

    /// Processes in which regions ran or phases were marked.
    pub(super) fn observed(&self) -> impl Iterator<Item = &ProcessReport> {
        self.processes.iter().filter(|process| process.has_figures())
    }

    /// Whether MPI calls were timed.
    pub(super) fn has_mpi(&self) -> bool {
        !self.overview.mpi.calls.is_empty()
    }

    /// A line about each event that a process with regions could not count, which most often is the
    /// same in all of them.
    pub(super) fn uncounted(&self) -> BTreeSet<String> {
        self.observed().flat_map(|process| process.columns.uncounted()).collect()
    }
}
