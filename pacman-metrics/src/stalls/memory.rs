//! The part of a context's cycles that waits for memory.

use pacman_events::CpuModel;

use super::share::refused;
use crate::error::{Result, not_computable};

/// The two events of a model whose cycles wait for memory, and the rule that combines them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryRule {
    /// Cycles without execution while loads (or, on Sandy Bridge, any L2 misses) are pending.
    pub loads: &'static str,
    /// Cycles that a full store buffer holds up.
    pub stores: &'static str,
    /// Whether both events may count the same cycle.
    pub combination: Combination,
    /// Waiting cycles that neither event counts.
    pub caveat: Option<&'static str>,
    /// The document that gives the rule, with the section.
    pub source: &'static str,
}

/// The rule that combines the cycles of two events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combination {
    /// Both events may count a cycle: the total is at least the larger count, at most the sum.
    Overlapping,
    /// By the second event's definition no cycle is in both: the total is the sum.
    Disjoint,
}

/// The part of a context's cycles that waits for memory.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct MemoryStalls {
    /// The figure to use, from 0 to 1: the larger of overlapping counts, the sum of disjoint ones.
    pub share: f64,
    /// The largest share that these counts allow, at most 1.
    pub most: f64,
    /// The part of the cycles that waits with loads pending.
    pub loads: f64,
    /// The part of the cycles that waits for room in the store buffer.
    pub stores: f64,
}

impl MemoryRule {
    /// The rule for a model.
    ///
    /// # Errors
    /// [`ErrorKind::NotComputable`](crate::ErrorKind::NotComputable) if no document gives a rule
    /// for the model.
    ///
    /// ```
    /// use pacman_metrics::stalls::MemoryRule;
    /// use pacman_events::CpuModel;
    ///
    /// // STREAM with streaming stores: half of the stalls show no miss, but the buffer is full.
    /// let rule = MemoryRule::of(CpuModel::named("jkt").unwrap())?;
    /// let stalls = rule.stalls(1_000_000, 300_000, 800_000)?;
    /// assert_eq!(stalls.share, 0.8);
    /// # Ok::<(), pacman_metrics::Error>(())
    /// ```
    pub fn of(cpu: CpuModel) -> Result<&'static MemoryRule> {
        match cpu.name() {
            "snb" | "jkt" => Ok(&SANDY_BRIDGE),
            "ivb" | "ivt" | "hsw" | "hsx" | "bdw" | "bdx" | "bdw-de" => Ok(&IVY_BRIDGE),
            "skl" | "skx" | "clx" | "icl" | "icx" | "rkl" | "tgl" => Ok(&SKYLAKE),
            _ => Err(not_computable(
                &format!("the memory-stall share of {}", cpu.title()),
                "no document says which of its events count such cycles without a gap",
            )),
        }
    }

    /// Computes the share from counts of the events [`loads`](MemoryRule::loads) and
    /// [`stores`](MemoryRule::stores).
    ///
    /// # Errors
    /// [`ErrorKind::NotComputable`](crate::ErrorKind::NotComputable) if `cycles` is 0, or smaller
    /// than one of the other counts.
    pub fn stalls(&self, cycles: u64, loads: u64, stores: u64) -> Result<MemoryStalls> {
        if cycles == 0 {
            return Err(refused("no cycle was counted"));
        }
        for stalled in [loads, stores] {
            if stalled > cycles {
                return Err(refused(format_args!(
                    "{stalled} of {cycles} cycles cannot be stalled"
                )));
            }
        }
        let share = |count: u64| count as f64 / cycles as f64;
        let (loads, stores) = (share(loads), share(stores));
        let most = (loads + stores).min(1.0);
        let share = match self.combination {
            Combination::Overlapping => loads.max(stores),
            Combination::Disjoint => most,
        };
        Ok(MemoryStalls { share, most, loads, stores })
    }
}

static SANDY_BRIDGE: MemoryRule = MemoryRule {
    loads: "CYCLE_ACTIVITY.STALLS_L2_PENDING",
    stores: "RESOURCE_STALLS.SB",
    combination: Combination::Overlapping,
    caveat: Some("SSE code with streaming stores waits for memory in cycles that neither counts"),
    source: "McCalpin 2014 (Sandy Bridge stalls), last paragraphs",
};

/// Intel's method adds the two counts, and so counts a cycle with both twice. This rule follows
/// the article on Sandy Bridge instead: the larger count is the share, the sum its upper bound.
static IVY_BRIDGE: MemoryRule = MemoryRule {
    loads: "CYCLE_ACTIVITY.STALLS_LDM_PENDING",
    stores: "RESOURCE_STALLS.SB",
    combination: Combination::Overlapping,
    caveat: Some("prefetches and streaming stores that fill no buffer count as neither"),
    source: "Intel, perfmon metrics, numerator of tma_memory_bound for Ivy Bridge and Haswell; \
             McCalpin 2014 (Sandy Bridge stalls) for taking the larger",
};

static SKYLAKE: MemoryRule = MemoryRule {
    loads: "CYCLE_ACTIVITY.STALLS_MEM_ANY",
    stores: "EXE_ACTIVITY.BOUND_ON_STORES",
    combination: Combination::Disjoint,
    caveat: None,
    source: "Intel, perfmon metrics, numerator of tma_memory_bound for Skylake to Tiger Lake",
};
