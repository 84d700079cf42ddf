//! The candidates of a machine, and their neighbours.

use super::Configuration;
use pacman_events::{Error, ErrorKind, Result};

/// Configurations in rows of equal threads per core, each row in order of threads.
#[derive(Clone, Debug)]
pub(super) struct Lattice {
    /// In order, without duplicates; never empty.
    configurations: Vec<Configuration>,
}

impl Lattice {
    pub(super) fn new(mut configurations: Vec<Configuration>) -> Result<Lattice> {
        configurations.sort_unstable();
        configurations.dedup();
        if configurations.is_empty() {
            return Err(Error::new(ErrorKind::Empty, "no configuration to choose from was given"));
        }
        Ok(Lattice { configurations })
    }

    pub(super) fn configurations(&self) -> &[Configuration] {
        &self.configurations
    }

    /// All contexts: the last in order.
    pub(super) fn reference(&self) -> Configuration {
        self.configurations[self.configurations.len() - 1]
    }

    /// The configurations `stride` places below and above in the same row, the lower first.
    pub(super) fn along(&self, from: Configuration, stride: usize) -> Vec<Configuration> {
        let row = self.row(from.per_core(), from.nodes());
        let Some(place) = row.iter().position(|&other| other == from) else { return Vec::new() };
        let below = place.checked_sub(stride).map(|place| row[place]);
        below.into_iter().chain(row.get(place + stride).copied()).collect()
    }

    /// In the rows with one thread per core less or more, the configurations with the nearest
    /// number of cores; and the same cores on other nodes.
    pub(super) fn across(&self, from: Configuration) -> Vec<Configuration> {
        let (Some(per_core), Some(cores)) = (from.per_core(), from.cores()) else {
            return Vec::new();
        };
        let nearest = |row: Vec<Configuration>| {
            row.into_iter().min_by_key(|other| other.cores().map(|have| have.abs_diff(cores)))
        };
        let elsewhere = self.configurations.iter().copied();
        let elsewhere =
            elsewhere.filter(|other| *other != from && other.wherever() == from.wherever());
        [per_core.checked_sub(1), per_core.checked_add(1)]
            .into_iter()
            .flatten()
            .filter_map(|other| nearest(self.row(Some(other), from.nodes())))
            .chain(elsewhere)
            .collect()
    }

    /// The length of the longest row.
    pub(super) fn width(&self) -> usize {
        let rows =
            self.configurations.iter().map(|one| self.row(one.per_core(), one.nodes()).len());
        rows.max().unwrap_or(0)
    }

    /// The configurations with `per_core` threads on each core, on `nodes` nodes or on any.
    fn row(&self, per_core: Option<u32>, nodes: Option<u32>) -> Vec<Configuration> {
        let on_nodes = |other: &Configuration| {
            other.nodes().is_none() || nodes.is_none() || other.nodes() == nodes
        };
        let all = self.configurations.iter().copied();
        all.filter(|other| other.per_core() == per_core && on_nodes(other)).collect()
    }
}
