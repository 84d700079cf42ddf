//! Exact allocation: a counter for each event, or the smallest set of events that cannot coexist.
//!
//! The engine knows nothing of event tables. An [`EventConstraints`] is one event with the
//! alternatives to count it, and a [`Pmu`] has the counters and registers of a core.
//! [`allocate`] finds a placement whenever one exists. Kernel schedulers are greedy: they
//! silently refuse sets of events that the hardware could count. For the sibling contexts
//! of a core use [`Partition::plan`](crate::partition::Partition::plan), which places all
//! of them together.
//!
//! A refusal is a [`Conflict`]: a minimal set of events, the contested resource, its
//! holder, and the remedies.

mod assignment;
mod bound;
mod conflict;
mod demand;
mod division;
mod encoding;
mod matching;
mod netburst;
mod place;
mod pmu;
mod problem;
mod reason;
mod register;
mod search;

pub use assignment::{Assignment, Placement};
pub use conflict::{Conflict, ConflictingEvent, Holder, Resource};
pub use demand::{Alternative, Claim, Counter, CounterUse, EventConstraints};
pub use pmu::{Pmu, SiblingErratum};
pub use register::{Register, RegisterKind};

pub(crate) use assignment::assignments;
pub(crate) use division::{Division, Grant};
pub(crate) use place::{items, place};
pub(crate) use problem::{Footprint, Item, Problem, Relax};
pub(crate) use reason::PlacementError;
pub(crate) use search::Search;

/// Places the events of one thread that has the core to itself: context 0, with all of the core's
/// resources.
///
/// The placement is exact: a refusal means that no legal placement exists.
///
/// # Errors
/// The conflict, if the events cannot be counted at once.
///
/// ```
/// use pacman_events::CounterSet;
/// use pacman_events::allocate::{Counter, EventConstraints, Pmu, Alternative, allocate};
///
/// let pmu = Pmu::per_context("skl", 2, CounterSet::first(4)).with_fixed(CounterSet::first(3));
/// let cycles = EventConstraints::new(
///     "CPU_CLK_UNHALTED.THREAD",
///     [Alternative::fixed(CounterSet::only(1)), Alternative::general(CounterSet::first(4))],
/// );
/// let plan = allocate(&pmu, &[cycles.clone(), cycles]).unwrap();
/// assert_eq!(plan.placements()[0].counter(), Some(Counter::Fixed(1)));
/// assert_eq!(plan.placements()[1].counter(), Some(Counter::General(0)));
/// ```
pub fn allocate(pmu: &Pmu, demands: &[EventConstraints]) -> Result<Assignment, Conflict> {
    place(pmu, &Division::whole(pmu, 0), &[demands]).map(|mut all| all.swap_remove(0))
}
