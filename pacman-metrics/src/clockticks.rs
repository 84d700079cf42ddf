//! Cycles per instruction on NetBurst, whose contexts share a clock that may stop.
//!
//! The manual has three clocks. *Non-halted* clockticks run per context while it is not halted.
//! *Non-sleep* clockticks run per package while any of its contexts is not halted. The time stamp
//! counter always runs. Source: Intel, *Software Developer's Manual* volume 3B, section 18.17.

use crate::definition::Definition;
use crate::error::{Error, Result, not_computable};

/// The definitions of these metrics.
pub const DEFINITIONS: &[Definition] = &[
    Definition {
        name: "non-halted-cpi",
        unit: "clockticks per instruction",
        formula: "global_power_events:RUNNING / instr_retired",
        needs: &["global_power_events:RUNNING", "instr_retired:NBOGUSNTAG:NBOGUSTAG"],
        source: "Intel SDM volume 3B, section 18.17",
    },
    Definition {
        name: "nominal-cpi",
        unit: "clockticks per instruction",
        formula: "TSC / instr_retired",
        needs: &["TSC", "instr_retired:NBOGUSNTAG:NBOGUSTAG"],
        source: "Intel SDM volume 3B, section 18.17",
    },
];

/// The counts of one context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextTicks {
    /// Clockticks while the context was not halted (`global_power_events:RUNNING`).
    pub non_halted: u64,
    /// Instructions retired.
    pub instructions: u64,
}

/// The counts of a package.
#[derive(Clone, Copy, Debug)]
pub struct PackageTicks<'a> {
    /// Ticks of the time stamp counter.
    pub tsc: u64,
    /// Clockticks while any context was not halted. Their counter has a threshold of 15 in
    /// complement, which is met in every cycle. `None` if they were not counted.
    pub non_sleep: Option<u64>,
    /// One entry per context.
    pub contexts: &'a [ContextTicks],
}

/// Clockticks per instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Cpi {
    /// CPI while the clock ran; `None` for a package without a count of non-sleep clockticks.
    pub non_halted: Option<f64>,
    /// CPI over the whole time, including halts.
    pub nominal: f64,
}

/// Clockticks per instruction of a package and its contexts.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Clockticks {
    /// One entry per context; `None` if it retired no instruction.
    pub contexts: Vec<Option<Cpi>>,
    /// Instructions of all contexts over the package's clocks.
    pub package: Cpi,
    /// The part of the time in which the package's clock ran, if it was counted.
    pub awake: Option<f64>,
}

/// Computes both ratios for every context and for the package.
///
/// A context's non-halted clockticks may include a part of its way into the halt. The clocks are
/// not read at the same moment. So contradictions up to one thousandth are accepted.
///
/// # Errors
/// [`ErrorKind::NotComputable`](crate::ErrorKind::NotComputable) without contexts, time or
/// instructions, and if a clock ran longer than one that includes it.
///
/// ```
/// use pacman_metrics::clockticks::{ContextTicks, PackageTicks, clockticks};
/// // One context computes all the time, the other halts after a quarter.
/// let contexts = [
///     ContextTicks { non_halted: 8_000_000, instructions: 4_000_000 },
///     ContextTicks { non_halted: 2_000_000, instructions: 1_000_000 },
/// ];
/// let package = PackageTicks { tsc: 8_000_000, non_sleep: Some(8_000_000), contexts: &contexts };
/// let ticks = clockticks(&package)?;
/// let second = ticks.contexts[1].unwrap();
/// assert_eq!((second.non_halted, second.nominal), (Some(2.0), 8.0));
/// assert_eq!((ticks.package.non_halted, ticks.package.nominal), (Some(1.6), 1.6));
/// # Ok::<(), pacman_metrics::Error>(())
/// ```
pub fn clockticks(package: &PackageTicks<'_>) -> Result<Clockticks> {
    let contexts = package.contexts;
    if contexts.is_empty() {
        return Err(refused("no context was counted"));
    }
    if package.tsc == 0 {
        return Err(refused("the time stamp counter did not move"));
    }
    let instructions: f64 = contexts.iter().map(|context| context.instructions as f64).sum();
    if instructions == 0.0 {
        return Err(refused("no instruction was retired"));
    }
    let tsc = package.tsc as f64;
    let busiest = contexts.iter().map(|context| context.non_halted).max().unwrap_or(0) as f64;
    let sum: f64 = contexts.iter().map(|context| context.non_halted as f64).sum();
    let non_sleep = package.non_sleep.map(|ticks| ticks as f64);
    contains("the time stamp counter", tsc, "a context's non-halted clockticks", busiest)?;
    if let Some(ticks) = non_sleep {
        contains("the time stamp counter", tsc, "the non-sleep clockticks", ticks)?;
        contains("the non-sleep clockticks", ticks, "a context's non-halted clockticks", busiest)?;
        contains("all contexts' non-halted clockticks", sum, "the non-sleep clockticks", ticks)?;
    }
    let of_context = |context: &ContextTicks| {
        let retired = context.instructions as f64;
        (context.instructions > 0).then(|| Cpi {
            non_halted: Some(context.non_halted as f64 / retired),
            nominal: tsc / retired,
        })
    };
    Ok(Clockticks {
        contexts: contexts.iter().map(of_context).collect(),
        package: Cpi {
            non_halted: non_sleep.map(|ticks| ticks / instructions),
            nominal: tsc / instructions,
        },
        awake: non_sleep.map(|ticks| ticks / tsc),
    })
}

fn contains(outer: &str, longer: f64, inner: &str, shorter: f64) -> Result<()> {
    if shorter <= longer * (1.0 + TOLERANCE) {
        return Ok(());
    }
    Err(refused(format_args!("{inner} ({shorter}) exceed {outer} ({longer})")))
}

#[cold]
fn refused(because: impl std::fmt::Display) -> Error {
    not_computable("the CPI of the package", because)
}

const TOLERANCE: f64 = 1e-3;
