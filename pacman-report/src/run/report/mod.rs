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
mod thread_state;
mod total;

use std::collections::BTreeSet;
use std::ops::Deref;
use std::time::SystemTime;

use pacman_core::Provenance;
use pacman_regions::{Recording, Remembered, Scheduling};

use super::names::Names;
use crate::exit::Exit;
use crate::quota::GroupAccount;

pub(super) use busy::{Busy, BusyCause};
pub(super) use columns::MOSTLY_READINGS;
pub use columns::{Column, Columns, Count, Figures};
pub use crowd::threads_of;
pub(crate) use efficiency::Efficiency;
pub(super) use efficiency::{EfficiencyTree, Factor, FactorLoss};
pub use energy::RunEnergy;
pub(super) use energy::{EnergyFigures, mean};
pub(super) use figure::Members;
pub(crate) use figure::{FIGURES, Figure, Unit};
pub(super) use mpi::{MpiCall, MpiReport};
pub(super) use mpi_factors::{MpiFactor, MpiFactors, MpiSummary};
pub(super) use open::{OpenExecution, OpenThread};
pub use overview::{Overview, named_ranks};
pub(super) use overview::{RankSummary, RegionSummary};
pub(super) use phase::{PhaseReport, ThreadPhase};
pub use process::ProcessReport;
pub(super) use process::runtime;
pub use region::RegionReport;
pub(super) use seats::Seat;
pub(super) use slots::{CoreSlots, RegionSlots, ThreadSlots};
pub(super) use states::{Losses, Reason, SiteReport, ThreadStates, Wait, WaitSum};
pub(super) use thread::Thread;
pub(super) use thread_state::words;
pub(crate) use thread_state::{THREAD_STATES, ThreadState};

/// All about one run.
#[derive(Debug)]
pub struct Report {
    /// Facts in addition to the recordings.
    pub run: Run,
    /// Every process that left a recording, those with regions first.
    pub processes: Vec<ProcessReport>,
    /// Processes of other ranks with regions, which `overview` alone has.
    pub left_out: usize,
    /// All ranks at a glance.
    pub overview: Overview,
    /// The number of threads that was chosen before the program started, and by what.
    pub start: Option<String>,
    /// Lines about processes whose threads had no processor of their own.
    pub(super) busy: Vec<String>,
    /// Warnings about the figures, one line each.
    pub(super) notes: Vec<String>,
}

/// Facts in addition to the recordings.
#[derive(Clone, Debug)]
pub struct Run {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The user's name of this version of the program.
    pub label: Option<String>,
    /// The end of the program.
    pub ended: Ended,
    /// Where, when and by which version it was made.
    pub provenance: Provenance,
    /// The objective of adaptation; `None` if it only observed.
    pub objective: Option<String>,
    /// The simulated machine whose counts these are.
    pub simulated: Option<String>,
    /// The energy of the packages, if it was read.
    pub energy: Option<RunEnergy>,
    /// The account of the control group whose quota is the tightest.
    pub quota: Option<GroupAccount>,
}

/// The end of the program.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// The process that was waited for; 0 where there was none.
    pub pid: u32,
    /// Its exit status, or its signal.
    pub exit: Exit,
    /// Seconds from its start.
    pub seconds: f64,
    /// The time.
    pub at: SystemTime,
    /// The kernel's account of its first thread.
    pub scheduling: Option<Scheduling>,
}

impl Deref for Report {
    type Target = Run;

    fn deref(&self) -> &Run {
        &self.run
    }
}

impl Report {
    /// The costs that adaptation has measured of each region, with the region's name.
    pub fn remembered(&self) -> impl Iterator<Item = (&str, &Remembered)> {
        let regions = self.processes.iter().flat_map(|process| &process.regions);
        regions.filter_map(|region| {
            Some((region.name.text.as_str(), region.adaptation.as_ref()?.remembered.as_ref()?))
        })
    }

    /// Names and computes.
    pub fn of(run: Run, recordings: &[Recording]) -> Report {
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
        let throttled = run.quota.as_ref().and_then(GroupAccount::throttled);
        let ran = processes.iter().any(|process| !process.regions.is_empty());
        if run.objective.is_some() && ran && !processes.iter().any(ProcessReport::is_adapted) {
            notes.push("adaptation was asked for, but no region was adapted".into());
        }
        notes.extend(overview.killed());
        let left_out = 0;
        Report {
            start: None,
            busy: busy::lines(&processes, throttled),
            run,
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
    pub fn observed(&self) -> impl Iterator<Item = &ProcessReport> {
        self.processes.iter().filter(|process| process.has_figures())
    }

    /// Whether MPI calls were timed.
    pub fn has_mpi(&self) -> bool {
        !self.overview.mpi.calls.is_empty()
    }

    /// A line about each event that a process with regions could not count, which most often is the
    /// same in all of them.
    pub fn uncounted(&self) -> BTreeSet<String> {
        self.observed().flat_map(|process| process.columns.uncounted()).collect()
    }
}
