//! A resolved event.

use std::fmt;
use std::sync::Arc;

use pacman_events::Encoding;

use super::software::Software;
use crate::platform::CoreTypePmu;

/// One event, as resolved from its name.
///
/// Hardware events count in user mode unless the name says otherwise (`:k`,
/// `:uk`), so that a name means the same with and without privilege. On an SMT
/// core the count is that of the one hardware context the thread runs on, unless
/// the event's own description says that it counts for the core.
///
/// ```
/// use pacman_core::Event;
/// let event: Event = "Page-Faults".parse()?;
/// assert_eq!((event.name(), event.unit()), ("page-faults", "faults"));
/// # Ok::<(), pacman_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub(super) name: String,
    pub(super) unit: &'static str,
    pub(super) source: Source,
}

/// Where an event's count comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// Hardware counters, by way of the kernel: one, or a sum of several.
    Hardware(Vec<Term>),
    /// A counter of the kernel's own.
    Software(Software),
}

/// A hardware counter's part in an event.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// The factor of its count; 1 for an event of one term.
    pub coefficient: i64,
    /// The kernel's names for it.
    pub hardware: Hardware,
    /// The demands on the hardware, which explain a refusal.
    pub encoding: Encoding,
    /// The PMU of the only core type that counts it; `None` where all cores are alike, and for PMUs
    /// that are no core's.
    pub core_type: Option<Arc<CoreTypePmu>>,
}

/// A hardware counter in the words of `perf_event_open(2)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hardware {
    /// The PMU's number.
    pub pmu: u32,
    /// The selector.
    pub config: u64,
    /// More of the selector.
    pub config1: u64,
    /// More of the selector.
    pub config2: u64,
    /// Counts in user mode.
    pub user: bool,
    /// Counts in the kernel.
    pub kernel: bool,
}

impl Event {
    /// The canonical name, with the modifiers that change its meaning.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The unit of one count: `instructions`, `cycles`, `ns`, `faults`, …; `events` for a vendor's
    /// own names.
    pub fn unit(&self) -> &'static str {
        self.unit
    }

    /// The counters or the account that its count comes from.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Whether hardware counters count it.
    pub fn is_hardware(&self) -> bool {
        matches!(self.source, Source::Hardware(_))
    }

    /// The PMU of the only core type of a hybrid processor that counts it; `None` for an event that
    /// counts wherever its thread runs.
    pub fn core_type(&self) -> Option<&CoreTypePmu> {
        match self.core_types().as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// The event on each core type alone, named as `perf` names it: `cpu_core/CYCLES/`. None for an
    /// event that does not count on several core types.
    ///
    /// The event's own count is the sum of these.
    pub fn parts(&self) -> Vec<Event> {
        let Source::Hardware(terms) = &self.source else { return Vec::new() };
        let part = |core_type: &CoreTypePmu| {
            let own = terms.iter().filter(|term| term.core_type.as_deref() == Some(core_type));
            Event {
                name: part_name(core_type.name(), &self.name),
                unit: self.unit,
                source: Source::Hardware(own.cloned().collect()),
            }
        };
        match self.core_types().as_slice() {
            [] | [_] => Vec::new(),
            several => several.iter().map(|core_type| part(core_type)).collect(),
        }
    }

    /// `events`, and behind them the [parts](Self::parts) of those that count on several core types.
    pub fn with_parts(mut events: Vec<Event>) -> Vec<Event> {
        for part in events.iter().flat_map(Event::parts).collect::<Vec<Event>>() {
            if !events.iter().any(|known| known.name == part.name) {
                events.push(part);
            }
        }
        events
    }

    /// Whether this is one of the [`parts`](Self::parts) of `whole`.
    pub fn is_part_of(&self, whole: &Event) -> bool {
        whole.core_types().len() > 1
            && self
                .core_type()
                .is_some_and(|core_type| self.name == part_name(core_type.name(), &whole.name))
    }

    /// The core types that count it, each once.
    pub(crate) fn core_types(&self) -> Vec<&CoreTypePmu> {
        let Source::Hardware(terms) = &self.source else { return Vec::new() };
        let mut types: Vec<&CoreTypePmu> = Vec::new();
        for core_type in terms.iter().filter_map(|term| term.core_type.as_deref()) {
            if !types.contains(&core_type) {
                types.push(core_type);
            }
        }
        types
    }
}

/// The name of an event on one core type.
pub(super) fn part_name(pmu: &str, event: &str) -> String {
    format!("{pmu}/{event}/")
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
