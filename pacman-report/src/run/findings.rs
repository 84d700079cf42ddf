//! Findings: what a change of the program would gain, the dearest first.
//!
//! A gain is predicted from this run alone: from the time of a region's threads on fewer contexts, where adaptation
//! measured it, and from waits, where they were timed. Each finding has one region, its largest.

mod chunks;
mod spin;
#[cfg(test)]
mod tests;

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
