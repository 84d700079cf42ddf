//! The candidates that a phase has measured.

use crate::table::CandidateTable;

/// The measured candidates, and for each other one the nearest of them.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    /// In order of candidates.
    all: Vec<usize>,
    /// By candidate; of no meaning before the first.
    nearest: Vec<usize>,
}

impl Measured {
    pub(super) fn new(table: &CandidateTable, measured: impl Iterator<Item = usize>) -> Measured {
        let mut all = Measured { all: Vec::new(), nearest: vec![0; table.len()] };
        measured.for_each(|at| all.add(at, table));
        all
    }

    /// Adds a candidate.
    pub(super) fn add(&mut self, at: usize, table: &CandidateTable) {
        let Err(place) = self.all.binary_search(&at) else { return };
        let is_first = self.all.is_empty();
        self.all.insert(place, at);
        for (other, nearest) in self.nearest.iter_mut().enumerate() {
            let (new, old) = (table.distance(other, at), table.distance(other, *nearest));
            // Of candidates at the same distance the first one counts.
            if is_first || new < old || (new == old && at < *nearest) {
                *nearest = at;
            }
        }
    }

    pub(super) fn all(&self) -> &[usize] {
        &self.all
    }

    pub(super) fn nearest(&self, at: usize) -> usize {
        self.nearest[at]
    }
}
