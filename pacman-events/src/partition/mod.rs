//! Partition: plans the counters of a core for all its hardware contexts together.
//!
//! On NetBurst the 18 counters and 45 ESCRs belong to the core, each to one of two halves. PACMAN
//! gave each context one half. A joint plan can do better, because one context may use more than
//! its half while the other needs less. On every later family, each counter belongs to one
//! context. But some registers and one erratum concern the core, so a plan must include all siblings.

mod capacity;
mod fewest;
mod plan;
mod schedule;

pub use plan::{CorePlan, Partition};
pub use schedule::Schedule;
