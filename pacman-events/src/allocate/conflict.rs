//! Refusals: the smallest set of events that cannot coexist, and the contested resource.

use crate::plural::noun;
use std::fmt;
use std::sync::Arc;

use super::Register;
use super::problem::Problem;
use super::search::Search;
use crate::CounterSet;

/// Why events cannot be counted together.
///
/// The set of events is minimal: without any one of them the rest can be placed. A set of up to
/// three events is also the smallest possible.
///
/// ```
/// use pacman_events::CounterSet;
/// use pacman_events::allocate::{EventConstraints, Pmu, Alternative, allocate};
///
/// let pmu = Pmu::per_context("skl", 2, CounterSet::first(4));
/// let only_2 = || Alternative::general(CounterSet::only(2));
/// let refused = allocate(
///     &pmu,
///     &[
///         EventConstraints::new("L1D_PEND_MISS.PENDING", [only_2()]),
///         EventConstraints::new("BR_MISP_RETIRED", [Alternative::general(CounterSet::first(4))]),
///         EventConstraints::new("L1D_PEND_MISS.FB_FULL", [only_2()]),
///     ],
/// )
/// .unwrap_err();
/// let names: Vec<_> = refused.events().iter().map(|event| event.name()).collect();
/// assert_eq!(names, ["L1D_PEND_MISS.PENDING", "L1D_PEND_MISS.FB_FULL"]);
/// assert_eq!(refused.resource().to_string(), "counter 2");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict(pub(super) Box<Details>);

/// Boxed, because otherwise the `Result` of each plan would have the size of a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Details {
    pub(super) events: Vec<ConflictingEvent>,
    pub(super) resource: Resource,
    pub(super) holders: Vec<Holder>,
    pub(super) cause: String,
    pub(super) reason: String,
    pub(super) remedy: String,
}

/// One event of a conflict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConflictingEvent {
    pub(super) thread: u8,
    pub(super) event: usize,
    pub(super) name: Arc<str>,
}

/// The holder of a resource in the placement of all events of the conflict but the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The register or counter.
    pub what: String,
    /// The event and thread, or the owner of the reservation.
    pub who: String,
}

/// The resource of a conflict.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Resource {
    /// An event must count alone: it takes all of these counters.
    Alone {
        /// General counters.
        general: CounterSet,
    },
    /// There is no hardware context for the thread.
    Context,
    /// There are fewer of these counters than events that need one.
    Counters {
        /// General counters.
        general: CounterSet,
        /// Fixed counters.
        fixed: CounterSet,
    },
    /// An erratum closes a counter to the siblings.
    Erratum {
        /// The erratum's number.
        name: &'static str,
    },
    /// The partition gives the context the other half of the core, or nothing.
    Half {
        /// The half that it has; `None` for nothing.
        half: Option<u8>,
    },
    /// No counter of this model can count the event.
    Nothing,
    /// Registers that hold one value at a time.
    Registers {
        /// The registers, each wanted with several values.
        registers: Vec<Register>,
    },
    /// A user outside of the plan, such as the NMI watchdog, has reserved a counter.
    Reserved {
        /// The holder's name.
        holder: String,
    },
    /// Counters that exist only with SMT off since reset.
    SmtOff {
        /// General counters that could count the event then.
        general: CounterSet,
    },
    /// Counters that are kept out of placements by default.
    Withheld {
        /// The counters.
        general: CounterSet,
    },
}

impl Conflict {
    /// The events that cannot coexist: a minimal set, in the order asked for.
    pub fn events(&self) -> &[ConflictingEvent] {
        &self.0.events
    }

    /// The resource that they need at the same time.
    pub fn resource(&self) -> &Resource {
        &self.0.resource
    }

    /// The holders of the resource after all of the events but the last are placed.
    pub fn holders(&self) -> &[Holder] {
        &self.0.holders
    }

    /// The rule that prevents the placement, in plain words, without the holders.
    pub fn cause(&self) -> &str {
        &self.0.cause
    }

    /// The reason in plain words: the cause, then the holders of the resource.
    ///
    /// It is one sentence without its full stop.
    pub fn reason(&self) -> &str {
        &self.0.reason
    }

    /// The remedies, each tried by the allocator before it is suggested; one sentence without its
    /// full stop.
    pub fn remedy(&self) -> &str {
        &self.0.remedy
    }
}

impl ConflictingEvent {
    /// The position of the thread that asked for it, which is also its context.
    pub fn thread(&self) -> u8 {
        self.thread
    }

    /// The event's position in its thread's list.
    pub fn event(&self) -> usize {
        self.event
    }

    /// The event's name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Resource::Alone { general } => write!(f, "all of counters {general}"),
            Resource::Context => f.write_str("hardware contexts"),
            Resource::Counters { general, fixed } => {
                let mut join = "";
                if !general.is_empty() {
                    write!(f, "{} {general}", noun(general.len(), "counter"))?;
                    join = " and ";
                }
                if !fixed.is_empty() {
                    write!(f, "{join}fixed {fixed}")?;
                }
                Ok(())
            }
            Resource::Erratum { name } => write!(f, "erratum {name}"),
            Resource::Half { half: Some(half) } => write!(f, "half {half} of the core"),
            Resource::Half { half: None } => f.write_str("the core's counters"),
            Resource::Nothing => f.write_str("no counter"),
            Resource::Registers { registers } => {
                for (at, register) in registers.iter().enumerate() {
                    write!(f, "{}{register}", if at == 0 { "" } else { ", " })?;
                }
                Ok(())
            }
            Resource::Reserved { holder } => write!(f, "a counter held by {holder}"),
            Resource::SmtOff { general } => write!(f, "counters {general}, only with SMT off"),
            Resource::Withheld { general } => write!(f, "counter {general}, withheld"),
        }
    }
}

/// One line: what was asked, why not, what to do.
impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cannot count ")?;
        for (at, event) in self.0.events.iter().enumerate() {
            let join = match at {
                0 => "",
                _ if at + 1 == self.0.events.len() => " and ",
                _ => ", ",
            };
            write!(f, "{join}{} (thread {})", event.name, event.thread)?;
        }
        if self.0.events.len() > 1 {
            f.write_str(" at once")?;
        }
        write!(f, ": {}; {}", self.0.reason, self.0.remedy)
    }
}

impl std::error::Error for Conflict {}

/// A set of items that does not fit although every proper subset does.
///
/// Tries single events, pairs and triples first, so that small conflicts are also the smallest.
/// After that it leaves out one event after the other.
pub(crate) fn minimal(problem: &Problem<'_>) -> Vec<u16> {
    let mut search = Search::new(problem);
    let count = problem.len() as u16;
    for a in 0..count {
        if !search.fits(&[a]) {
            return vec![a];
        }
    }
    for a in 0..count {
        for b in a + 1..count {
            if !search.fits(&[a, b]) {
                return vec![a, b];
            }
        }
    }
    // 24 events have 2024 triples, and each search takes one or two microseconds.
    if count <= 24 {
        for a in 0..count {
            for b in a + 1..count {
                for c in b + 1..count {
                    if !search.fits(&[a, b, c]) {
                        return vec![a, b, c];
                    }
                }
            }
        }
    }
    let mut set: Vec<u16> = (0..count).collect();
    assert!(!search.fits(&set), "the events fit together");
    for at in (0..set.len()).rev() {
        let left_out = set.remove(at);
        if search.fits(&set) {
            set.insert(at, left_out);
        }
    }
    set
}
