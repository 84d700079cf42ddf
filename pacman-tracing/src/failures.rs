//! Spans that were not counted.

use std::sync::{Arc, Mutex, PoisonError};

use pacman_core::Error;

/// The spans that a [`PhaseLayer`](crate::PhaseLayer) could not count. Clones show the same spans.
#[derive(Clone, Debug, Default)]
pub struct Failures(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    count: u64,
    first: Option<String>,
}

impl Failures {
    /// The number of entries and exits that were not counted.
    pub fn count(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).count
    }

    /// The reason why the first entry or exit was not counted, in one line.
    pub fn first(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).first.clone()
    }

    /// Adds a span.
    pub(crate) fn add(&self, span: &str, error: &Error) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.count += 1;
        state.first.get_or_insert_with(|| format!("span {span:?}: {error}"));
    }
}
