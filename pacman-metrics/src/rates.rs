//! Ratios of counts, with flags for counts that may not belong together.
//!
//! A ratio is meaningful only if both counts saw the same code, as counters of one group do: they
//! start and stop together. A ratio of different groups gets a flag. So does one of a group that
//! counted for only a part of the time.

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

/// A count with its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The count, or its estimate for the whole time.
    pub count: u64,
    /// A number that the caller chooses for the group, equal for counts that ran together.
    pub group: u32,
    /// The time in nanoseconds that the group was enabled.
    pub enabled_ns: u64,
    /// The part of that time in nanoseconds that the group counted.
    pub running_ns: u64,
}

/// A ratio with the reasons to distrust it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Rate {
    /// The ratio.
    pub value: f64,
    /// The reasons to doubt it; empty for counts of one group that always counted.
    pub flags: Vec<RateFlag>,
}

/// A reason to distrust a ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RateFlag {
    /// The counts come from different groups: each may have seen other code.
    Groups,
    /// A group counted for only a part of the time: its counts are estimates.
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
/// [`ErrorKind::NotComputable`](crate::ErrorKind::NotComputable) if no cycle was counted, or if a
/// group was enabled but never counted, or counted for longer than it was enabled.
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
/// The cycles of a core are those in which any context was not halted. They come from an AnyThread
/// count, or are the cycles of a context that never halts. Each context has a group of its own, so
/// only [`RateFlag::Partial`] can occur.
///
/// # Errors
/// As for [`ipc`], and if `instructions` is empty.
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

/// The slowdown of a context by its sibling: its IPC alone over its IPC with the sibling.
///
/// Both must be measurements of the same work. The result has the flags of both.
///
/// # Errors
/// [`ErrorKind::NotComputable`](crate::ErrorKind::NotComputable) if the IPC with the sibling is 0.
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
/// [`ErrorKind::NotComputable`](crate::ErrorKind::NotComputable) if no instruction was counted;
/// otherwise as for [`ipc`].
pub fn mpki(misses: Counted, instructions: Counted) -> Result<Rate> {
    ratio("MPKI", 1000.0, misses, instructions)
}

/// Bytes per second: the bytes of the moved lines over the time that the count was enabled.
///
/// # Errors
/// [`ErrorKind::NotComputable`](crate::ErrorKind::NotComputable) if the count was never enabled;
/// otherwise as for [`ipc`].
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
    /// Takes over the flags of a part of this ratio.
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
