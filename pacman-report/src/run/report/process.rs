//! One process: who ran, its regions by time, and when they ran.

use pacman_events::plural::{self, number};
use std::collections::BTreeSet;

use pacman_regions::{
    Ending, ExecutionLog, Overhead, Process, ProcessEnergy, Recording, Runtime, RuntimeFamily,
    Scheduling, Timeline, TimelineRow,
};

use super::columns::{Columns, Figures};
use super::efficiency::{self, EfficiencyTree};
use super::energy::{self, RunEnergy};
use super::mpi::MpiReport;
use super::phase::PhaseReport;
use super::region::RegionReport;
use super::seats::Seats;
use super::states::{RegionStates, SiteReport, share_on};
use super::total::total_of;
use crate::implausible::{leave_out, leave_out_of_phases};
use crate::quota::Throttled;
use crate::run::endings;
use crate::run::names::{Name, Names, tell_apart};

/// The report of a process.
#[derive(Debug)]
pub struct ProcessReport {
    /// The process itself.
    pub process: Process,
    /// The OpenMP runtimes that it called.
    pub runtimes: Vec<Runtime>,
    /// Threads of a team of which the program says nothing.
    pub threads: u32,
    pub(in crate::run) contexts: u32,
    /// The cores that the process may use have at least this number, if the topology is known.
    pub(in crate::run) cores: Option<u32>,
    /// The events that were counted.
    pub columns: Columns,
    pub(in crate::run) overhead: Overhead,
    /// The energy of the packages, if it was read.
    pub(in crate::run) energy: Option<ProcessEnergy>,
    /// The regions with the most time come first.
    pub regions: Vec<RegionReport>,
    /// The phases that the program marks, those with the most time first.
    pub(in crate::run) phases: Vec<PhaseReport>,
    /// Rows by their index in `regions`.
    pub(in crate::run) timeline: Timeline,
    /// The first single executions of each thread, with regions by their index in `regions`; empty unless
    /// they were asked for.
    pub(in crate::run) logs: Vec<ExecutionLog>,
    /// Seconds in regions that were in no other.
    pub in_regions: f64,
    /// The threads that started these.
    pub roots: u32,
    /// The waiting constructs, in the order of first use.
    pub(in crate::run) sites: Vec<SiteReport>,
    /// Where the time went, if waits were timed.
    pub(in crate::run) efficiency: Option<EfficiencyTree>,
    /// The MPI calls, if they were timed and there were any.
    pub(in crate::run) mpi: Option<MpiReport>,
    /// The kernel's account of the threads, if the process exited by itself.
    pub(in crate::run) scheduling: Option<Scheduling>,
    /// Its control group stood still, because it had used up its quota.
    pub(in crate::run) throttled: Option<Throttled>,
    /// Warnings about the figures, one line each.
    pub notes: Vec<String>,
}

/// Why phases have no counts.
const UNCOUNTED_PHASES: &str = "phases have no counts: event sets take turns by the executions of regions; \
                                count fewer events for phases";

impl ProcessReport {
    pub(in crate::run) fn of(
        recording: &Recording,
        names: &mut Names,
        run: Option<&RunEnergy>,
    ) -> ProcessReport {
        let mut recording = recording.clone();
        let left_out = leave_out(&mut recording);
        let of_phases = leave_out_of_phases(&mut recording);
        let recording = &recording;
        let seats = &recording.machine.as_ref().map(Seats::of).unwrap_or_default();
        let mut columns = Columns::of(&recording.events, &recording.sets, &recording.overhead);
        let all = total(recording, &columns);
        let counts = columns.hardware(&all);
        columns.metrics.leave_out_unmoved(&counts);
        let mut named: Vec<Name> =
            recording.regions.iter().map(|region| names.of_region(region)).collect();
        let sites = recording.regions.iter().map(|region| &region.site);
        tell_apart(&mut named.iter_mut().zip(sites).collect::<Vec<_>>());
        let mut order: Vec<usize> = (0..recording.regions.len()).collect();
        order.sort_by(|one, other| {
            recording.regions[*other].seconds.total_cmp(&recording.regions[*one].seconds)
        });
        let sites: Vec<SiteReport> = recording
            .waits
            .iter()
            .flat_map(|waits| &waits.sites)
            .map(|site| SiteReport { name: names.of(&site.site), site: site.clone() })
            .collect();
        let overhead = recording.overhead.nanoseconds;
        let seconds = recording.process.seconds;
        let watts = energy::watts(recording);
        let mut regions: Vec<RegionReport> = order
            .iter()
            .map(|&at| {
                let name = std::mem::take(&mut named[at]);
                let region = &recording.regions[at];
                RegionReport {
                    states: RegionStates::of(region, &sites),
                    ..RegionReport::of(region, name, (seconds, watts), overhead, &columns, seats)
                }
            })
            .collect();
        let mut notes = recording.notes.clone();
        let (phases, of_phases) = PhaseReport::all(&recording.phases, &of_phases, &columns, seats);
        notes.extend(of_phases);
        if columns.rotate() && !phases.is_empty() {
            notes.push(UNCOUNTED_PHASES.into());
        }
        for one in &left_out {
            let place = order.iter().position(|at| *at == one.region).expect("all are in order");
            notes.push(regions[place].left_out(one.thread, &one.why));
        }
        for region in &regions {
            let open = region.open.as_ref();
            let ending = recording.process.ending;
            notes.extend(open.map(|open| open.note(&region.name.short(), ending, &sites)));
        }
        let figures = regions.iter().map(|region| &region.figures);
        let figures = figures.chain(phases.iter().map(|phase| &phase.figures));
        notes.extend(columns.notes(&all, figures));
        notes.extend(uncounted_threads(recording));
        notes.extend(efficiency::notes_on_times(recording));
        notes.extend(efficiency::notes(recording));
        notes.extend(endings::note(recording));
        if let Some(energy) = &recording.energy {
            notes.extend(energy::notes(energy, &recording.regions, run));
        }
        ProcessReport {
            in_regions: total_of(recording.regions.iter().map(|region| region.outer)),
            roots: recording.roots,
            efficiency: EfficiencyTree::of(recording, &regions),
            mpi: MpiReport::of(recording),
            sites,
            scheduling: recording.scheduling,
            throttled: None,
            timeline: reordered(&recording.timeline, &order),
            logs: reordered_logs(&recording.logs, &order),
            process: recording.process.clone(),
            runtimes: recording.runtimes.clone(),
            threads: recording.threads,
            contexts: recording.contexts,
            cores: match seats.contexts_per_core() {
                0 => None,
                on_each => Some(recording.contexts.div_ceil(on_each)),
            },
            overhead: recording.overhead.clone(),
            energy: recording.energy.clone(),
            columns,
            regions,
            phases,
            notes,
        }
    }

    /// Whether regions ran or phases were marked.
    pub(in crate::run) fn has_figures(&self) -> bool {
        !self.regions.is_empty() || !self.phases.is_empty()
    }

    /// Processes with regions or phases come first, and ranks in their order.
    pub(super) fn order(&self) -> (bool, bool, u32) {
        let rank = self.process.rank.map(|rank| rank.rank);
        (!self.has_figures(), rank.is_none(), rank.unwrap_or_default())
    }

    /// The part of the time in which threads could run that they ran, if the kernel told.
    pub(in crate::run) fn processor_share(&self) -> Option<f64> {
        self.scheduling.as_ref()?.processor_share()
    }

    /// The part of useful time in regions that threads were on a processor, if waits were timed and the
    /// kernel's clock could be read in all of them.
    pub(in crate::run) fn useful_processor_share(&self) -> Option<f64> {
        let (mut useful, mut off) = (0.0, 0.0);
        for region in &self.regions {
            let part = if region.seconds > 0.0 { region.outer / region.seconds } else { 0.0 };
            if part > 0.0 {
                let (own, own_off) = region.states.as_ref()?.useful_time();
                (useful, off) = (useful + part * own, off + part * own_off?);
            }
        }
        share_on(useful, off)
    }

    /// Whether threads got clearly less than a processor each, so that times and waits are not the
    /// program's alone.
    pub(in crate::run) fn lacks_processors(&self) -> bool {
        self.scheduling.is_some_and(|scheduling| scheduling.lacks_processors())
    }

    /// The part of the process's time inside regions, from 0 to 1: of that time for each thread that starts regions.
    pub(in crate::run) fn share(&self) -> f64 {
        let all = self.process.seconds * f64::from(self.roots.max(1));
        if all > 0.0 { self.in_regions / all } else { 0.0 }
    }

    /// The region whose waiting is worth most time.
    pub(in crate::run) fn worst(&self) -> Option<&RegionReport> {
        let outer = self.regions.iter().filter(|region| region.nested < region.executions);
        outer.max_by(|one, other| one.lost().total_cmp(&other.lost()))
    }

    /// Some region was under the controller.
    pub(in crate::run) fn is_adapted(&self) -> bool {
        self.regions.iter().any(|region| region.adaptation.is_some())
    }

    /// The program's file name.
    pub(in crate::run) fn program(&self) -> &str {
        self.process.command.first().map_or("?", |program| crate::run::names::last(program))
    }

    /// `libgomp`, `libgomp and libomp`, with versions where they are known.
    pub fn runtimes(&self) -> String {
        let names: Vec<String> = self.runtimes.iter().map(runtime).collect();
        if names.is_empty() { "no OpenMP runtime".into() } else { names.join(" and ") }
    }
}

pub(in crate::run) fn runtime(runtime: &Runtime) -> String {
    let family = match runtime.family {
        RuntimeFamily::Libgomp => "libgomp",
        RuntimeFamily::Libomp => "libomp",
    };
    match &runtime.version {
        Some(version) => format!("{family} ({version})"),
        None => family.to_owned(),
    }
}

/// Of how many threads not all executions were counted; the library has noted the reasons.
fn uncounted_threads(recording: &Recording) -> Option<String> {
    if recording.events.iter().all(|event| event.uncounted.is_some()) {
        return None;
    }
    // The last region may be entered before its counts are.
    let unfinished = u64::from(recording.process.ending != Ending::Exit);
    let phases = recording.phases.iter().flat_map(|phase| &phase.threads);
    let rows = recording.regions.iter().flat_map(|region| &region.rows);
    let rows = rows.chain(phases.map(|thread| &thread.row));
    let lacking = rows.filter(|row| row.counted + unfinished < row.executions);
    let threads: BTreeSet<u32> = lacking.map(|row| row.thread).collect();
    (!threads.is_empty()).then(|| {
        let (threads, were) = (number(threads.len(), "thread"), plural::was(threads.len()));
        format!("{threads} {were} not counted in every execution; their times are whole")
    })
}

fn reordered(timeline: &Timeline, order: &[usize]) -> Timeline {
    let place = |region: usize| order.iter().position(|at| *at == region);
    let mut rows: Vec<TimelineRow> = timeline
        .rows
        .iter()
        .filter_map(|row| Some(TimelineRow { region: place(row.region)?, ..row.clone() }))
        .collect();
    rows.sort_by_key(|row| row.region);
    Timeline { bin: timeline.bin, rows }
}

fn reordered_logs(logs: &[ExecutionLog], order: &[usize]) -> Vec<ExecutionLog> {
    let mut places = vec![usize::MAX; order.len()];
    order.iter().enumerate().for_each(|(place, at)| places[*at] = place);
    let mut logs = logs.to_vec();
    for log in &mut logs {
        log.executions.retain_mut(|one| {
            one.region = places.get(one.region).copied().unwrap_or(usize::MAX);
            one.region != usize::MAX
        });
    }
    logs
}

fn total(recording: &Recording, columns: &Columns) -> Figures {
    let phases = recording.phases.iter().flat_map(|phase| &phase.threads);
    let rows = recording.regions.iter().flat_map(|region| &region.rows);
    let rows: Vec<_> = rows.chain(phases.map(|thread| &thread.row)).collect();
    columns.figures(&rows)
}
