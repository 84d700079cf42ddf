//! The events of a recording.

use serde::{Deserialize, Serialize};

/// A requested event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The name as requested.
    pub name: String,
    /// The reason if it was not counted; no row has a count of it then.
    pub uncounted: Option<String>,
    /// Facts about it on the machine that counted it.
    pub facts: EventFacts,
}

/// Facts about an event on the machine that counted it.
///
/// Another machine may not know the name, or may know another event by it. So a reader takes everything from here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventFacts {
    /// The name that metrics know it by, with its modes.
    pub canonical: String,
    /// The unit of one count, as `instructions`.
    pub unit: String,
    /// Whether hardware counts it. Its counts have limits that a clock of the kernel does not have.
    pub is_hardware: bool,
    /// Why its counts may be wrong, if they may.
    pub doubt: Option<String>,
    /// The table that the user installed and that gave the event its code, if one did.
    pub table: Option<String>,
}

impl Event {
    /// A counted event of which nothing is known but its name.
    pub fn unknown(name: &str) -> Event {
        let facts = EventFacts {
            canonical: name.to_owned(),
            unit: "events".to_owned(),
            is_hardware: false,
            doubt: None,
            table: None,
        };
        Event { name: name.to_owned(), uncounted: None, facts }
    }
}
