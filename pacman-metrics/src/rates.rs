//! Ratios of counts, and whether their counts belong together.
//!
//! A ratio says something only if both counts saw the same code: counters of one group started
//! and stopped together. Counts of different groups, or of a group that the kernel let count for
//! a part of the time only, still make a figure, but a flagged one.

use crate::definition::Definition;
use crate::error::{Error, Result, not_computable};

/// The definitions of these metrics.
pub const DEFINITIONS: &[Definition] = &[
    Definition {
        name: "ipc",
        unit: "instructions per cycle",
        formula: "INSTRUCTIONS / CYCLES; for a core: sum over its contexts / cycles of the core",
        needs: &["INSTRUCTIONS", "CYCLES"],
        source: "Intel SDM volume 3B, section 18.17 (the inverse)",
    },
    Definition {
        name: "slowdown-by-sibling",
        unit: "1",
        formula: "IPC alone / IPC with the sibling",
        needs: &["INSTRUCTIONS", "CYCLES", "the same work measured twice"],
        source: "common usage, no document",
    },
    Definition {
        name: "mpki",
        unit: "misses per 1000 instructions",
        formula: "1000 * misses / INSTRUCTIONS",
        needs: &["an event of misses", "INSTRUCTIONS"],
        source: "common usage, no document",
    },
    Definition {
        name: "bandwidth",
        unit: "bytes per second",
        formula: "lines * bytes per line / seconds",
        needs: &["an event of lines moved", "time"],
        source: "common usage, no document",
    },
];

/// A count, and the group it was counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The count, or its estimate for the whole time.
    pub count: u64,
    /// Which group: a number of the caller's, equal for counts that ran together.
    pub group: u32,
    /// Nanoseconds that the group was enabled.
    pub enabled_ns: u64,
    /// Nanoseconds of these that it counted.
    pub running_ns: u64,
}

/// A ratio with what speaks against it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Rate {
    /// The figure.
    pub value: f64,
    /// The reasons to doubt it; empty for counts of one group that always counted.
    pub flags: Vec<RateFlag>,
}

/// Something that speaks against a ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RateFlag {
    /// The counts are of different groups: each may have seen other code.
    Groups,
    /// A group counted for a part of the time only, and its counts are estimates.
    Partial,
}

impl RateFlag {
    /// The flag in words.
    pub fn text(self) -> &'static str {
        match self {
            RateFlag::Groups => "its counts are of different groups",
            RateFlag::Partial => "its counts are estimates from a part of the time",
        }
    }
}

/// Instructions per cycle of one context.
///
/// # Errors
/// [`ErrorKind::NotComputable`](crate::ErrorKind::NotComputable) if no cycle was counted, or a
/// group never counted.
///
/// ```
/// use pacman_metrics::rates::{Counted, RateFlag, ipc};
/// let count = |count, group| Counted { count, group, enabled_ns: 100, running_ns: 100 };
/// assert_eq!(ipc(count(3_000, 0), count(2_000, 0))?.value, 1.5);
/// assert_eq!(ipc(count(3_000, 0), count(2_000, 1))?.flags, [RateFlag::Groups]);
/// # Ok::<(), pacman_metrics::Error>(())
/// ```
pub fn ipc(instructions: Counted, cycles: Counted) -> Result<Rate> {
    ratio("IPC", 1.0, instructions, cycles)
}

/// Instructions of all contexts per cycle of their core.
///
/// The cycles of a core are those in which any context was not halted: an AnyThread count, or
/// the cycles of the context that never rests. Contexts count in groups of their own, which is
/// no reason for a flag here; that a group counted only partly is.
///
/// # Errors
/// As [`ipc`]; and without contexts.
pub fn core_ipc(instructions: &[Counted], core_cycles: Counted) -> Result<Rate> {
    let what = "IPC of the core";
    if instructions.is_empty() {
        return Err(refused(what, "no context was counted"));
    }
    let mut rate = Rate { value: 0.0, flags: Vec::new() };
    for context in instructions {
        let joined = Counted { group: core_cycles.group, ..*context };
        let part = ratio(what, 1.0, joined, core_cycles)?;
        rate.value += part.value;
        rate.join(&part);
    }
    Ok(rate)
}

/// How many times slower a context runs beside its sibling: its IPC alone over its IPC together.
///
/// Both are measurements of the same work; the flags of both are kept.
///
/// # Errors
/// [`ErrorKind::NotComputable`](crate::ErrorKind::NotComputable) if nothing was executed together.
pub fn slowdown(alone: &Rate, together: &Rate) -> Result<Rate> {
    if together.value <= 0.0 {
        return Err(refused("the slowdown", "no instruction was executed beside the sibling"));
    }
    let mut rate = Rate { value: alone.value / together.value, flags: alone.flags.clone() };
    rate.join(together);
    Ok(rate)
}

/// Misses per thousand instructions.
///
/// # Errors
/// [`ErrorKind::NotComputable`](crate::ErrorKind::NotComputable) if no instruction was counted,
/// or a group never counted.
pub fn mpki(misses: Counted, instructions: Counted) -> Result<Rate> {
    ratio("MPKI", 1000.0, misses, instructions)
}

/// Bytes per second, of lines moved in the time that the count was enabled.
///
/// # Errors
/// [`ErrorKind::NotComputable`](crate::ErrorKind::NotComputable) if the count was never enabled
/// or its group never counted.
pub fn bandwidth(lines: Counted, bytes_per_line: u32) -> Result<Rate> {
    if lines.enabled_ns == 0 {
        return Err(refused("the bandwidth", "no time passed"));
    }
    let time = Counted { count: lines.enabled_ns, ..lines };
    ratio("the bandwidth", f64::from(bytes_per_line) * 1e9, lines, time)
}

fn ratio(what: &str, factor: f64, above: Counted, below: Counted) -> Result<Rate> {
    for counted in [above, below] {
        if counted.running_ns == 0 && counted.enabled_ns > 0 {
            return Err(refused(what, "a group was enabled and never counted"));
        }
        if counted.running_ns > counted.enabled_ns {
            return Err(refused(what, "a group counted for longer than it was enabled"));
        }
    }
    if below.count == 0 {
        return Err(refused(what, "the count below the line is zero"));
    }
    let mut flags = Vec::new();
    if above.group != below.group {
        flags.push(RateFlag::Groups);
    }
    if [above, below].iter().any(|counted| counted.running_ns < counted.enabled_ns) {
        flags.push(RateFlag::Partial);
    }
    Ok(Rate { value: factor * above.count as f64 / below.count as f64, flags })
}

impl Rate {
    /// Takes over what speaks against a part of this figure.
    fn join(&mut self, part: &Rate) {
        for flag in &part.flags {
            if !self.flags.contains(flag) {
                self.flags.push(*flag);
            }
        }
    }
}

#[cold]
fn refused(what: &str, because: &str) -> Error {
    not_computable(what, because)
}
