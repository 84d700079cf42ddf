//! Stalled cycles at each stage of the pipeline, and those that wait for memory.
//!
//! A cycle counts as stalled at a stage of the pipeline if nothing passed there. On a wide
//! processor this both over- and undercounts stalls, so every share has its caveats. From John
//! McCalpin, *Counting Stall Cycles on the Intel Sandy Bridge Processor*, 2014.

mod memory;
mod share;

pub use self::memory::{Combination, MemoryRule, MemoryStalls};
pub use self::share::{Caveat, Stage, StallShare};

use crate::definition::Definition;

/// The definitions of these metrics.
pub const DEFINITIONS: &[Definition] = &[
    Definition {
        name: "stall-share-issue",
        unit: "1",
        formula: "UOPS_ISSUED.STALL_CYCLES / CYCLES",
        needs: &["UOPS_ISSUED.STALL_CYCLES", "CYCLES", "INSTRUCTIONS for the caveat"],
        source: "McCalpin 2014 (Sandy Bridge stalls), first pair of events",
    },
    Definition {
        name: "stall-share-dispatch",
        unit: "1",
        formula: "CYCLE_ACTIVITY.CYCLES_NO_DISPATCH / CYCLES",
        needs: &["CYCLE_ACTIVITY.CYCLES_NO_DISPATCH", "CYCLES", "INSTRUCTIONS for the caveat"],
        source: "McCalpin 2014 (Sandy Bridge stalls), second pair of events",
    },
    Definition {
        name: "memory-stall-share",
        unit: "1",
        formula: "max(stalls with loads pending, stalls on a full store buffer) / CYCLES; \
                  their sum where no cycle is in both",
        needs: &["the two events of the model's MemoryRule", "CYCLES"],
        source: "McCalpin 2014 (Sandy Bridge stalls), last paragraphs; Intel, top-down method",
    },
];
