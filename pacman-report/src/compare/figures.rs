//! The figures of one side of a comparison.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::median;

/// The figures of a region or a program on one side: medians over the reports.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Figures {
    /// Wall time.
    #[serde(rename = "time_s")]
    pub(super) seconds: f64,
    /// Executions.
    pub(super) executions: f64,
    /// Seconds of all threads: useful, start, end, and waits by cause; empty if waits were not timed.
    #[serde(rename = "states")]
    pub(super) waits: BTreeMap<String, f64>,
    /// Counts of all threads by event, also those named `useful EVENT` and `waiting EVENT`; without
    /// those that some execution or report lacks.
    pub(super) counts: BTreeMap<String, f64>,
    /// Other figures of the region by their name in reports of `run`; without those that some report lacks. Empty for
    /// the program, and for regions that several processes or copies share.
    pub(super) measured: BTreeMap<String, f64>,
    /// How many parts were added.
    #[serde(skip)]
    pub(super) parts: usize,
}

impl Figures {
    /// Those of nothing.
    pub(super) const EMPTY: Figures = Figures {
        seconds: 0.0,
        executions: 0.0,
        waits: BTreeMap::new(),
        counts: BTreeMap::new(),
        measured: BTreeMap::new(),
        parts: 0,
    };

    /// Medians over reports.
    pub(super) fn of(side: Vec<&Figures>) -> Figures {
        Figures {
            seconds: middle(&side, |sample| sample.seconds),
            executions: middle(&side, |sample| sample.executions),
            waits: medians(&side, |figures| &figures.waits, Some(0.0)),
            counts: medians(&side, |figures| &figures.counts, None),
            measured: medians(&side, |figures| &figures.measured, None),
            parts: side.len(),
        }
    }

    /// Adds another part of the same report.
    pub(super) fn add(&mut self, other: &Figures) {
        self.seconds += other.seconds;
        self.executions += other.executions;
        for (cause, seconds) in &other.waits {
            *self.waits.entry(cause.clone()).or_default() += seconds;
        }
        // A count that one part lacks is no sum, and other figures are none.
        match self.parts {
            0 => {
                self.counts.clone_from(&other.counts);
                self.measured.clone_from(&other.measured);
            }
            _ => {
                self.measured.clear();
                self.counts.retain(|event, _| other.counts.contains_key(event));
                self.counts.iter_mut().for_each(|(event, count)| *count += other.counts[event]);
            }
        }
        self.parts += 1;
    }
}

/// Medians by name. Where a report lacks a value it has `without`; `None`: then there is no median.
fn medians(
    side: &[&Figures],
    of: fn(&Figures) -> &BTreeMap<String, f64>,
    without: Option<f64>,
) -> BTreeMap<String, f64> {
    let names: BTreeSet<&String> = side.iter().flat_map(|one| of(one).keys()).collect();
    let middle = |name: &String| {
        let values = side.iter().map(|one| of(one).get(name).copied().or(without));
        median::of(values.collect::<Option<Vec<f64>>>()?)
    };
    let medians = names.into_iter().map(|name| Some((name.clone(), middle(name)?)));
    medians.flatten().collect()
}

/// The median of a figure.
pub(super) fn middle<T>(side: &[T], of: impl Fn(&T) -> f64) -> f64 {
    median::of(side.iter().map(of)).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_that_a_report_lacks_is_absent_and_a_wait_is_0() {
        let one = |value: f64| BTreeMap::from([("lock".to_owned(), value)]);
        let with = |waits, counts| Figures { waits, counts, parts: 1, ..Figures::EMPTY };
        let full = [with(one(2.0), one(20.0)), with(one(4.0), one(40.0))];
        let medians = Figures::of(full.iter().collect());
        assert_eq!((medians.waits, medians.counts), (one(3.0), one(30.0)));
        let lacking = [with(one(2.0), one(20.0)), with(BTreeMap::new(), BTreeMap::new())];
        let medians = Figures::of(lacking.iter().collect());
        assert_eq!((medians.waits, medians.counts), (one(1.0), BTreeMap::new()));
    }
}
