//! Runs of one program, each compared with the one before.

use std::collections::{BTreeMap, BTreeSet};

use super::super::comparison::Pair;
use super::super::figures::{Figures, middle};
use super::super::noise::{Ratio, Verdict};
use super::super::places::{self, Place};
use super::super::reduced::{Reduced, Sample, Samples, Side};

/// The reports of one label.
#[derive(Debug)]
pub(super) struct Point {
    pub(super) label: String,
    pub(super) reports: Vec<Reduced>,
}

/// The runs of a program, each compared with the one before.
#[derive(Debug)]
pub struct History {
    /// A part of 1.
    pub(super) threshold: f64,
    pub(super) runs: Vec<Run>,
    /// Those with the most time first.
    pub(super) regions: Vec<Region>,
}

/// One run, or the repeats of one.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) label: String,
    pub(super) side: Side,
    pub(super) program: Step,
}

/// A region in all runs.
#[derive(Debug)]
pub(super) struct Region {
    /// As the latest run has it.
    pub(super) name: String,
    pub(super) file: Option<String>,
    /// `None` where a run lacks the region.
    pub(super) runs: Vec<Option<Step>>,
}

/// A program or region in a run.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) figures: Figures,
    /// Part of a process's time, of a region.
    pub(super) share: f64,
    /// `None` in the first run, and of a region that the run before lacks.
    pub(super) change: Option<Change>,
}

/// Against the run before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    /// `None` without time in one of both.
    pub(super) ratio: Option<Ratio>,
    pub(super) verdict: Verdict,
}

impl History {
    /// Of at least one point, which has at least one report.
    pub(super) fn of(points: Vec<Point>, threshold: f64) -> History {
        let mut known = Known::default();
        let points: Vec<(String, Repeats)> = points
            .into_iter()
            .map(|point| {
                let side = Side::of(&point.reports);
                let seconds = point.reports.iter().map(|report| report.seconds).collect();
                let regions = point.reports.iter().map(|report| known.named(report)).collect();
                let samples = point.reports.into_iter().map(|report| report.samples).collect();
                (point.label, Repeats { side, seconds, samples, regions })
            })
            .collect();
        let before = |at: usize| at.checked_sub(1).map(|at| &points[at].1);
        let mut regions: Vec<Region> = (0..known.regions)
            .map(|region| {
                let steps = (0..points.len())
                    .map(|at| Step::of_region(region, before(at), &points[at].1, threshold));
                let named = points.iter().rev().find_map(|(_, reports)| reports.name(region));
                let (place, sample) = named.expect("a report has each region");
                Region {
                    name: sample.name.clone(),
                    file: place.file.clone(),
                    runs: steps.collect(),
                }
            })
            .collect();
        regions.sort_by(|one, other| other.most().total_cmp(&one.most()));
        let programs: Vec<Step> = (0..points.len())
            .map(|at| Step::of_program(before(at), &points[at].1, threshold))
            .collect();
        let runs = points.into_iter().zip(programs).map(|((label, reports), program)| Run {
            label,
            side: reports.side,
            program,
        });
        History { threshold, runs: runs.collect(), regions }
    }

    /// The changes of regions beyond threshold and noise in a run, the longest first.
    pub(super) fn changes(&self, run: usize) -> impl Iterator<Item = (&Region, &Step, Change)> {
        self.regions.iter().filter_map(move |region| {
            let step = region.runs[run].as_ref()?;
            let change = step.change?;
            let differs = matches!(change.verdict, Verdict::Slower | Verdict::Faster);
            differs.then_some((region, step, change))
        })
    }
}

/// The reports of a run.
struct Repeats {
    side: Side,
    seconds: Vec<f64>,
    samples: Vec<Samples>,
    /// The number of each place in each report.
    regions: Vec<BTreeMap<Place, usize>>,
}

impl Repeats {
    fn of_region(&self, region: usize) -> Vec<Sample> {
        self.places(region).map(|(_, sample)| sample.clone()).collect()
    }

    fn name(&self, region: usize) -> Option<(&Place, &Sample)> {
        self.places(region).last()
    }

    fn places(&self, region: usize) -> impl Iterator<Item = (&Place, &Sample)> {
        self.regions.iter().zip(&self.samples).filter_map(move |(regions, samples)| {
            let (place, _) = regions.iter().find(|(_, number)| **number == region)?;
            Some((place, samples.get(place)?))
        })
    }
}

impl Step {
    fn of_region(
        region: usize,
        before: Option<&Repeats>,
        now: &Repeats,
        threshold: f64,
    ) -> Option<Step> {
        let samples = now.of_region(region);
        if samples.is_empty() {
            return None;
        }
        let share = middle(&samples, |sample| sample.share);
        let there = before.map(|before| (before, before.of_region(region)));
        let there = there.filter(|(_, samples)| !samples.is_empty());
        Some(match there {
            Some((before, there)) => {
                Step::after(before, now, Pair::of(&there, &samples, threshold), share)
            }
            None => Step::first(Pair::of(&samples, &samples, threshold), share),
        })
    }

    fn of_program(before: Option<&Repeats>, now: &Repeats, threshold: f64) -> Step {
        let own = |reports: &'_ Repeats| (reports.seconds.clone(), reports.samples.clone());
        let (seconds, samples) = own(now);
        let pair = |there: &Repeats| {
            let (there_s, there) = own(there);
            Pair::of_runs((&there_s, &there), (&seconds, &samples), threshold)
        };
        match before {
            Some(before) => Step::after(before, now, pair(before), 1.0),
            None => Step::first(pair(now), 1.0),
        }
    }

    fn first(pair: Pair, share: f64) -> Step {
        Step { figures: pair.after, share, change: None }
    }

    fn after(before: &Repeats, now: &Repeats, pair: Pair, share: f64) -> Step {
        let pair = pair.doubted(before.side.lacks_processors || now.side.lacks_processors);
        let change = Change { ratio: pair.ratio, verdict: pair.verdict };
        Step { figures: pair.after, share, change: Some(change) }
    }

    /// Part of the threads' time in regions that was useful; `None` if waits were not timed.
    pub(super) fn useful(&self) -> Option<f64> {
        let all: f64 = self.figures.waits.values().sum();
        let useful = self.figures.waits.get("useful")?;
        (all > 0.0).then(|| useful / all)
    }

    /// The cause of the most waiting, and its part of the threads' time in regions.
    pub(super) fn worst(&self) -> Option<(&str, f64)> {
        let all: f64 = self.figures.waits.values().sum();
        let waits = self.figures.waits.iter().filter(|(cause, _)| *cause != "useful");
        let (cause, seconds) = waits.max_by(|(_, one), (_, other)| one.total_cmp(other))?;
        (*seconds > 0.0).then(|| (cause.as_str(), seconds / all))
    }
}

impl Region {
    fn most(&self) -> f64 {
        self.runs.iter().flatten().map(|step| step.figures.seconds).fold(0.0, f64::max)
    }
}

/// The regions so far, each at its place in the latest report that has it: lines move on from there.
#[derive(Default)]
struct Known {
    latest: BTreeMap<Place, usize>,
    regions: usize,
}

impl Known {
    /// The numbers of a report's regions.
    fn named(&mut self, report: &Reduced) -> BTreeMap<Place, usize> {
        let own: BTreeSet<Place> = report.samples.keys().cloned().collect();
        let known: BTreeSet<Place> = self.latest.keys().cloned().collect();
        let found = places::matched(&known, &own);
        let mut numbers = BTreeMap::new();
        for place in own {
            let number = found.get(&place).map(|known| self.latest[known]).unwrap_or_else(|| {
                self.regions += 1;
                self.regions - 1
            });
            numbers.insert(place, number);
        }
        self.latest.retain(|known, _| !found.values().any(|other| other == known));
        self.latest.extend(numbers.iter().map(|(place, number)| (place.clone(), *number)));
        numbers
    }
}
