//! The user's own event table, in addition to the shipped ones.
//!
//! Vendors publish lists of new models faster than libraries ship; perfmon's JSON files
//! can be read as they are, with feature `perfmon-json`.

use crate::ListSource;
use crate::encode::arch::Source;
use crate::spelling::compare;

/// The user's events for one model. They take precedence over the shipped table.
#[derive(Clone, Debug, Default)]
pub struct UserTable {
    pub(crate) events: Vec<Source>,
    /// The version and the date that the vendor's file has in its header.
    pub(crate) version: Option<String>,
    pub(crate) date: Option<String>,
}

impl UserTable {
    /// The names of its events, sorted.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.events.iter().map(|event| event.name.as_ref())
    }

    /// The list that its events came from, under that name.
    pub fn source(&self, name: &str) -> ListSource {
        let (version, date) = (self.version.clone(), self.date.clone());
        ListSource { name: name.to_owned(), version, date }
    }

    /// Whether it has an event of that name, which may end with modifiers.
    pub fn has(&self, name: &str) -> bool {
        let mut name = Some(name);
        while let Some(base) = name {
            if self.find(base).is_some() {
                return true;
            }
            name = base.rsplit_once(':').map(|(base, _)| base);
        }
        false
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Source> {
        let at = self.events.binary_search_by(|event| compare(&event.name, name));
        at.ok().map(|index| &self.events[index])
    }

    /// Sorts the events.
    ///
    /// # Errors
    /// A name that two different events have.
    pub(crate) fn new(mut events: Vec<Source>) -> Result<Self, String> {
        events.sort_by(|one, other| compare(&one.name, &other.name));
        for pair in events.windows(2) {
            if compare(&pair[0].name, &pair[1].name).is_eq()
                && (Source { name: pair[1].name.clone(), ..pair[0].clone() }) != pair[1]
            {
                return Err(pair[1].name.to_string());
            }
        }
        events.dedup_by(|one, other| compare(&one.name, &other.name).is_eq());
        Ok(UserTable { events, version: None, date: None })
    }
}
