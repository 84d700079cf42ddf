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

use crate::definition::Definition;

/// The definitions of these metrics.
pub const DEFINITIONS: &[Definition] = &[
    Definition {
        name: "stall-time",
        unit: "seconds",
        formula: "count * cost / clock",
        needs: &["the events of the model's cost table", "the clock"],
        source: "Gove 2007, tables 1 to 4",
    },
    Definition {
        name: "issue-budget-used",
        unit: "1",
        formula: "(Instr_cnt / cycles) / (issue width / contexts)",
        needs: &["Instr_cnt", "cycles"],
        source: "Gove 2007, sections on the stall budget of T1 and T2",
    },
    Definition {
        name: "stall-budget-used",
        unit: "1",
        formula: "sum of count * cost / (cycles * (1 - 1 / contexts per pipeline))",
        needs: &["the events of the model's cost table", "cycles"],
        source: "Gove 2007, section Stall Budget Utilisation",
    },
];
