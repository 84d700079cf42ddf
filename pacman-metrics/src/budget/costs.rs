//! The cost of an event, by model.

use pacman_events::CpuModel;

use super::issue::Issue;
use crate::not_computable::not_computable;
use pacman_events::Result;

/// The events of a model that cost cycles, and the rule by which its contexts share the slots.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CostTable {
    /// A description of the processor.
    pub title: &'static str,
    /// The rule by which contexts share the slots.
    pub issue: Issue,
    /// The event that counts instructions.
    pub instructions: &'static str,
    /// One entry per event, including instructions.
    pub costs: &'static [Cost],
    /// Costs that the table leaves out.
    pub caveat: Option<&'static str>,
    /// The document and the place in it.
    pub source: &'static str,
}

/// The cost of one event to its context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cost {
    /// The event, as the model's table names it.
    pub event: &'static str,
    /// The event's meaning.
    pub meaning: &'static str,
    /// Cycles per event, estimated.
    pub cycles: u32,
}

impl CostTable {
    /// A table with the caller's own costs.
    pub const fn new(
        title: &'static str,
        issue: Issue,
        instructions: &'static str,
        costs: &'static [Cost],
    ) -> CostTable {
        CostTable { title, issue, instructions, costs, caveat: None, source: "the user's own" }
    }

    /// The published costs of a model.
    ///
    /// # Errors
    /// [`ErrorKind::NotComputable`](pacman_events::ErrorKind::NotComputable) for models without published
    /// costs.
    pub fn of(cpu: CpuModel) -> Result<&'static CostTable> {
        match cpu.name() {
            "niagara1" => Ok(&T1),
            // T2+ has the T2's core, with other links between the chips.
            "niagara2" | "niagara2-plus" => Ok(&T2),
            _ => Err(not_computable(
                &format!("the issue budget of {}", cpu.title()),
                "no costs of its events are published; UltraSPARC T1 and T2 have some",
            )),
        }
    }

    /// The cost of an event. The case of its name does not matter.
    pub fn cost(&self, event: &str) -> Option<&'static Cost> {
        self.position(event).map(|at| &self.costs[at])
    }

    pub(super) fn position(&self, event: &str) -> Option<usize> {
        self.costs.iter().position(|cost| cost.event.eq_ignore_ascii_case(event))
    }
}

impl Cost {
    /// A cost of `cycles` for each `event`.
    pub const fn new(event: &'static str, meaning: &'static str, cycles: u32) -> Cost {
        Cost { event, meaning, cycles }
    }
}

/// The costs that both processors have.
const MEMORY: [Cost; 7] = [
    Cost::new("IC_miss", "instruction cache misses", 20),
    Cost::new("DC_miss", "data cache misses", 20),
    Cost::new("ITLB_miss", "instruction TLB misses", 100),
    Cost::new("DTLB_miss", "data TLB misses", 100),
    Cost::new("L2_imiss", "instruction fetches that miss L2", 100),
    Cost::new("L2_dmiss_ld", "loads that miss L2", 100),
    Cost::new("Instr_cnt", "instructions", 1),
];

/// A processor's own costs, then those of [`MEMORY`].
const fn with_memory<const N: usize>(own: &[Cost]) -> [Cost; N] {
    let mut all = [MEMORY[0]; N];
    let mut at = 0;
    while at < N {
        all[at] = if at < own.len() { own[at] } else { MEMORY[at - own.len()] };
        at += 1;
    }
    all
}

static T1: CostTable = CostTable {
    title: "UltraSPARC T1",
    issue: Issue { width: 1.0, contexts: 4, alone: 1.0 },
    instructions: "Instr_cnt",
    costs: &with_memory::<9>(&[
        Cost::new("SB_full", "cycles with a full store buffer", 1),
        Cost::new("FP_instr_cnt", "floating-point instructions", 30),
    ]),
    caveat: Some("all cores share one floating-point unit, whose queue the costs leave out"),
    source: "Gove 2007, table 1",
};

static T2: CostTable = CostTable {
    title: "UltraSPARC T2",
    issue: Issue { width: 2.0, contexts: 8, alone: 1.0 },
    instructions: "Instr_cnt",
    costs: &with_memory::<8>(&[Cost::new(
        "Instr_FGU_arithmetic",
        "floating-point instructions",
        8,
    )]),
    caveat: Some(
        "all eight threads share one memory pipe: with more than a load in two instructions the \
         budget is smaller",
    ),
    source: "Gove 2007, table 3",
};
