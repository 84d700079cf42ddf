//! A report as far as it is compared: facts, and a sample of each region.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::figures::Figures;
use super::input::{ProcessMembers, RegionMembers, RunDocument};
use super::noise::Spread;
use super::places::Place;
use crate::median;
use crate::run::Efficiency;

/// One report. It takes much less memory than its document, which has every thread.
#[derive(Clone, Debug)]
pub(super) struct Reduced {
    pub(super) label: Option<String>,
    pub(super) command: Vec<String>,
    host: String,
    processor: Option<String>,
    began: String,
    threads: BTreeSet<u32>,
    lacks_processors: bool,
    /// The tree of the only process that has one.
    factors: Option<Factors>,
    /// Events whose counts are estimates somewhere.
    estimates: BTreeSet<String>,
    /// Wall time of the program.
    pub(super) seconds: f64,
    pub(super) samples: Samples,
}

/// The efficiency tree of a process.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Factors {
    #[serde(flatten)]
    pub(super) tree: Efficiency,
    /// Part of the time in which threads of the process could run that they ran.
    pub(super) processor_share: Option<f64>,
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

/// A region in one report, all processes together.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    /// The region's name in this report.
    pub(super) name: String,
    pub(super) spread: Spread,
    pub(super) share: f64,
    pub(super) figures: Figures,
}

/// The regions of a report.
pub(super) type Samples = BTreeMap<Place, Sample>;

impl Reduced {
    pub(super) fn of(report: &RunDocument) -> Reduced {
        let regions = || report.processes.iter().flat_map(|process| &process.regions);
        let mut trees = report.processes.iter().filter_map(|process| {
            let processor_share = process.processor_share;
            Some(Factors { tree: process.efficiency?, processor_share })
        });
        let first = trees.next();
        let shares = regions().flat_map(|region| region.figures.counted_shares.iter().flatten());
        let estimates = shares.filter(|(_, share)| **share < 1.0);
        Reduced {
            label: report.label.clone(),
            command: report.command.clone(),
            host: report.provenance.host.clone(),
            processor: report.provenance.processor.clone(),
            began: report.provenance.began.clone(),
            threads: regions().flat_map(|one| &one.teams).map(|team| team.threads).collect(),
            lacks_processors: report
                .processes
                .iter()
                .any(|process| process.lacks_processors && !process.regions.is_empty()),
            factors: first.filter(|_| trees.next().is_none()),
            estimates: estimates.map(|(event, _)| event.clone()).collect(),
            seconds: report.time_s,
            samples: samples(report),
        }
    }
}

impl Side {
    /// Of at least one report.
    pub(super) fn of(reports: &[Reduced]) -> Side {
        let first = &reports[0];
        let began = || reports.iter().map(|report| report.began.clone());
        Side {
            command: first.command.clone(),
            host: first.host.clone(),
            processor: first.processor.clone(),
            began: began().min().unwrap_or_default(),
            last_began: began().max().unwrap_or_default(),
            threads: reports.iter().flat_map(|report| &report.threads).copied().collect(),
            lacks_processors: reports.iter().any(|report| report.lacks_processors),
            reports: reports.len(),
            factors: factors(reports),
            estimates: reports.iter().flat_map(|report| &report.estimates).cloned().collect(),
        }
    }
}

/// Medians of the factors.
fn factors(reports: &[Reduced]) -> Option<Factors> {
    let trees: Vec<&Factors> =
        reports.iter().map(|report| report.factors.as_ref()).collect::<Option<_>>()?;
    let shares: Option<Vec<f64>> = trees.iter().map(|tree| tree.processor_share).collect();
    let mut parts = [0.0; Efficiency::NAMES.len()];
    for (at, part) in parts.iter_mut().enumerate() {
        *part = median::of(trees.iter().map(|tree| tree.tree.parts()[at]))?;
    }
    let tree = Efficiency::from_parts(parts);
    Some(Factors { tree, processor_share: shares.and_then(median::of) })
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
        add("useful", states.useful_s);
        add("start", states.starting_s);
        add("end", states.end_s);
        for (site, wait) in &states.waits {
            if let Some(site) = process.sites.get(*site) {
                add(&site.cause, wait.time_s);
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
