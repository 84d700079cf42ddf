//! Findings: what a change of the program would gain, the dearest first.
//!
//! A gain is predicted from this run alone: from the time of a region's threads on fewer contexts, where adaptation
//! measured it, and from waits, where they were timed. Each finding has one region, its largest.

mod chunks;
mod spin;

use pacman_regions::Cause;
use serde::Serialize;

use super::report::{Factor, ProcessReport, Reason, RegionReport, threads_of};
use super::text::{help, number, reason_at, seconds, share};
use crate::quota;

/// The most findings of a process.
const MOST: usize = 5;
/// The least gain, as a part of the process's time.
const WORTH: f64 = 0.01;
/// Fewer contexts must take at most so much of the time.
const QUICKER: f64 = 0.9;

/// The subject of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    /// The region takes less time on fewer contexts.
    FewerThreads,
    /// Its threads wait for each other.
    Waits,
    /// Threads of the region get chunks of a loop that are too small.
    Chunks,
    /// Threads that wait spin on processors that others of the team need.
    Spin,
    /// The team is wider than the quota of its control group, which stood still.
    Quota,
}

/// A change that would make the program quicker.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Finding {
    /// Subject.
    pub(super) kind: Kind,
    /// Name of the region; `all regions` for a quota and a spin.
    pub(super) region: String,
    /// Source file of the region or of the construct, and line; null if it is not known.
    pub(super) place: Option<String>,
    /// The fact.
    pub(super) fact: String,
    /// The change.
    pub(super) remedy: String,
    /// Predicted gain of wall time. For waits it is their whole part, which is the most that a change can gain; for fewer
    /// threads it is the difference of the usual times. For chunks it is the time of the requests that larger ones save, and for a
    /// spin the most that a sleep can gain. For a quota it is the time beyond that in which the quota allows the
    /// work alone.
    pub(super) gain_s: f64,
    /// Half of the interval of `gain_s` where waits are estimates from a sample; null if it is not known, as for chunks
    /// and a spin.
    pub(super) margin_s: Option<f64>,
}

impl Finding {
    /// The gain that is certain, as far as is known.
    fn least(&self) -> f64 {
        self.gain_s - self.margin_s.unwrap_or(0.0)
    }

    /// The gain for people.
    pub(super) fn gain(&self) -> String {
        match self.margin_s.filter(|margin| *margin > 0.0) {
            Some(margin) => format!("{} ±{}", seconds(self.gain_s), seconds(margin)),
            None => seconds(self.gain_s),
        }
    }

    /// One line without the gain.
    pub(super) fn line(&self) -> String {
        // The fact has the place of a construct.
        let place = self.place.as_ref().filter(|place| !self.fact.contains(*place));
        let place = place.map_or_else(String::new, |place| format!(" ({place})"));
        format!("{}{place}: {}. {}", self.region, self.fact, self.remedy)
    }
}

/// The findings of a process, the dearest first.
pub(super) fn of(process: &ProcessReport) -> Vec<Finding> {
    let mut findings: Vec<Finding> = process
        .regions
        .iter()
        .filter_map(|region| {
            let all = [
                fewer_threads(process, region),
                waits(process, region),
                chunks::of(process, region),
            ];
            all.into_iter().flatten().max_by(|one, other| one.gain_s.total_cmp(&other.gain_s))
        })
        .chain(quota(process))
        .chain(spin::of(process))
        .filter(|finding| finding.least() >= WORTH * process.process.seconds)
        .collect();
    findings.sort_by(|one, other| other.gain_s.total_cmp(&one.gain_s));
    findings.truncate(MOST);
    findings
}

fn fewer_threads(process: &ProcessReport, region: &RegionReport) -> Option<Finding> {
    let packed = &region.adaptation.as_ref()?.packed;
    let &(on, ratio) = packed.iter().min_by(|one, other| one.1.total_cmp(&other.1))?;
    (ratio <= QUICKER).then(|| Finding {
        kind: Kind::FewerThreads,
        region: region.name.short(),
        place: place(region),
        fact: format!(
            "on {on} of {} it takes {} of its time",
            number(process.contexts as usize, "context"),
            share(ratio)
        ),
        remedy: format!("To help: give it num_threads({on}), or more work for each thread."),
        gain_s: region.without_packing() * (1.0 - ratio),
        margin_s: None,
    })
}

/// A group that stood still has given its quota to threads that wait, too. Without them the quota would do the work alone.
/// No account tells both apart. If threads spin where they wait, work has had its part of the threads' time, and would
/// take as long by itself. If they sleep, work has had a processor for all of its time in which the group did not stand
/// still. The longer of both counts.
fn quota(process: &ProcessReport) -> Option<Finding> {
    let threads = threads_of(process);
    let throttled = process.throttled.filter(|throttled| threads as usize > throttled.threads())?;
    let seconds = process.process.seconds;
    let rows = process.regions.iter().flat_map(|region| {
        let outer = if region.seconds > 0.0 { region.outer / region.seconds } else { 0.0 };
        region.threads.iter().map(move |thread| outer * thread.row.seconds)
    });
    let work = rows.sum::<f64>() + (seconds - process.in_regions).max(0.0);
    let processes = throttled.processes();
    let processors = (threads as usize * processes).min(process.contexts as usize);
    let spinning = work / f64::from(threads);
    let awake = work * (1.0 - throttled.time(processors));
    let sleeping = awake * processes as f64 / throttled.cpus();
    let fitting = throttled.threads();
    Some(Finding {
        kind: Kind::Quota,
        region: "all regions".to_owned(),
        place: None,
        fact: format!(
            "{} on {}, which stood still in {} of its periods, and threads that wait used it up, too",
            number(threads as usize, "thread"),
            quota::shown(throttled.cpus()),
            share(throttled.periods())
        ),
        remedy: format!("To help: OMP_NUM_THREADS={fitting}, or OMP_WAIT_POLICY=passive."),
        gain_s: seconds - spinning.max(sleeping).min(seconds),
        margin_s: None,
    })
}

/// Threads that had no processor wait for each other, too: then the waits tell of the machine.
fn waits(process: &ProcessReport, region: &RegionReport) -> Option<Finding> {
    if process.lacks_processors() {
        return None;
    }
    let margin = region.sampling.map_or(0.0, |sampling| sampling.margin);
    let losses = &region.states.as_ref()?.losses;
    let total = |reason: &Reason| {
        losses.reasons.get(reason).map_or(0.0, |(uneven, common)| uneven + common)
    };
    // Requests for chunks have a finding of their own.
    let is_another =
        |reason: &Reason| reason.is_mpi() || matches!(reason, Reason::Site(_, Cause::Chunks));
    let reasons = losses.reasons.keys().copied().filter(|reason| !is_another(reason));
    let worst = reasons.max_by(|one, other| total(one).total_cmp(&total(other)))?;
    let (uneven, common) = losses.reasons.get(&worst).copied()?;
    let factor = if uneven >= common { Factor::LoadBalance } else { Factor::Scheduling };
    let part = total(&worst) / losses.there;
    (losses.there > 0.0 && part > 0.0).then(|| Finding {
        kind: Kind::Waits,
        region: region.name.short(),
        place: match worst {
            Reason::Site(site, _) => process.sites.get(site).map(|site| site.place()),
            _ => place(region),
        },
        fact: format!(
            "its threads wait {} of their time {}",
            share(part),
            reason_at(worst, &process.sites)
        ),
        remedy: help(factor, Some(worst)).to_owned(),
        gain_s: region.outer * part,
        margin_s: Some(region.outer * margin),
    })
}

/// The region's file and line.
fn place(region: &RegionReport) -> Option<String> {
    let (file, line) = (region.name.file.as_ref()?, region.name.line?);
    Some(format!("{}:{line}", super::names::last(file)))
}

#[cfg(test)]
mod tests {
    use pacman_regions::{Adaptation, Recording, Sampling};

    use super::*;
    use crate::quota::Throttled;
    use crate::run::tests::made;

    pub(super) fn findings(recording: &Recording) -> Vec<Finding> {
        of(&made::report(std::slice::from_ref(recording)).processes[0])
    }

    #[test]
    fn the_dearest_five_regions_come_first() {
        let mut recording = made::recording(8);
        assert_eq!(findings(&recording), [], "nothing was measured");
        for (at, region) in recording.regions.iter_mut().enumerate() {
            region.outer = region.seconds;
            let ratio = if at == 2 { 0.95 } else { 0.5 };
            region.adaptation =
                Some(Adaptation { packed: vec![(1, ratio), (2, 0.97)], ..Adaptation::default() });
        }
        let found = findings(&recording);
        let gains: Vec<f64> = found.iter().map(|finding| finding.gain_s).collect();
        assert_eq!(gains, [4.0, 3.5, 2.5, 2.0, 1.5], "the third one has nothing to gain");
        assert_eq!(found[0].kind, Kind::FewerThreads);
        assert!(
            found[0].line().contains("on 1 of 4 contexts it takes 50 % of its time. To help: ")
        );
        recording.regions.iter_mut().for_each(|region| region.outer = 0.01);
        assert_eq!(findings(&recording), [], "5 ms of 4 s are not worth a line");
    }

    #[test]
    fn a_quota_that_waiting_threads_used_up_is_one() {
        let thread = |busy| made::ThreadSpec { busy, start: 0.0, waits: 0.0, cpu: 0 };
        let recording = made::timed(&[thread(4.0), thread(0.0)], "critical");
        let mut report = made::report(&[recording]);
        let process = &mut report.processes[0];
        let quotas = |process: &ProcessReport| {
            let all = of(process).into_iter().filter(|finding| finding.kind == Kind::Quota);
            all.map(|finding| finding.gain_s).collect::<Vec<_>>()
        };
        assert_eq!(quotas(process), [0.0; 0]);
        // Both processors stood still for three quarters of 8.5 s: a quarter of 4.5 s was work.
        process.throttled = Some(Throttled::made(1, 0.5, 1.5));
        assert_eq!(quotas(process), [8.5 - 2.0 * 1.125]);
        assert_eq!(of(process)[0].kind, Kind::Quota, "it is the dearest");
        // Two such processes share it, and four processors stood still.
        process.throttled = Some(Throttled::made(1, 0.5, 3.0).among(2));
        assert_eq!(quotas(process), [8.5 - 4.0 * 1.125]);
        // One of two processors stood still, because one thread slept.
        process.throttled = Some(Throttled::made(1, 0.5, 0.5));
        assert_eq!(quotas(process), [8.5 - 2.0 * 3.375]);
        process.throttled = Some(Throttled::made(1, 0.5, 0.0));
        assert_eq!(quotas(process), [0.0; 0], "all of it was work");
        process.throttled = Some(Throttled::made(2, 1.5, 1.5));
        assert_eq!(quotas(process), [0.0; 0], "two threads have something to do");
    }

    #[test]
    fn waits_have_the_place_of_their_construct() {
        let thread = |waits| made::ThreadSpec { busy: 8.0, start: 0.0, waits, cpu: 0 };
        let recording = made::timed(&[thread(6.0), thread(4.0)], "critical");
        let found = findings(&recording);
        let [finding] = &found[..] else { panic!("{found:?}") };
        assert_eq!(finding.kind, Kind::Waits);
        assert!(finding.fact.contains("for a critical section"), "{finding:?}");
        assert!(finding.remedy.contains("hold the lock for less work"), "{finding:?}");
        assert_eq!(finding.gain_s, 5.0, "the threads wait 10 of their 16 s in a region of 8 s");
        assert_eq!((finding.margin_s, &*finding.gain()), (Some(0.0), "5.00 s"));

        let with = |margin| {
            let mut recording = recording.clone();
            recording.regions[0].sampling = Some(Sampling { timed: 5, margin, cost: None });
            findings(&recording)
        };
        assert_eq!(with(0.25)[0].gain(), "5.00 s ±2.00 s");
        assert_eq!(with(0.62), [], "it may be nothing");
    }
}
