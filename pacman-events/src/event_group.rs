//! Names that stand for several events, which each model counts in its own way.

use crate::{CpuModel, resolve};

/// A name for the events of one analysis.
///
/// ```
/// use pacman_events::{CpuModel, EventGroup};
/// let topdown = EventGroup::named("topdown").unwrap();
/// let zen4 = CpuModel::named("zen4").unwrap();
/// assert!(topdown.events(zen4).unwrap().contains(&"TOPDOWN_SMT_CONTENTION"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EventGroup {
    /// The issue slots by category, level 1 of top-down analysis.
    TopDown,
}

impl EventGroup {
    /// The group with this name, in any case.
    pub fn named(name: &str) -> Option<EventGroup> {
        name.eq_ignore_ascii_case(EventGroup::TopDown.name()).then_some(EventGroup::TopDown)
    }

    /// The name in capitals.
    pub fn name(self) -> &'static str {
        match self {
            EventGroup::TopDown => "TOPDOWN",
        }
    }

    /// The events by which a model counts it; `None` if it cannot.
    pub fn events(self, cpu: CpuModel) -> Option<&'static [&'static str]> {
        let counts = |events: &&[&str]| events.iter().all(|event| resolve(cpu, event).is_ok());
        TOP_DOWN.into_iter().find(counts)
    }
}

/// The ways to count slots by category; the metrics `topdown-…` follow from each.
const TOP_DOWN: [&[&str]; 5] = [
    // Ice Lake and later: one register.
    &[
        "SLOTS",
        "TOPDOWN_RETIRING",
        "TOPDOWN_BAD_SPECULATION",
        "TOPDOWN_FRONTEND_BOUND",
        "TOPDOWN_BACKEND_BOUND",
    ],
    // Zen 4 and Zen 5: six counters, which is all of them.
    &[
        "SLOTS",
        "TOPDOWN_RETIRING",
        "TOPDOWN_DISPATCHED",
        "TOPDOWN_FRONTEND_BOUND",
        "TOPDOWN_BACKEND_BOUND",
        "TOPDOWN_SMT_CONTENTION",
    ],
    // Sandy Bridge to Skylake: a fixed counter and the four general ones.
    &[
        "CPU_CLK_UNHALTED.THREAD_ANY",
        "UOPS_RETIRED.RETIRE_SLOTS",
        "UOPS_ISSUED.ANY",
        "IDQ_UOPS_NOT_DELIVERED.CORE",
        "INT_MISC.RECOVERY_CYCLES_ANY",
    ],
    // Olympus, Neoverse N3, V1 and V3: all six counters, and the cycle counter for the slots of Neoverse.
    &[
        "SLOTS",
        "OP_RETIRED",
        "OP_SPEC",
        "STALL_SLOT",
        "TOPDOWN_FRONTEND_BOUND",
        "TOPDOWN_BACKEND_BOUND",
    ],
    // Neoverse N2 and V2, where mispredictions are in both kinds of stalls: the same seven.
    &[
        "SLOTS",
        "CYCLES",
        "OP_RETIRED",
        "OP_SPEC",
        "STALL_SLOT_FRONTEND",
        "STALL_SLOT_BACKEND",
        "BR_MIS_PRED",
    ],
];
