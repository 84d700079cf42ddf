//! Regions of two sides, matched by name and source.

use std::collections::{BTreeMap, BTreeSet};

use super::input::{Factors, ProcessMembers, RegionMembers, RunDocument};
use super::noise::{Ratio, Spread, Verdict, median};

/// A region in all reports: its name without the line, and its source file. Several of one name are told
/// apart by the order of their lines, so that lines may move between two versions of a program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) name: String,
    pub(super) file: Option<String>,
    place: usize,
}

/// Both sides, and what differs.
#[derive(Debug)]
pub(super) struct Comparison {
    pub(super) before: Side,
    pub(super) after: Side,
    pub(super) whole: Pair,
    /// Those with the most time first.
    pub(super) regions: Vec<(Key, Pair)>,
    pub(super) only_before: Vec<Key>,
    pub(super) only_after: Vec<Key>,
}

/// The reports of one side.
#[derive(Debug)]
pub(super) struct Side {
    pub(super) command: Vec<String>,
    pub(super) host: String,
    pub(super) processor: Option<String>,
    pub(super) began: String,
    pub(super) reports: usize,
    /// The tree of the program, if each report has the tree of one process.
    pub(super) factors: Option<Factors>,
    /// The events whose counts are estimates somewhere, because event sets took turns.
    pub(super) estimates: BTreeSet<String>,
}

/// The figures of a region or a program on one side: medians over the reports.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Figures {
    pub(super) seconds: f64,
    pub(super) executions: f64,
    /// Seconds of all threads, by cause; empty if waits were not timed.
    pub(super) waits: BTreeMap<String, f64>,
    /// Counts of all threads; without events that some execution lacks.
    pub(super) counts: BTreeMap<String, f64>,
    /// How many parts were added.
    parts: usize,
}

/// Both sides of a region or a program.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub(super) before: Figures,
    pub(super) after: Figures,
    pub(super) ratio: Option<Ratio>,
    pub(super) verdict: Verdict,
    /// The part of a process's time, on the side where it is greater.
    pub(super) share: f64,
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

type Samples = BTreeMap<Key, Sample>;

impl Comparison {
    /// Compares two sides that have a report each at least. `threshold` is a part of 1.
    pub(super) fn of(before: &[RunDocument], after: &[RunDocument], threshold: f64) -> Comparison {
        let [one, other] = [before, after].map(|side| side.iter().map(samples).collect::<Vec<_>>());
        let keys = |side: &[Samples]| -> BTreeSet<Key> {
            side.iter().flat_map(|samples| samples.keys().cloned()).collect()
        };
        let (there, here) = (keys(&one), keys(&other));
        let pair = |key: &Key| {
            let of = |side: &[Samples]| -> Vec<Sample> {
                side.iter().filter_map(|samples| samples.get(key).cloned()).collect()
            };
            let (before, after) = (of(&one), of(&other));
            (named(key, &after), Pair::of(&before, &after, threshold))
        };
        let mut regions: Vec<(Key, Pair)> = there.intersection(&here).map(pair).collect();
        regions.sort_by(|(_, one), (_, other)| other.most().total_cmp(&one.most()));
        Comparison {
            before: Side::of(before),
            after: Side::of(after),
            whole: whole(before, after, (&one, &other), threshold),
            regions,
            only_before: there.difference(&here).map(|key| alone(key, &one)).collect(),
            only_after: here.difference(&there).map(|key| alone(key, &other)).collect(),
        }
    }

    /// The regions that got slower and have that part of a process's time.
    pub(super) fn slower(&self, least: f64) -> impl Iterator<Item = &(Key, Pair)> {
        let is_slower = move |pair: &Pair| pair.verdict == Verdict::Slower && pair.share >= least;
        self.regions.iter().filter(move |(_, pair)| is_slower(pair))
    }
}

/// A region with its whole name in the latest of these reports.
fn named(key: &Key, samples: &[Sample]) -> Key {
    let name = samples.last().map_or(&key.name, |sample| &sample.name);
    Key { name: name.clone(), ..key.clone() }
}

fn alone(key: &Key, side: &[Samples]) -> Key {
    let samples = side.iter().filter_map(|samples| samples.get(key).cloned());
    named(key, &samples.collect::<Vec<_>>())
}

/// A region's name without the line: `main` of `main, line 12` and of `main, line 12 (a.c:12)`.
fn without_line(name: &str) -> &str {
    let Some((function, line)) = name.rsplit_once(", line ") else { return name };
    if line.starts_with(|first: char| first.is_ascii_digit()) { function } else { name }
}

impl Side {
    fn of(reports: &[RunDocument]) -> Side {
        let first = &reports[0];
        Side {
            command: first.command.clone(),
            host: first.provenance.host.clone(),
            processor: first.provenance.processor.clone(),
            began: first.provenance.began.clone(),
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
    let of = |factor: fn(&Factors) -> f64| median(&trees.iter().map(factor).collect::<Vec<_>>());
    let shares: Option<Vec<f64>> = trees.iter().map(|tree| tree.processor_share).collect();
    Some(Factors {
        parallel: of(|tree| tree.parallel)?,
        mpi: of(|tree| tree.mpi)?,
        serialization: of(|tree| tree.serialization)?,
        load_balance: of(|tree| tree.load_balance)?,
        scheduling: of(|tree| tree.scheduling)?,
        processor_share: shares.and_then(|shares| median(&shares)),
    })
}

impl Pair {
    fn of(before: &[Sample], after: &[Sample], threshold: f64) -> Pair {
        let spreads = |side: &[Sample]| side.iter().map(|sample| sample.spread).collect::<Vec<_>>();
        let ratio = Ratio::of(&spreads(before), &spreads(after));
        let share = |side: &[Sample]| middle(side, |sample| sample.share);
        Pair {
            before: Figures::of(before),
            after: Figures::of(after),
            ratio,
            verdict: ratio.map_or(Verdict::Unclear, |ratio| ratio.verdict(threshold)),
            share: share(before).max(share(after)),
        }
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

impl Figures {
    fn of(side: &[Sample]) -> Figures {
        let names = |map: fn(&Figures) -> &BTreeMap<String, f64>| -> BTreeMap<String, f64> {
            let names: BTreeSet<&String> =
                side.iter().flat_map(|sample| map(&sample.figures).keys()).collect();
            let value = |name: &String| {
                middle(side, |sample| map(&sample.figures).get(name).copied().unwrap_or(0.0))
            };
            names.into_iter().map(|name| (name.clone(), value(name))).collect()
        };
        Figures {
            seconds: middle(side, |sample| sample.figures.seconds),
            executions: middle(side, |sample| sample.figures.executions),
            waits: names(|figures| &figures.waits),
            counts: names(|figures| &figures.counts),
            parts: side.len(),
        }
    }

    fn add(&mut self, other: &Figures) {
        self.seconds += other.seconds;
        self.executions += other.executions;
        for (cause, seconds) in &other.waits {
            *self.waits.entry(cause.clone()).or_default() += seconds;
        }
        // A count that one part lacks is no sum.
        match self.parts {
            0 => self.counts.clone_from(&other.counts),
            _ => {
                self.counts.retain(|event, _| other.counts.contains_key(event));
                self.counts.iter_mut().for_each(|(event, count)| *count += other.counts[event]);
            }
        }
        self.parts += 1;
    }
}

fn middle<T>(side: &[T], of: impl Fn(&T) -> f64) -> f64 {
    median(&side.iter().map(of).collect::<Vec<_>>()).unwrap_or(0.0)
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
            let mut sum = Figures::default();
            samples.values().for_each(|sample| sum.add(&sample.figures));
            Sample { figures: sum, ..Sample::EMPTY }
        };
        let sums: Vec<Sample> = side.iter().map(sum).collect();
        let seconds = median(&seconds(reports)).unwrap_or(0.0);
        Figures { seconds, ..Figures::of(&sums) }
    };
    Pair {
        before: figures(before, one),
        after: figures(after, other),
        ratio,
        verdict: ratio.map_or(Verdict::Unclear, |ratio| ratio.verdict(threshold)),
        share: 1.0,
    }
}

impl Sample {
    const EMPTY: Sample = Sample {
        name: String::new(),
        spread: Spread { seconds: 0.0, executions: 0, shortest: f64::INFINITY, longest: 0.0 },
        share: 0.0,
        figures: Figures {
            seconds: 0.0,
            executions: 0.0,
            waits: BTreeMap::new(),
            counts: BTreeMap::new(),
            parts: 0,
        },
    };

    fn add(&mut self, process: &ProcessMembers, region: &RegionMembers) {
        self.spread.seconds += region.time_s;
        self.spread.executions += region.executions;
        self.spread.shortest = self.spread.shortest.min(region.shortest_s);
        self.spread.longest = self.spread.longest.max(region.longest_s);
        self.share = self.share.max(region.share.unwrap_or(0.0));
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
    for states in region.threads.iter().filter_map(|thread| thread.states.as_ref()) {
        add("useful", states.useful_s);
        add("start", states.starting_s);
        add("end", states.end_s);
        for wait in &states.waits {
            if let Some(site) = process.sites.get(wait.site) {
                add(&site.cause, wait.time_s);
            }
        }
    }
    waits
}

fn samples(report: &RunDocument) -> Samples {
    let mut samples = Samples::new();
    for process in &report.processes {
        let mut regions: Vec<&RegionMembers> = process.regions.iter().collect();
        regions.sort_by_key(|region| (without_line(&region.name), &region.file, region.line));
        let mut latest: Option<Key> = None;
        for region in regions {
            let mut key = Key {
                name: without_line(&region.name).to_owned(),
                file: region.file.clone(),
                place: 0,
            };
            if let Some(latest) =
                latest.filter(|one| (&one.name, &one.file) == (&key.name, &key.file))
            {
                key.place = latest.place + 1;
            }
            let sample = samples.entry(key.clone()).or_insert(Sample::EMPTY);
            sample.name.clone_from(&region.name);
            sample.add(process, region);
            latest = Some(key);
        }
    }
    samples
}
