//! A comparison for programs, and for its page.

use serde::Serialize;

use super::comparison::{Comparison, Key, Pair};
use super::figures::Figures;
use super::reduced::Side;
use super::text;
use crate::run::{StateMember, thread_states};

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Document<'a> {
    /// Name of the format.
    #[cfg_attr(test, schemars(extend("const" = "pacman-compare")))]
    format: &'a str,
    /// Rises where a member changes its meaning or disappears.
    #[cfg_attr(test, schemars(extend("const" = 1)))]
    version: u32,
    /// Both times, and what got slower or faster, in a sentence.
    headline: String,
    /// Reports before.
    before: &'a Side,
    /// Reports after.
    after: &'a Side,
    /// The whole program.
    program: PairDocument<'a>,
    /// Regions of both sides, longest first.
    regions: Vec<Region<'a>>,
    /// Regions of the first side alone.
    only_before: &'a [Key],
    /// Regions of the second side alone.
    only_after: &'a [Key],
    /// The states of threads in regions, in the order in which they are shown.
    thread_states: Vec<StateMember<'a>>,
    /// Facts that a reader of the figures must know.
    notes: Vec<String>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Region<'a> {
    #[serde(flatten)]
    name: &'a Key,
    #[serde(flatten)]
    pair: PairDocument<'a>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PairDocument<'a> {
    /// Time after over time before; null without time.
    ratio: Option<f64>,
    /// Lower end of its 95 % interval; null if noise is not known.
    low: Option<f64>,
    /// Upper end of its 95 % interval.
    high: Option<f64>,
    /// Against the threshold.
    #[cfg_attr(test, schemars(extend("enum" = ["faster", "slower", "same", "unclear"])))]
    verdict: &'a str,
    /// Instructions per cycle after over before; null without both counts.
    ipc_ratio: Option<f64>,
    /// Figures before.
    before: &'a Figures,
    /// Figures after.
    after: &'a Figures,
}

/// Regions with less than the part `least` of the time are not called slower.
pub(super) fn document(comparison: &Comparison, threshold: f64, least: f64) -> Document<'_> {
    Document {
        format: "pacman-compare",
        version: 1,
        headline: text::summary(comparison, threshold, least),
        before: &comparison.before,
        after: &comparison.after,
        program: pair(&comparison.whole),
        regions: comparison.regions.iter().map(|(key, pair)| region(key, pair)).collect(),
        only_before: &comparison.only_before,
        only_after: &comparison.only_after,
        thread_states: thread_states(),
        notes: text::notes(comparison),
    }
}

fn region<'a>(key: &'a Key, both: &'a Pair) -> Region<'a> {
    Region { name: key, pair: pair(both) }
}

fn pair(pair: &Pair) -> PairDocument<'_> {
    let interval = pair.ratio.and_then(|ratio| ratio.interval);
    PairDocument {
        ratio: pair.ratio.map(|ratio| ratio.value),
        low: interval.map(|(low, _)| low),
        high: interval.map(|(_, high)| high),
        verdict: pair.verdict.word(),
        ipc_ratio: text::ipc(pair),
        before: &pair.before,
        after: &pair.after,
    }
}
