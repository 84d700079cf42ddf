//! One region: its times, how well its threads shared the work, its counts.

use pacman_regions::{Adaptation, Region, Sampling, Site, Team};

use super::columns::{Columns, Figures};
use super::counts_by_state::CountsByState;
use super::energy::EnergyFigures;
use super::open::OpenExecution;
use super::seats::Seats;
use super::slots::RegionSlots;
use super::states::RegionStates;
use super::thread::Thread;
use super::total::total_of;
use crate::implausible::note;
use crate::run::names::Name;

/// The report of a region.
#[derive(Debug)]
pub struct RegionReport {
    /// Its name and place.
    pub name: Name,
    /// The label that the program gives it, as it is.
    pub(in crate::run) label: Option<String>,
    pub(in crate::run) site: Site,
    pub(in crate::run) entry: String,
    pub(in crate::run) runtime: usize,
    /// Executions that ended.
    pub executions: u64,
    /// If the figures of threads are estimates from a part of the executions. `executions` and `seconds` are exact.
    pub(in crate::run) sampling: Option<Sampling>,
    /// Executions inside other regions.
    pub nested: u64,
    /// The executions inside of other ones of this region. Only the outermost ones are in `seconds` and `mean`.
    pub(in crate::run) within: u64,
    /// The threads that started it.
    pub(in crate::run) starters: u32,
    pub(in crate::run) seconds: f64,
    pub(in crate::run) mean: Option<f64>,
    pub(in crate::run) shortest: f64,
    pub(in crate::run) longest: f64,
    /// Its part of the process's time: from 0 to the number of threads that started it.
    pub(in crate::run) share: Option<f64>,
    /// The sizes of teams that ran it.
    pub teams: Vec<Team>,
    /// Busiest thread's time over the mean, from 1 on; of the team size that ran longest.
    pub(in crate::run) imbalance: Option<f64>,
    /// The part of the threads' time that they waited for each other, from 0 to 1.
    pub(in crate::run) waiting: Option<f64>,
    /// How far `imbalance` may be from the truth, if it is an estimate.
    pub(in crate::run) imbalance_margin: Option<f64>,
    /// The part of its time that observing it took.
    pub(in crate::run) overhead: Option<f64>,
    /// The counts of all threads.
    pub figures: Figures,
    /// If waits were timed and counted on all threads.
    pub(in crate::run) by_state: Option<CountsByState>,
    /// The energy of the packages, if it was read.
    pub(in crate::run) energy: Option<EnergyFigures>,
    pub(in crate::run) threads: Vec<Thread>,
    pub(in crate::run) adaptation: Option<Adaptation>,
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
    /// The time outside of other regions that it would have taken without packing.
    pub(in crate::run) fn without_packing(&self) -> f64 {
        let gained = self.adaptation.as_ref().and_then(|adaptation| adaptation.gained);
        (self.outer + gained.unwrap_or(0.0)).max(0.0)
    }

    pub(super) fn of(
        region: &Region,
        name: Name,
        (process_seconds, process_watts): (f64, Option<f64>),
        overhead: Option<f64>,
        columns: &Columns,
        seats: &Seats,
    ) -> RegionReport {
        let quotient = |above: f64, below: f64| (below > 0.0).then(|| above / below);
        let rows: Vec<&pacman_regions::Row> = region.rows.iter().collect();
        let threads = Thread::all(&region.rows, columns, seats);
        let observed = |seconds: f64| quotient(seconds, region.seconds);
        let overhead = match region.sampling {
            // Measured in this region.
            Some(Sampling { cost, timed, .. }) => cost.map(|cost| cost * timed as f64),
            None => overhead.map(|nanoseconds| nanoseconds * 1e-9 * region.executions as f64),
        };
        let imbalance = imbalance(region);
        RegionReport {
            name,
            label: region.label.clone(),
            site: region.site.clone(),
            entry: region.entry.clone(),
            runtime: region.runtime,
            executions: region.executions,
            sampling: region.sampling,
            nested: region.nested,
            within: region.within,
            starters: region.starters,
            seconds: region.seconds,
            mean: quotient(region.seconds, region.executions.saturating_sub(region.within) as f64),
            shortest: region.shortest,
            longest: region.longest,
            share: quotient(region.seconds, process_seconds),
            teams: region.teams.clone(),
            imbalance: imbalance.map(|(value, _)| value),
            imbalance_margin: imbalance.map(|(_, margin)| margin).filter(|margin| *margin > 0.0),
            waiting: waiting(region),
            overhead: overhead.and_then(observed),
            figures: columns.figures(&rows),
            by_state: CountsByState::of(&rows, columns),
            energy: region
                .energy
                .as_ref()
                .and_then(|energy| EnergyFigures::of(energy, process_watts)),
            slots: RegionSlots::of(region.seconds, &threads, columns),
            threads,
            adaptation: region.adaptation.clone(),
            outer: region.outer,
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
            _ => self.open.as_ref().map_or("?".into(), |open| open.threads.0.len().to_string()),
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

/// The busiest thread's time over the mean of all, and its margin. `None` if an estimate says nothing.
///
/// Teams of several sizes do not mix: threads that took part more rarely are not idle ones.
/// The size that ran longest counts, by each thread's time in an execution.
fn imbalance(region: &Region) -> Option<(f64, f64)> {
    let main = region.teams.iter().max_by(|one, other| one.seconds.total_cmp(&other.seconds))?;
    let busy: Vec<f64> = region
        .rows
        .iter()
        .filter(|row| row.thread < main.threads && row.executions > row_within(region, row))
        .map(|row| row.seconds / (row.executions - row_within(region, row)) as f64)
        .collect();
    let mean = total_of(busy.iter().copied()) / busy.len() as f64;
    let most = busy.iter().copied().fold(0.0, f64::max);
    if mean <= 0.0 || !mean.is_finite() {
        return None;
    }
    let value = most / mean;
    let Some(Sampling { margin, .. }) = region.sampling else { return Some((value, 0.0)) };
    // Shares of the time of an execution. With one thread the busiest is the mean.
    let time = main.seconds / main.executions.max(1) as f64;
    let (most, mean) = (most / time, mean / time);
    let (least, highest) = (1.0, busy.len() as f64);
    let low = ((most - margin) / (mean + margin)).max(least);
    let high = if mean > margin { (most + margin) / (mean - margin) } else { highest };
    let margin = (value - low).max(high.min(highest) - value);
    region.sampling.is_some_and(|sampling| sampling.is_known()).then_some((value, margin))
}

/// The executions of a row without a time of their own. Each thread is in as many of them as the whole region.
fn row_within(region: &Region, row: &pacman_regions::Row) -> u64 {
    region.within.min(row.executions.saturating_sub(1))
}

/// The part of their time that the threads of all teams did not work: 1 - busy time / (wall time x
/// threads). `None` if an estimate says nothing.
fn waiting(region: &Region) -> Option<f64> {
    let there = total_of(region.teams.iter().map(|team| team.seconds * f64::from(team.threads)));
    let busy = total_of(region.rows.iter().map(|row| row.seconds));
    let is_known = region.sampling.is_none_or(|sampling| sampling.is_known());
    // Clocks of two threads are read at different moments: a little below 0 is 0.
    (is_known && there > 0.0 && !region.rows.is_empty()).then(|| (1.0 - busy / there).max(0.0))
}
