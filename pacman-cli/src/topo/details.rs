//! Caches and clock rates, for people and for programs.

use pacman_events::plural;
use std::collections::BTreeMap;

use pacman_core::platform;
use pacman_core::topology::{Cache, ClockRates, CoreType, Source, Topology};
use serde::Serialize;

/// The facts that are read only to be shown.
#[derive(Debug, Default)]
pub(super) struct Details {
    caches: Vec<Cache>,
    rates: Vec<ClockRates>,
    tsc_hz: Option<f64>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct CacheDocument {
    /// Level, from 1.
    level: u32,
    /// Content of the cache.
    #[cfg_attr(test, schemars(extend("enum" = ["data", "instruction", "unified"])))]
    kind: String,
    /// Size; null if it is not known.
    bytes: Option<u64>,
    /// Contexts that share it.
    cpus: Vec<u32>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ClockDocument {
    /// Contexts with these rates.
    cpus: Vec<u32>,
    /// Lowest rate; null if it is not known.
    min_hz: Option<u64>,
    /// Rate without turbo; null if it is not known.
    base_hz: Option<u64>,
    /// Highest rate; null if it is not known.
    max_hz: Option<u64>,
}

impl Details {
    pub(super) fn of(machine: &Topology) -> pacman_topology::Result<Details> {
        // The counter of the machine that runs this tells nothing about another one.
        let tsc_hz = machine.is_this_system().then(|| platform::current().tsc_hz()).flatten();
        Ok(Details { caches: machine.caches()?, rates: machine.clock_rates()?, tsc_hz })
    }

    /// `None` if they are unknown.
    pub(super) fn caches(&self) -> Option<Vec<CacheDocument>> {
        let document = |cache: &Cache| CacheDocument {
            level: cache.level,
            kind: cache.kind.to_string(),
            bytes: cache.bytes,
            cpus: cache.cpus.iter().collect(),
        };
        (!self.caches.is_empty()).then(|| self.caches.iter().map(document).collect())
    }

    /// `None` if they are unknown.
    pub(super) fn clocks(&self) -> Option<Vec<ClockDocument>> {
        let document = |rates: &ClockRates| ClockDocument {
            cpus: rates.cpus.iter().collect(),
            min_hz: rates.min_hz,
            base_hz: rates.base_hz,
            max_hz: rates.max_hz,
        };
        (!self.rates.is_empty()).then(|| self.rates.iter().map(document).collect())
    }

    /// Facts about the caches that the system does not give.
    pub(super) fn caveat(&self) -> Option<String> {
        let mut unknown: Vec<String> = self
            .caches
            .iter()
            .filter(|cache| !cache.sharers_known)
            .map(|cache| format!("L{}{}", cache.level, cache.kind.letter()))
            .collect();
        unknown.dedup();
        (!unknown.is_empty()).then(|| {
            format!(
                "the system does not tell, or tells in two ways, which contexts share {}: the first \
                 context's list counts, or its core",
                unknown.join(", ")
            )
        })
    }

    pub(super) fn tsc_hz(&self) -> Option<f64> {
        self.tsc_hz
    }

    /// A line for each kind of cache and each clock. A made-up machine has none.
    pub(super) fn lines(&self, machine: &Topology, times: &str) -> Vec<String> {
        if matches!(machine.source(), Source::Synthetic(_)) {
            return Vec::new();
        }
        let mut lines = self.cache_lines(machine, times);
        if lines.is_empty() {
            lines.push("caches unknown".into());
        }
        lines.extend(self.rates.iter().map(clock_line));
        if self.rates.is_empty() {
            lines.push("clock rates unknown".into());
        }
        let tsc = self.tsc_hz.map(|rate| format!("time-stamp counter {}", gigahertz(rate)));
        lines.extend(tsc);
        lines
    }

    fn cache_lines(&self, machine: &Topology, times: &str) -> Vec<String> {
        type Alike = (u32, &'static str, Option<u64>, usize, Option<CoreType>);
        let mut groups: BTreeMap<Alike, Vec<&Cache>> = BTreeMap::new();
        for cache in &self.caches {
            let kind = kind_of(machine, cache).filter(|_| machine.is_hybrid());
            let alike = (cache.level, cache.kind.letter(), cache.bytes, cache.cpus.len(), kind);
            groups.entry(alike).or_default().push(cache);
        }
        let line = |((level, letter, bytes, contexts, kind), caches): (Alike, Vec<&Cache>)| {
            let size = bytes.map_or_else(|| "size unknown".into(), binary);
            let number = caches.len();
            let mut line = format!(
                "L{level}{letter} {size} {times} {number}, {} each",
                plural::number(contexts, "context")
            );
            if let Some(kind) = kind {
                line.push_str(&format!(", {kind} cores"));
            }
            // Caches of one core are seen in the picture.
            if contexts > machine.contexts_per_core() && number <= LISTED {
                let cpus: Vec<String> = caches.iter().map(|cache| cache.cpus.to_string()).collect();
                line.push_str(&format!(": {}", cpus.join(" | ")));
            }
            line
        };
        groups.into_iter().map(line).collect()
    }
}

/// The core type of all contexts of a cache, if they have the same.
fn kind_of(machine: &Topology, cache: &Cache) -> Option<CoreType> {
    let mut kinds = cache.cpus.iter().filter_map(|cpu| Some(machine.context(cpu)?.core_type));
    let first = kinds.next()?;
    kinds.all(|kind| kind == first).then_some(first)
}

fn clock_line(rates: &ClockRates) -> String {
    let rate = |name: &str, rate: Option<u64>| {
        rate.map(|rate| format!("{name} {}", gigahertz(rate as f64)))
    };
    let known =
        [rate("lowest", rates.min_hz), rate("base", rates.base_hz), rate("highest", rates.max_hz)];
    let known: Vec<String> = known.into_iter().flatten().collect();
    format!("clock of {}: {}", rates.cpus, known.join(", "))
}

fn gigahertz(hertz: f64) -> String {
    format!("{:.3} GHz", hertz / 1e9)
}

/// `512 KiB`; the largest unit of which it is a whole number.
fn binary(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let whole = units.iter().find(|(shift, _)| bytes > 0 && bytes % (1 << shift) == 0);
    match whole {
        Some((shift, unit)) => format!("{} {unit}", bytes >> shift),
        None => format!("{bytes} B"),
    }
}

/// More caches of a kind than this are not listed.
const LISTED: usize = 4;
