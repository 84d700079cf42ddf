//! The issue and stall budget of one context: the part of a stall that fine-grained SMT leaves.
//!
//! If contexts share a pipeline, a context's stall costs nothing while its siblings issue. Each
//! context has two budgets. Its instruction budget is its fair share of the issue slots. Its
//! stall budget is the siblings' share of the slots. On UltraSPARC T1 and T2 these are one
//! instruction and three stalled cycles in every four cycles. The removal of stalls gains no
//! more than the unused part of the instruction budget.
//!
//! From Darryl Gove, *Calculating Processor Utilisation From the UltraSPARC T1 and UltraSPARC T2
//! Performance Counters*, 2007: the costs are his tables 1 and 3, the order of the remedies that
//! of his last section. [`Issue`] carries the idea to any model.

mod context;
mod costs;
mod issue;
mod remedy;

pub use self::context::{Budget, Line};
pub use self::costs::{Cost, CostTable};
pub use self::issue::Issue;
pub use self::remedy::{Remedy, RemedyKind};
