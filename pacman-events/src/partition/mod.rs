//! Partition: the counters of a core, planned for all its hardware contexts together.
//!
//! On NetBurst the 18 counters and 45 ESCRs belong to the core, and each of them to
//! one of two halves. PACMAN gave each context one half; a joint placement can do
//! better, since one context may use more than its half while the other needs less.
//! On every later family counters belong to a context, but some registers and one
//! erratum do not, so that siblings must be planned together all the same.

mod capacity;
mod fewest;
mod plan;
mod schedule;

pub use plan::{CorePlan, Partition};
pub use schedule::Schedule;
