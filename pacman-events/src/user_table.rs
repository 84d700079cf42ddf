//! The user's own event table, in addition to the shipped ones.
//!
//! Vendors publish lists of new models faster than libraries ship; perfmon's JSON files
//! can be read as they are, with feature `perfmon-json`.

use crate::encode::arch::Source;
use crate::spelling::compare;

/// The user's events for one model. They take precedence over the shipped table.
#[derive(Clone, Debug, Default)]
pub struct UserTable {
    events: Vec<Source>,
}

impl UserTable {
    /// The names of its events, sorted.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.events.iter().map(|event| event.name.as_ref())
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Source> {
        let at = self.events.binary_search_by(|event| compare(&event.name, name));
        at.ok().map(|index| &self.events[index])
    }

    #[cfg(feature = "perfmon-json")]
    pub(crate) fn new(mut events: Vec<Source>) -> Self {
        events.sort_by(|one, other| compare(&one.name, &other.name));
        UserTable { events }
    }
}
