//! One region: its times, how well its threads shared the work, its counts.

use pacman_regions::{Adaptation, Region, Sampling, Site, Team};

use super::columns::{Columns, Figures};
use super::counts_by_state::CountsByState;
use super::energy::EnergyFigures;
use super::guard::GuardReport;
use super::open::OpenExecution;
use super::seats::Seats;
use super::slots::RegionSlots;
use super::states::RegionStates;
use super::thread::Thread;
use crate::implausible::note;
use crate::run::names::Name;

/// The report of a region.
#[derive(Debug)]
pub(in crate::run) struct RegionReport {
    pub(in crate::run) name: Name,
    /// The label that the program gives it, as it is.
    pub(in crate::run) label: Option<String>,
    pub(in crate::run) site: Site,
    pub(in crate::run) entry: String,
    pub(in crate::run) runtime: usize,
    pub(in crate::run) executions: u64,
    /// The timed executions and the standard error of `seconds`, if times and waits are estimates from a
    /// part of the executions. `executions` is exact.
    pub(in crate::run) sampling: Option<Sampling>,
    pub(in crate::run) nested: u64,
    pub(in crate::run) seconds: f64,
    pub(in crate::run) mean: Option<f64>,
    pub(in crate::run) shortest: f64,
    pub(in crate::run) longest: f64,
    /// Its part of the process's time, from 0 to 1.
    pub(in crate::run) share: Option<f64>,
    pub(in crate::run) teams: Vec<Team>,
    /// Busiest thread's time over the mean, from 1 on; of the team size that ran longest.
    pub(in crate::run) imbalance: Option<f64>,
    /// The part of the threads' time that they waited for each other, from 0 to 1.
    pub(in crate::run) waiting: Option<f64>,
    /// The part of its time that observing it took, as measured for one execution.
    pub(in crate::run) overhead: Option<f64>,
    pub(in crate::run) figures: Figures,
    /// If waits were timed and counted on all threads.
    pub(in crate::run) by_state: Option<CountsByState>,
    /// The energy of the packages, if it was read.
    pub(in crate::run) energy: Option<EnergyFigures>,
    pub(in crate::run) threads: Vec<Thread>,
    pub(in crate::run) adaptation: Option<Adaptation>,
    /// The guards of `adaptation`, with places.
    pub(in crate::run) guards: Vec<GuardReport>,
    /// Seconds of its executions that were inside no other region.
    pub(in crate::run) outer: f64,
    /// Waits and useful time, if they were asked for.
    pub(in crate::run) states: Option<RegionStates>,
    /// The execution that had not ended when the process did.
    pub(in crate::run) open: Option<OpenExecution>,
    /// Issue slots by core, if their events were counted.
    pub(in crate::run) slots: Option<RegionSlots>,
}

impl RegionReport {
    pub(super) fn of(
        region: &Region,
        name: Name,
        (process_seconds, process_watts): (f64, Option<f64>),
        overhead: Option<f64>,
        columns: &Columns,
        seats: &Seats,
    ) -> RegionReport {
        let quotient = |above: f64, below: f64| (below > 0.0).then(|| above / below);
        let executions = region.executions as f64;
        let rows: Vec<&pacman_regions::Row> = region.rows.iter().collect();
        let threads = Thread::all(&region.rows, columns, seats);
        let timed = region.sampling.map_or(executions, |sampling| sampling.timed as f64);
        let overhead = overhead.map(|nanoseconds| nanoseconds * 1e-9 * timed);
        RegionReport {
            name,
            label: region.label.clone(),
            site: region.site.clone(),
            entry: region.entry.clone(),
            runtime: region.runtime,
            executions: region.executions,
            sampling: region.sampling,
            nested: region.nested,
            seconds: region.seconds,
            mean: quotient(region.seconds, executions),
            shortest: region.shortest,
            longest: region.longest,
            share: quotient(region.seconds, process_seconds),
            teams: region.teams.clone(),
            imbalance: imbalance(region),
            waiting: waiting(region),
            overhead: overhead.and_then(|overhead| quotient(overhead, region.seconds)),
            figures: columns.figures(&rows),
            by_state: CountsByState::of(&rows, columns),
            energy: region
                .energy
                .as_ref()
                .and_then(|energy| EnergyFigures::of(energy, process_watts)),
            slots: RegionSlots::of(region.seconds, &threads, columns),
            threads,
            adaptation: region.adaptation.clone(),
            guards: Vec::new(),
            outer: region.seconds,
            states: None,
            open: OpenExecution::of(region, process_seconds),
        }
    }

    /// Says that the counts of a thread were left out; answers the note about it.
    pub(super) fn left_out(&mut self, thread: u32, why: &str) -> String {
        if let Some(thread) = self.threads.iter_mut().find(|one| one.row.thread == thread) {
            thread.implausible = Some(why.to_owned());
        }
        format!("T{thread} in {}: {}", self.name.short(), note(why))
    }

    /// Seconds of wall time that its waiting is worth.
    pub(in crate::run) fn lost(&self) -> f64 {
        self.waiting.unwrap_or(0.0) * self.seconds
    }

    /// The sizes of its teams: `4`, or `2-4`.
    pub(in crate::run) fn team_sizes(&self) -> String {
        let sizes = || self.teams.iter().map(|team| team.threads);
        match (sizes().min(), sizes().max()) {
            (Some(least), Some(most)) if least == most => most.to_string(),
            (Some(least), Some(most)) => format!("{least}-{most}"),
            _ => self.open.as_ref().map_or("?".into(), |open| open.threads.len().to_string()),
        }
    }

    /// `solver.c:12`, where it is known. A region with a label is in Kokkos' own files.
    pub(in crate::run) fn place(&self) -> Option<String> {
        if self.label.is_some() {
            return None;
        }
        let file = crate::run::names::last(self.name.file.as_ref()?);
        Some(match self.name.line {
            Some(line) => format!("{file}:{line}"),
            None => file.to_owned(),
        })
    }
}

/// The busiest thread's time over the mean of all.
///
/// Teams of several sizes do not mix: threads that took part more rarely are not idle ones.
/// The size that ran longest counts, by each thread's time in an execution.
fn imbalance(region: &Region) -> Option<f64> {
    let main = region.teams.iter().max_by(|one, other| one.seconds.total_cmp(&other.seconds))?;
    let busy: Vec<f64> = region
        .rows
        .iter()
        .filter(|row| row.thread < main.threads && row.executions > 0)
        .map(|row| row.seconds / row.executions as f64)
        .collect();
    let mean = busy.iter().sum::<f64>() / busy.len() as f64;
    let most = busy.iter().copied().fold(0.0, f64::max);
    (mean > 0.0).then(|| most / mean)
}

/// The part of their time that the threads of all teams did not work: 1 - busy time / (wall time x
/// threads).
fn waiting(region: &Region) -> Option<f64> {
    let there: f64 = region.teams.iter().map(|team| team.seconds * f64::from(team.threads)).sum();
    let busy: f64 = region.rows.iter().map(|row| row.seconds).sum();
    // Clocks of two threads are read at different moments: a little below 0 is 0.
    (there > 0.0 && !region.rows.is_empty()).then(|| (1.0 - busy / there).max(0.0))
}
