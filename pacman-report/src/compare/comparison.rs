//! Regions of two sides, and what differs.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::figures::{Figures, middle};
use super::input::{Factors, ProcessMembers, RegionMembers, RunDocument};
use super::noise::{Ratio, Spread, Verdict};
use super::places::{self, Place};
use crate::median;

/// A region as it is shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Key {
    /// Name of the region.
    pub(super) name: String,
    /// Its source file.
    pub(super) file: Option<String>,
    /// Part of a process's time, on the side where it is greater.
    pub(super) share: f64,
}

/// Both sides, and what differs.
#[derive(Debug)]
pub struct Comparison {
    pub(super) before: Side,
    pub(super) after: Side,
    pub(super) whole: Pair,
    /// Those with the most time first.
    pub(super) regions: Vec<(Key, Pair)>,
    pub(super) only_before: Vec<Key>,
    pub(super) only_after: Vec<Key>,
    /// Functions that have another number of regions after than before.
    pub(super) changed: Vec<(String, usize, usize)>,
    /// Why no verdict holds.
    pub(super) doubts: Vec<String>,
}

/// The reports of one side.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Side {
    /// Program and arguments of the first report.
    pub(super) command: Vec<String>,
    /// Its host.
    pub(super) host: String,
    /// Its processor.
    pub(super) processor: Option<String>,
    /// Begin of the first report in UTC.
    pub(super) began: String,
    /// Begin of the last report in UTC.
    pub(super) last_began: String,
    /// Number of reports.
    pub(super) reports: usize,
    /// Sizes of the teams that ran regions.
    pub(super) threads: BTreeSet<u32>,
    /// Whether threads lacked a processor in some report: then all verdicts are unclear.
    pub(super) lacks_processors: bool,
    /// Efficiency tree, medians of the reports; null unless each report has the tree of one process.
    #[serde(rename = "efficiency")]
    pub(super) factors: Option<Factors>,
    /// The events whose counts are estimates somewhere, because event sets took turns.
    #[serde(skip)]
    pub(super) estimates: BTreeSet<String>,
}

/// Both sides of a region or a program.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub(super) before: Figures,
    pub(super) after: Figures,
    pub(super) ratio: Option<Ratio>,
    pub(super) verdict: Verdict,
}

/// A region in one report, all processes together.
#[derive(Clone, Debug)]
struct Sample {
    /// The region's name in this report.
    name: String,
    spread: Spread,
    share: f64,
    figures: Figures,
}

type Samples = BTreeMap<Place, Sample>;

impl Comparison {
    /// Compares two sides that have a report each at least. `threshold` is a part of 1.
    pub fn of(
        before: &[RunDocument],
        after: &[RunDocument],
        threshold: f64,
        any_order: bool,
    ) -> Comparison {
        let [one, other] = [before, after].map(|side| side.iter().map(samples).collect());
        let ((mut one, there), (other, here)) = (of_one_side(one), of_one_side(other));
        let found = places::matched(&here, &there);
        let changed = places::changed(&there, &here);
        one.iter_mut().for_each(|samples| rename(samples, &found));
        let [there, here] = [&one, &other].map(|side| -> BTreeSet<Place> {
            side.iter().flat_map(|samples| samples.keys().cloned()).collect()
        });
        let of = |side: &[Samples], place: &Place| -> Vec<Sample> {
            side.iter().filter_map(|samples| samples.get(place).cloned()).collect()
        };
        let (before_side, after_side) = (Side::of(before), Side::of(after));
        let doubts = doubts(&before_side, &after_side, any_order);
        let is_doubted = !doubts.is_empty();
        let pair = |place: &Place| {
            let (before, after) = (of(&one, place), of(&other, place));
            let share = share(&before).max(share(&after));
            let key = Key { share, ..alone(place, &after) };
            (key, Pair::of(&before, &after, threshold).doubted(is_doubted))
        };
        let mut regions: Vec<(Key, Pair)> = there.intersection(&here).map(pair).collect();
        regions.sort_by(|(_, one), (_, other)| other.most().total_cmp(&one.most()));
        let only = |places: &BTreeSet<Place>, others: &BTreeSet<Place>, side: &[Samples]| {
            let mut only: Vec<Key> =
                places.difference(others).map(|place| alone(place, &of(side, place))).collect();
            only.sort_by(|one, other| other.share.total_cmp(&one.share));
            only
        };
        Comparison {
            before: before_side,
            after: after_side,
            whole: whole(before, after, (&one, &other), threshold).doubted(is_doubted),
            regions,
            only_before: only(&there, &here, &one),
            only_after: only(&here, &there, &other),
            changed,
            doubts,
        }
    }

    /// Whether no region of one side is on the other.
    pub fn is_empty(&self) -> bool {
        self.regions.is_empty()
    }

    /// Whether a region with at least the part `least` of the time got slower.
    pub fn has_slower(&self, least: f64) -> bool {
        self.slower(least).next().is_some()
    }

    /// The regions that got slower and have that part of a process's time.
    pub(super) fn slower(&self, least: f64) -> impl Iterator<Item = &(Key, Pair)> {
        let regions = self.regions.iter();
        regions.filter(move |(key, pair)| pair.verdict == Verdict::Slower && key.share >= least)
    }
}

/// A region with its name in the latest of these reports.
fn alone(place: &Place, samples: &[Sample]) -> Key {
    let name = samples.last().map(|sample| sample.name.clone()).unwrap_or_default();
    Key { name, file: place.file.clone(), share: share(samples) }
}

fn share(side: &[Sample]) -> f64 {
    middle(side, |sample| sample.share)
}

/// The reports of one side under the places of the first report that has them, and all these places.
fn of_one_side(mut reports: Vec<Samples>) -> (Vec<Samples>, BTreeSet<Place>) {
    let mut known = BTreeSet::new();
    for samples in &mut reports {
        let own: BTreeSet<Place> = samples.keys().cloned().collect();
        rename(samples, &places::matched(&known, &own));
        known.extend(samples.keys().cloned());
    }
    (reports, known)
}

fn rename(samples: &mut Samples, names: &BTreeMap<Place, Place>) {
    let own = std::mem::take(samples).into_iter();
    *samples = own.map(|(own, it)| (names.get(&own).cloned().unwrap_or(own), it)).collect();
}

/// Why the figures of two sides say nothing about what was changed between them.
fn doubts(before: &Side, after: &Side, any_order: bool) -> Vec<String> {
    let mut doubts = Vec::new();
    // The begins are in UTC, in one form.
    if before.began > after.last_began && !any_order {
        doubts.push(
            "the reports before are newer than those after: swap them, or give --any-order"
                .to_owned(),
        );
    }
    for (side, word) in [(before, "before"), (after, "after")] {
        if side.lacks_processors {
            doubts.push(format!(
                "threads had no processor of their own {word}: the machine was busy"
            ));
        }
    }
    doubts
}

impl Side {
    fn of(reports: &[RunDocument]) -> Side {
        let first = &reports[0];
        let began = || reports.iter().map(|report| report.provenance.began.clone());
        let processes = || reports.iter().flat_map(|report| &report.processes);
        let teams = processes().flat_map(|process| &process.regions).flat_map(|one| &one.teams);
        Side {
            command: first.command.clone(),
            host: first.provenance.host.clone(),
            processor: first.provenance.processor.clone(),
            began: began().min().unwrap_or_default(),
            last_began: began().max().unwrap_or_default(),
            threads: teams.map(|team| team.threads).collect(),
            lacks_processors: processes()
                .any(|process| process.lacks_processors && !process.regions.is_empty()),
            reports: reports.len(),
            factors: factors(reports),
            estimates: estimates(reports),
        }
    }
}

fn estimates(reports: &[RunDocument]) -> BTreeSet<String> {
    let regions = reports.iter().flat_map(|report| &report.processes);
    let regions = regions.flat_map(|process| &process.regions);
    let shares = regions.flat_map(|region| region.figures.counted_shares.iter().flatten());
    shares.filter(|(_, share)| **share < 1.0).map(|(event, _)| event.clone()).collect()
}

/// Medians of the factors.
fn factors(reports: &[RunDocument]) -> Option<Factors> {
    let tree = |report: &RunDocument| {
        let mut trees = report.processes.iter().filter_map(|process| {
            let processor_share = process.processor_share;
            Some(Factors { processor_share, ..process.efficiency.clone()? })
        });
        let first = trees.next();
        first.filter(|_| trees.next().is_none())
    };
    let trees: Vec<Factors> = reports.iter().map(tree).collect::<Option<_>>()?;
    let of = |factor: fn(&Factors) -> f64| median::of(trees.iter().map(factor));
    let shares: Option<Vec<f64>> = trees.iter().map(|tree| tree.processor_share).collect();
    Some(Factors {
        parallel: of(|tree| tree.parallel)?,
        mpi: of(|tree| tree.mpi)?,
        serialization: of(|tree| tree.serialization)?,
        load_balance: of(|tree| tree.load_balance)?,
        scheduling: of(|tree| tree.scheduling)?,
        processor_share: shares.and_then(median::of),
    })
}

impl Pair {
    fn of(before: &[Sample], after: &[Sample], threshold: f64) -> Pair {
        let spreads = |side: &[Sample]| side.iter().map(|sample| sample.spread).collect::<Vec<_>>();
        let ratio = Ratio::of(&spreads(before), &spreads(after));
        Pair {
            before: Figures::of(figures_of(before)),
            after: Figures::of(figures_of(after)),
            ratio,
            verdict: ratio.map_or(Verdict::Unclear, |ratio| ratio.verdict(threshold)),
        }
    }

    fn doubted(self, is_doubted: bool) -> Pair {
        let verdict = if is_doubted { Verdict::Unclear } else { self.verdict };
        Pair { verdict, ..self }
    }

    fn most(&self) -> f64 {
        self.before.seconds.max(self.after.seconds)
    }

    /// After over before of a figure that both sides have.
    pub(super) fn ratio_of(&self, event: &str) -> Option<f64> {
        let (before, after) = (self.before.counts.get(event)?, self.after.counts.get(event)?);
        (*before > 0.0).then(|| after / before)
    }
}

fn figures_of(samples: &[Sample]) -> Vec<&Figures> {
    samples.iter().map(|sample| &sample.figures).collect()
}

fn whole(
    before: &[RunDocument],
    after: &[RunDocument],
    (one, other): (&[Samples], &[Samples]),
    threshold: f64,
) -> Pair {
    let seconds =
        |side: &[RunDocument]| side.iter().map(|report| report.time_s).collect::<Vec<_>>();
    let ratio = Ratio::of_runs(&seconds(before), &seconds(after));
    let figures = |reports: &[RunDocument], side: &[Samples]| {
        let sum = |samples: &Samples| {
            let mut sum = Figures::EMPTY;
            samples.values().for_each(|sample| sum.add(&sample.figures));
            Sample { figures: sum, ..Sample::EMPTY }
        };
        let sums: Vec<Sample> = side.iter().map(sum).collect();
        let seconds = median::of(seconds(reports)).unwrap_or(0.0);
        Figures { seconds, measured: BTreeMap::new(), ..Figures::of(figures_of(&sums)) }
    };
    Pair {
        before: figures(before, one),
        after: figures(after, other),
        ratio,
        verdict: ratio.map_or(Verdict::Unclear, |ratio| ratio.verdict(threshold)),
    }
}

impl Sample {
    const EMPTY: Sample = Sample {
        name: String::new(),
        spread: Spread { seconds: 0.0, executions: 0, shortest: f64::INFINITY, longest: 0.0 },
        share: 0.0,
        figures: Figures::EMPTY,
    };

    fn add(&mut self, process: &ProcessMembers, region: &RegionMembers) {
        self.spread.seconds += region.time_s;
        self.spread.executions += region.executions;
        self.spread.shortest = self.spread.shortest.min(region.shortest_s);
        self.spread.longest = self.spread.longest.max(region.longest_s);
        self.share = self.share.max(region.measured.get("share").unwrap_or(0.0));
        let all = [
            ("", Some(&region.figures)),
            ("useful ", region.useful_figures.as_ref()),
            ("waiting ", region.waiting_figures.as_ref()),
        ];
        let counts = all.iter().filter_map(|(state, figures)| Some((state, (*figures)?)));
        let counts = counts.flat_map(|(state, figures)| {
            let counts = figures.counts.iter();
            counts.filter_map(move |(event, count)| {
                Some((format!("{state}{event}"), (*count)? as f64))
            })
        });
        self.figures.add(&Figures {
            seconds: region.time_s,
            executions: region.executions as f64,
            waits: waits(process, region),
            counts: if region.figures.complete { counts.collect() } else { BTreeMap::new() },
            measured: region
                .measured
                .by_name()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            parts: 1,
        });
    }
}

/// Seconds of all threads by cause; `useful`, `start` and `end` are among them.
fn waits(process: &ProcessMembers, region: &RegionMembers) -> BTreeMap<String, f64> {
    let mut waits = BTreeMap::new();
    let mut add = |cause: &str, seconds: f64| {
        *waits.entry(cause.to_owned()).or_insert(0.0) += seconds;
    };
    for states in region.threads.0.iter().filter_map(|thread| thread.states.as_ref()) {
        add("useful", states.useful_s.0);
        add("start", states.starting_s.0);
        add("end", states.end_s.0);
        for (site, wait) in &states.waits {
            if let Some(site) = process.sites.get(*site) {
                add(&site.cause, wait.time_s.0);
            }
        }
    }
    waits
}

fn samples(report: &RunDocument) -> Samples {
    let mut samples = Samples::new();
    for process in &report.processes {
        // Copies of one region share a place, and their parts of the process's time add up.
        let mut shares: BTreeMap<Place, f64> = BTreeMap::new();
        for region in &process.regions {
            let place = Place::of(region);
            let sample = samples.entry(place.clone()).or_insert(Sample::EMPTY);
            let own = (region.name.len(), &region.name);
            if sample.name.is_empty() || own < (sample.name.len(), &sample.name) {
                sample.name.clone_from(&region.name);
            }
            sample.add(process, region);
            *shares.entry(place).or_default() += region.measured.get("share").unwrap_or(0.0);
        }
        for (place, share) in shares {
            let sample = samples.entry(place).or_insert(Sample::EMPTY);
            sample.share = sample.share.max(share);
        }
    }
    samples
}
