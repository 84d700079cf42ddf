//! The constants of candidates for bounds and laws, computed once for all phases with the same candidates.

use once_cell::race::OnceBox;

use crate::laws::{Block, LawGrid};
use crate::predict::Configuration;

/// The constants of a set of candidates.
#[derive(Debug)]
pub(super) struct CandidateTable {
    pub(super) max_smt_gain: f64,
    pub(super) laws: LawGrid,
    rows: Vec<CandidateRow>,
}

/// The constants of a candidate.
#[derive(Debug)]
pub(super) struct CandidateRow {
    threads: u32,
    /// The numbers of cores, of contexts on each, and of nodes; 0 where they are no part of the configuration.
    given: [u32; 3],
    /// The NUMA nodes with threads. Cores without a number of nodes may be on all.
    pub(super) nodes: u32,
    /// The greatest throughput of its contexts, where the first context of a core has 1.
    pub(super) capacity: f64,
    /// The logarithms of the numbers of cores, contexts of a core, and nodes.
    logs: [f64; 3],
    /// The cost over the default's by each law.
    pub(super) ratios: Vec<Block<f32>>,
    /// Its logarithms, made when the candidate is first measured.
    logs_of_ratios: OnceBox<Vec<Block<f32>>>,
}

impl CandidateTable {
    /// The table for `all` on a machine of `contexts`, with the [maximum SMT
    /// gain](crate::Rules::max_smt_gain) that bounds costs.
    pub(super) fn new(
        all: &[Configuration],
        default: usize,
        contexts: u32,
        max_smt_gain: f64,
    ) -> CandidateTable {
        let most_nodes = all.iter().filter_map(|on| on.nodes()).max().unwrap_or(1);
        let of_default = all[default];
        let per_core = |on: &Configuration| on.per_core().zip(of_default.per_core());
        let contexts_differ = all.iter().filter_map(per_core).any(|(one, other)| one != other);
        let laws = LawGrid::new(contexts_differ, of_default.threads() > contexts);
        let capacity = |on| capacity(all, on, contexts, max_smt_gain);
        let row = |&on: &Configuration| {
            let per_core = on.per_core().unwrap_or(1);
            let cores = f64::from(on.threads()) / f64::from(per_core);
            let nodes = on.nodes();
            let nodes = nodes.unwrap_or(most_nodes.min(on.cores().unwrap_or(on.threads())));
            let share = match on.per_core().and(of_default.per_core()) {
                Some(_) => None,
                None => Some(capacity(of_default) / capacity(on)),
            };
            let threads = f64::from(on.threads()) / f64::from(of_default.threads());
            let of_default = f64::from(of_default.per_core().unwrap_or(1));
            CandidateRow {
                threads: on.threads(),
                given: [on.cores(), on.per_core(), on.nodes()].map(Option::unwrap_or_default),
                nodes,
                capacity: capacity(on),
                logs: [cores, f64::from(per_core), f64::from(nodes)].map(f64::ln),
                ratios: laws.ratios(threads, f64::from(per_core) / of_default, share),
                logs_of_ratios: OnceBox::new(),
            }
        };
        let rows = all.iter().map(row).collect();
        CandidateTable { max_smt_gain, laws, rows }
    }

    pub(super) fn row(&self, at: usize) -> &CandidateRow {
        &self.rows[at]
    }

    /// The logarithms of the laws' ratios for a candidate.
    pub(super) fn logs(&self, at: usize) -> &[Block<f32>] {
        let row = &self.rows[at];
        let logs = || row.ratios.iter().map(|ratios| ratios.map(f32::ln)).collect();
        row.logs_of_ratios.get_or_init(|| Box::new(logs()))
    }

    /// The logarithms of the factors by which the second has fewer cores, contexts and nodes.
    pub(super) fn steps(&self, one: usize, other: usize) -> [f64; 3] {
        let (one, other) = (self.rows[one].logs, self.rows[other].logs);
        [one[0] - other[0], one[1] - other[1], one[2] - other[2]]
    }

    /// The factor by which `large` has more of the machine than `small`: contexts, or the memory bandwidth of
    /// nodes.
    pub(super) fn share(&self, large: usize, small: usize) -> f64 {
        let (large, small) = (&self.rows[large], &self.rows[small]);
        let contexts = large.capacity / small.capacity;
        contexts.max(f64::from(large.nodes) / f64::from(small.nodes))
    }

    /// Whether `small` results from `large` by leaving out cores, contexts or nodes.
    #[inline]
    pub(super) fn contains(&self, large: usize, small: usize) -> bool {
        let (large, small) = (&self.rows[large], &self.rows[small]);
        let ([cores, contexts, _], [fewer, less, _]) = (large.given, small.given);
        small.nodes <= large.nodes
            && match cores > 0 && fewer > 0 {
                true => fewer <= cores && less <= contexts,
                false => small.threads <= large.threads,
            }
    }

    /// Whether two have the same cores, with one context more or fewer on each, or on other nodes.
    pub(super) fn are_neighbours(&self, one: usize, other: usize) -> bool {
        let ([cores, contexts, _], [others, there, _]) =
            (self.rows[one].given, self.rows[other].given);
        cores > 0 && cores == others && contexts.abs_diff(there) <= 1
    }

    /// A distance of candidates: by which factors cores, contexts and nodes differ.
    pub(super) fn distance(&self, one: usize, other: usize) -> f64 {
        self.steps(one, other).iter().map(|step| step.abs()).sum()
    }
}

/// Threads in excess of the contexts add nothing to the throughput: they take turns.
fn capacity(all: &[Configuration], on: Configuration, contexts: u32, max_smt_gain: f64) -> f64 {
    match (on.cores(), on.per_core()) {
        (Some(cores), Some(per_core)) => {
            f64::from(cores) * (1.0 + max_smt_gain * f64::from(per_core - 1))
        }
        _ if on.threads() > contexts => {
            let fits = all.iter().filter(|other| other.threads() <= contexts);
            fits.map(|&other| capacity(all, other, contexts, max_smt_gain)).fold(1.0, f64::max)
        }
        _ => f64::from(on.threads()),
    }
}
