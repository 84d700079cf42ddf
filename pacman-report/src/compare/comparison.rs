//! Regions of two sides, and what differs.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::figures::{Figures, middle};
use super::input::RunDocument;
use super::noise::{Ratio, Verdict};
use super::places::{self, Place};
use super::reduced::{Reduced, Sample, Samples, Side};
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

/// Both sides of a region or a program.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub(super) before: Figures,
    pub(super) after: Figures,
    pub(super) ratio: Option<Ratio>,
    pub(super) verdict: Verdict,
}

impl Comparison {
    /// Compares two sides that have a report each at least. `threshold` is a part of 1.
    pub fn of(
        before: &[RunDocument],
        after: &[RunDocument],
        threshold: f64,
        any_order: bool,
    ) -> Comparison {
        let [before, after] =
            [before, after].map(|side| side.iter().map(Reduced::of).collect::<Vec<_>>());
        let (before_side, after_side) = (Side::of(&before), Side::of(&after));
        let [before_s, after_s] =
            [&before, &after].map(|side| side.iter().map(|one| one.seconds).collect::<Vec<_>>());
        let ((mut one, there), (other, here)) = (of_one_side(before), of_one_side(after));
        let found = places::matched(&here, &there);
        let changed = places::changed(&there, &here);
        one.iter_mut().for_each(|samples| rename(samples, &found));
        let [there, here] = [&one, &other].map(|side| -> BTreeSet<Place> {
            side.iter().flat_map(|samples| samples.keys().cloned()).collect()
        });
        let of = |side: &[Samples], place: &Place| -> Vec<Sample> {
            side.iter().filter_map(|samples| samples.get(place).cloned()).collect()
        };
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
            whole: Pair::of_runs((&before_s, &one), (&after_s, &other), threshold)
                .doubted(is_doubted),
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
fn of_one_side(reports: Vec<Reduced>) -> (Vec<Samples>, BTreeSet<Place>) {
    let mut known = BTreeSet::new();
    let mut side: Vec<Samples> = reports.into_iter().map(|report| report.samples).collect();
    for samples in &mut side {
        let own: BTreeSet<Place> = samples.keys().cloned().collect();
        rename(samples, &places::matched(&known, &own));
        known.extend(samples.keys().cloned());
    }
    (side, known)
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

impl Pair {
    /// A region on both sides. `threshold` is a part of 1.
    pub(super) fn of(before: &[Sample], after: &[Sample], threshold: f64) -> Pair {
        let spreads = |side: &[Sample]| side.iter().map(|sample| sample.spread).collect::<Vec<_>>();
        let ratio = Ratio::of(&spreads(before), &spreads(after));
        Pair {
            before: Figures::of(figures_of(before)),
            after: Figures::of(figures_of(after)),
            ratio,
            verdict: ratio.map_or(Verdict::Unclear, |ratio| ratio.verdict(threshold)),
        }
    }

    /// The program on both sides: the times of its reports, and their regions.
    pub(super) fn of_runs(
        (before_s, before): (&[f64], &[Samples]),
        (after_s, after): (&[f64], &[Samples]),
        threshold: f64,
    ) -> Pair {
        let ratio = Ratio::of_runs(before_s, after_s);
        Pair {
            before: of_program(before_s, before),
            after: of_program(after_s, after),
            ratio,
            verdict: ratio.map_or(Verdict::Unclear, |ratio| ratio.verdict(threshold)),
        }
    }

    /// The same, and unclear if nothing can be said of these sides.
    pub(super) fn doubted(self, is_doubted: bool) -> Pair {
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

fn of_program(seconds: &[f64], reports: &[Samples]) -> Figures {
    let sum = |samples: &Samples| {
        let mut sum = Figures::EMPTY;
        samples.values().for_each(|sample| sum.add(&sample.figures));
        sum
    };
    let sums: Vec<Figures> = reports.iter().map(sum).collect();
    let seconds = median::of(seconds.iter().copied()).unwrap_or(0.0);
    Figures { seconds, measured: BTreeMap::new(), ..Figures::of(sums.iter().collect()) }
}
