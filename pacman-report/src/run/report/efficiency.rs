//! The efficiency tree: which part of the threads' time was useful, and what the rest was lost to.
//!
//! The formulas are those of DLB's TALP (POP metrics): parallel efficiency = MPI efficiency ×
//! serialization × load balance × scheduling. [`super::mpi`] has the factors over processes.

use pacman_events::plural::{self, number};
use pacman_regions::{Cause, Recording};
use serde::{Deserialize, Serialize};

use super::mpi;
use super::region::RegionReport;
use super::states::{Losses, Reason};

/// Parts of the threads' time, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Efficiency {
    /// Useful part of the threads' time: `mpi` × `serialization` × `load_balance` × `scheduling`.
    pub(crate) parallel: f64,
    /// Part outside of MPI and of waits for it.
    pub(crate) mpi: f64,
    /// The part without the time in which threads have no region.
    pub(crate) serialization: f64,
    /// The part of that without waits for threads with more to do.
    pub(crate) load_balance: f64,
    /// The part of that without the time that all threads lost alike.
    pub(crate) scheduling: f64,
}

impl Efficiency {
    /// The names of its members.
    pub(crate) const NAMES: [&str; 5] =
        ["parallel", "mpi", "serialization", "load_balance", "scheduling"];

    /// Its members in their order.
    pub(crate) fn parts(self) -> [f64; 5] {
        [self.parallel, self.mpi, self.serialization, self.load_balance, self.scheduling]
    }

    /// The same from its members.
    pub(crate) fn from_parts(parts: [f64; 5]) -> Efficiency {
        let [parallel, mpi, serialization, load_balance, scheduling] = parts;
        Efficiency { parallel, mpi, serialization, load_balance, scheduling }
    }

    /// Of threads with `serial` seconds without a region beside these losses.
    pub(super) fn of(serial: f64, losses: &Losses) -> Option<Efficiency> {
        let all = serial + losses.there;
        let outside_mpi = losses.there - losses.mpi;
        let after_balance = outside_mpi - losses.uneven;
        let useful = after_balance - losses.common;
        let part =
            |above: f64, below: f64| if below > 0.0 { (above / below).max(0.0) } else { 1.0 };
        (all > 0.0).then(|| Efficiency {
            parallel: part(useful, all),
            mpi: part(all - losses.mpi, all),
            serialization: part(outside_mpi, all - losses.mpi),
            load_balance: part(after_balance, outside_mpi),
            scheduling: part(useful, after_balance),
        })
    }

    /// Of one region.
    pub(in crate::run) fn of_region(losses: &Losses) -> Option<Efficiency> {
        Efficiency::of(0.0, losses)
    }
}

/// The factors of the parallel efficiency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::run) enum Factor {
    Mpi,
    Serialization,
    LoadBalance,
    Scheduling,
}

/// A factor with its value, and the reason that costs it most: its part of all threads' time.
#[derive(Clone, Copy, Debug)]
pub(in crate::run) struct FactorLoss {
    pub(in crate::run) factor: Factor,
    pub(in crate::run) value: f64,
    pub(in crate::run) worst: Option<(Reason, f64)>,
}

/// The tree of a process.
#[derive(Debug)]
pub(in crate::run) struct EfficiencyTree {
    /// The threads of the widest team.
    pub(in crate::run) threads: u32,
    pub(in crate::run) efficiency: Efficiency,
    /// Seconds of all threads without a region. The thread that starts regions works then.
    pub(in crate::run) serial: f64,
    /// Of all regions, and of thread 0 outside of regions.
    pub(in crate::run) losses: Losses,
    /// How far the parallel efficiency may be from the truth, because the waits of some regions are estimates. Above
    /// 0.5 it is not known.
    pub(in crate::run) margin: f64,
}

impl EfficiencyTree {
    /// `None` without timed waits, or if several threads started regions: their regions overlap.
    pub(super) fn of(recording: &Recording, regions: &[RegionReport]) -> Option<EfficiencyTree> {
        recording.waits.as_ref().filter(|waits| !waits.several_roots)?;
        // Nothing is known of threads in an execution without its end.
        let open = regions.iter().filter_map(|region| region.open.as_ref());
        let open = open.map(|open| open.seconds).fold(0.0, f64::max);
        if open > 0.0 && regions.iter().all(|region| region.executions == 0) {
            return None;
        }
        let seconds = recording.process.seconds - open;
        let (mut losses, mut threads, mut inside) = (Losses::default(), 1, 0.0);
        let mut uncertain = 0.0;
        for region in regions {
            let part = if region.seconds > 0.0 { region.outer / region.seconds } else { 0.0 };
            if part > 0.0 {
                let widest = region.teams.iter().map(|team| team.threads).max();
                threads = threads.max(widest.unwrap_or(1));
                let own = &region.states.as_ref()?.losses;
                let margin = region.sampling.map_or(0.0, |sampling| sampling.margin);
                uncertain += margin * part * own.there;
                losses.add(own, part);
                inside += region.outer;
            }
        }
        // The thread that starts regions works outside of them, or calls MPI while the others wait for it.
        let alone = seconds - inside;
        let mpi = mpi::outside(recording).min(alone.max(0.0));
        losses.there += alone + f64::from(threads - 1) * mpi;
        losses.mpi += f64::from(threads) * mpi;
        for (site, seconds) in mpi::outside_by_site(recording) {
            let reason = losses.reasons.entry(Reason::Site(site, Cause::Mpi)).or_default();
            reason.0 += f64::from(threads) * seconds;
        }
        let serial = f64::from(threads) * seconds - losses.there;
        let margin = uncertain / (f64::from(threads) * seconds);
        Some(EfficiencyTree {
            threads,
            efficiency: Efficiency::of(serial, &losses)?,
            serial,
            losses,
            margin,
        })
    }

    /// The factors, worst first.
    pub(in crate::run) fn factors(&self) -> Vec<FactorLoss> {
        let Efficiency { mpi, serialization, load_balance, scheduling, .. } = self.efficiency;
        let all = self.serial + self.losses.there;
        let worst = |is_mpi: bool, of: fn(&(f64, f64)) -> f64| {
            let reasons = self.losses.reasons.iter();
            let reasons = reasons.filter(|(reason, _)| reason.is_mpi() == is_mpi);
            let reasons = reasons.map(|(reason, losses)| (*reason, of(losses) / all));
            reasons.max_by(|one, other| one.1.total_cmp(&other.1)).filter(|(_, part)| *part > 0.0)
        };
        let mut factors = [
            (Factor::Mpi, mpi, worst(true, |losses| losses.0 + losses.1)),
            (Factor::Serialization, serialization, None),
            (Factor::LoadBalance, load_balance, worst(false, |losses| losses.0)),
            (Factor::Scheduling, scheduling, worst(false, |losses| losses.1)),
        ]
        .map(|(factor, value, worst)| FactorLoss { factor, value, worst })
        .to_vec();
        factors.retain(|one| one.factor != Factor::Mpi || self.losses.mpi > 0.0);
        factors.sort_by(|one, other| one.value.total_cmp(&other.value));
        factors
    }
}

/// The least time of requests for chunks, as a part of the process's time, of which a note says that it is an estimate.
const SEEN: f64 = 0.01;

/// Lines on what the figures lack.
pub(super) fn notes(recording: &Recording) -> Vec<String> {
    let Some(waits) = &recording.waits else { return Vec::new() };
    let states = || {
        let rows = recording.regions.iter().flat_map(|region| &region.rows);
        rows.filter_map(|row| row.states.as_ref())
    };
    let mut notes = Vec::new();
    if waits.several_roots {
        notes.push(
            "several threads started regions: there is no efficiency of the whole program".into(),
        );
    }
    let dropped: u64 = states().map(|states| states.dropped).sum();
    let dropped = dropped + waits.outside.iter().map(|own| own.dropped).sum::<u64>();
    if dropped > 0 {
        let (waits, were) = (number(dropped, "wait"), plural::was(dropped));
        notes.push(format!("{waits} {were} left without an end (longjmp); no figure has them"));
    }
    let is_request =
        |site: usize| waits.sites.get(site).is_some_and(|one| one.cause == Cause::Chunks);
    let requests = states().flat_map(|states| &states.waits).filter(|wait| is_request(wait.site));
    let asking: f64 = requests.map(|wait| wait.seconds).sum();
    if asking >= SEEN * recording.process.seconds {
        notes.push(
            "requests for chunks of loops are counted, and few are timed: their time is an estimate, whose error is not \
             known"
                .into(),
        );
    }
    let unseen: u64 = states().map(|states| states.unseen_tasks).sum();
    if unseen > 0 {
        let tasks = number(unseen, "task");
        notes.push(format!("{tasks} could not be followed (detach): waits may include their time"));
    }
    if recording.regions.iter().any(|region| region.nested > 0) {
        notes.push("a region inside another one counts as useful time of the outer one".into());
    }
    notes
}

/// Lines on times that threads have at once, and on regions inside of themselves.
pub(super) fn notes_on_times(recording: &Recording) -> Vec<String> {
    let mut notes = Vec::new();
    if recording.roots > 1 {
        notes.push(format!(
            "{roots} threads started regions outside of others: times of regions add up to at most {roots} times the \
             process's time",
            roots = recording.roots
        ));
    }
    let over = recording.regions.iter().filter(|region| region.seconds > recording.process.seconds);
    if let Some(starters) = over.map(|region| region.starters).max() {
        notes.push(format!(
            "a share above 100 % is of a region that up to {starters} threads started at the same time"
        ));
    }
    let within: u64 = recording.regions.iter().map(|region| region.within).sum();
    if within > 0 {
        notes.push(format!(
            "{} {} inside of an execution of the same region: only the outermost one has the time",
            number(within, "execution"),
            plural::was(within)
        ));
    }
    notes
}
