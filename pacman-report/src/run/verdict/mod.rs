//! The sentence at the top: what costs the threads most time, where, and what would help.

mod contention;
mod costs;
mod headline;
mod kind;
mod sentence;
mod shared;
#[cfg(test)]
mod tests;

use super::report::{Busy, BusyCause, ProcessReport, RegionReport, threads_of};
use super::text::{help, reason_at, share};
use costs::Cost;
pub(super) use headline::Headline;
use kind::Kind;
use sentence::{Sentence, titled};

/// The verdict.
#[derive(Debug)]
struct Verdict<'a> {
    kind: Kind,
    /// The region that the sentence names.
    region: Option<&'a RegionReport>,
    sentence: Sentence,
    /// Advice; may be empty.
    help: String,
}

/// The verdict on processes; `None` if no waits were timed, threads had processors, and siblings do not
/// compete for cores.
fn of<'a>(processes: &[&'a ProcessReport]) -> Option<Verdict<'a>> {
    let several = processes.len() > 1;
    if let Some(verdict) = without_processors(processes, several) {
        return Some(verdict);
    }
    let timed = || processes.iter().copied().filter(|process| has_states(process));
    if timed().next().is_none() {
        return competing(processes);
    }
    let (mut costs, mut all): (Vec<Cost>, f64) = (Vec::new(), 0.0);
    for process in timed() {
        all += costs::add(process, &mut costs);
    }
    let of_kind = |kind: Kind| -> f64 {
        costs.iter().filter(|cost| cost.kind == kind).map(|cost| cost.seconds).sum()
    };
    let most = costs.iter().map(|cost| (cost.kind, of_kind(cost.kind) / all));
    let most = most.max_by(|one, other| one.1.total_cmp(&other.1));
    let most = most.filter(|(_, part)| all > 0.0 && *part >= WORTH);
    let own = most.and_then(|(kind, _)| {
        let of_kind = costs.iter().filter(|cost| cost.kind == kind);
        of_kind.max_by(|one, other| one.seconds.total_cmp(&other.seconds))
    });
    if matches!(most, None | Some((Kind::Imbalance | Kind::Common, _))) {
        let first = timed().next().and_then(|process| Some((process, process.regions.first()?)));
        let place = own.and_then(|cost| cost.place);
        let place = place.and_then(|(process, region, _)| Some((process, region?)));
        let imbalance = most.filter(|(kind, _)| *kind == Kind::Imbalance).map(|(_, part)| part);
        let at = place.or(first);
        if let Some((sentence, help)) = at.and_then(|at| shared::cores(at, imbalance)) {
            let region = at.map(|(_, region)| region);
            return Some(Verdict { kind: Kind::SharedCores, region, sentence, help });
        }
        let competing = at.filter(|_| most.is_none_or(|(_, part)| part < LARGE));
        if let Some((sentence, help)) = competing.and_then(|(_, region)| contention::of(region)) {
            let region = at.map(|(_, region)| region);
            return Some(Verdict { kind: Kind::Contention, region, sentence, help });
        }
    }
    Some(match (most, own) {
        (Some((kind, part)), Some(cost)) => blame(kind, part, cost, several),
        _ => little(&costs, all),
    })
}

/// The first process whose longest region has siblings that compete for cores. Where waits were not
/// timed, the waiting at the end of the region must be small.
fn competing<'a>(processes: &[&'a ProcessReport]) -> Option<Verdict<'a>> {
    let longest = processes.iter().filter_map(|process| process.regions.first());
    let mut evenly = longest.filter(|region| region.waiting.is_none_or(|part| part < LARGE));
    evenly.find_map(|region| {
        let (sentence, help) = contention::of(region)?;
        Some(Verdict { kind: Kind::Contention, region: Some(region), sentence, help })
    })
}

fn has_states(process: &ProcessReport) -> bool {
    process.regions.iter().any(|region| region.states.is_some())
}

/// Other programs, or more threads than contexts, took the processors: waits are not to blame.
///
/// Of several processes, those that lacked processors must have had half of the threads' time.
fn without_processors(processes: &[&ProcessReport], several: bool) -> Option<Verdict<'static>> {
    let (lacking, others): (Vec<&ProcessReport>, Vec<&ProcessReport>) =
        processes.iter().copied().partition(|process| process.lacks_processors());
    let time = |processes: &[&ProcessReport]| -> f64 {
        let time = |one: &&ProcessReport| one.process.seconds * f64::from(threads_of(one));
        processes.iter().map(time).sum()
    };
    let ran = |process: &ProcessReport| process.processor_share().unwrap_or(1.0);
    let process = *lacking.iter().min_by(|one, other| ran(one).total_cmp(&ran(other)))?;
    if time(&lacking) < time(&others) {
        return None;
    }
    let Busy { ran, cause } = Busy::of(process, processes.iter().copied())?;
    let of = match several {
        true => format!(" of {}", sentence::process(process)),
        false => String::new(),
    };
    let times = "Times below are in part waits for a processor";
    let (kind, reason, help) = match cause {
        BusyCause::Crowd(crowd) => (
            Kind::Crowded,
            format!(
                "There were more threads than processors, {} on {}",
                crowd.threads, crowd.contexts
            ),
            format!("{times}. {}.", cause.help()),
        ),
        BusyCause::Quota(quota) => (
            Kind::Busy,
            format!("A quota of {quota:.1} processors is less than the threads need"),
            format!("{times}. {}.", cause.help()),
        ),
        BusyCause::Others => (
            Kind::Busy,
            "The machine was busy with other work".to_owned(),
            format!("{times}, not the program’s own. To help: {}.", cause.help()),
        ),
    };
    let sentence = Sentence::default()
        .plain(&format!("{reason}: the threads{of} ran "))
        .strong(&share(ran))
        .plain(" of the time in which they could run.");
    Some(Verdict { kind, region: None, sentence, help })
}

fn blame<'a>(kind: Kind, part: f64, cost: &Cost<'a>, several: bool) -> Verdict<'a> {
    let costs = Sentence::default()
        .plain(&format!("{} costs ", kind.subject()))
        .strong(&share(part))
        .plain(" of the threads’ time");
    let (sentence, reason) = match cost.place {
        None => (costs.plain(": one thread works while the others have no region."), None),
        Some((process, region, reason)) => {
            let mut sentence = costs;
            if region.is_some() || several {
                sentence = sentence.plain(", above all");
            }
            if let Some(region) = region {
                sentence = sentence.plain(" in ").strong(&titled(region));
            }
            if several {
                sentence = sentence.plain(&format!(" of {}", sentence::process(process)));
            }
            let waits = format!(": threads wait {}.", reason_at(reason, &process.sites));
            (sentence.plain(&waits), Some(reason))
        }
    };
    let region = cost.place.and_then(|(_, region, _)| region);
    Verdict { kind, region, sentence, help: help(kind.factor(), reason).to_owned() }
}

fn little(costs: &[Cost], all: f64) -> Verdict<'static> {
    let lost: f64 = costs.iter().map(|cost| cost.seconds).sum();
    let useful = if all > 0.0 { (1.0 - lost / all).clamp(0.0, 1.0) } else { 1.0 };
    let sentence = Sentence::default()
        .plain("Little is lost: ")
        .strong(&share(useful))
        .plain(" of the threads’ time was useful work.");
    Verdict { kind: Kind::Little, region: None, sentence, help: String::new() }
}

/// The part of the threads' time from which on a loss is worth the headline.
const WORTH: f64 = 0.03;
/// The part from which on it is named even if siblings compete for cores.
const LARGE: f64 = 0.15;
