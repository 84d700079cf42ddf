//! The programs of a simulated machine, as rates of events.

use pacman_events::{CpuModel, Preset, resolve};

use super::hardware::Signal;

/// Occurrences of portable events in a million instructions of an invented integer program, which
/// sometimes misses its caches. The hardware model adds cycles and instructions. An event that a
/// model cannot count does not occur on it.
const RATES: [(&str, i64); 26] = [
    ("STALL_CYCLES", 350_000),
    ("FRONTEND_STALLS", 120_000),
    ("BACKEND_STALLS", 210_000),
    ("MEM_STALL_CYCLES", 160_000),
    ("UOPS_ISSUED", 1_240_000),
    ("UOPS_RETIRED", 1_150_000),
    ("BRANCHES", 180_000),
    ("BRANCH_MISSES", 5_400),
    ("LOADS", 290_000),
    ("STORES", 130_000),
    ("L1D_MISSES", 14_000),
    ("L1I_MISSES", 700),
    ("L2_ACCESSES", 15_500),
    ("L2_MISSES", 3_100),
    ("LLC_ACCESSES", 3_100),
    ("LLC_MISSES", 800),
    ("DTLB_MISSES", 450),
    // Five slots in each of 900 cycles for a thousand instructions.
    ("SLOTS", 4_500_000),
    ("TOPDOWN_RETIRING", 1_150_000),
    ("TOPDOWN_BAD_SPECULATION", 250_000),
    ("TOPDOWN_FRONTEND_BOUND", 700_000),
    ("TOPDOWN_BACKEND_BOUND", 2_400_000),
    ("TOPDOWN_HEAVY_OPERATIONS", 180_000),
    ("TOPDOWN_BRANCH_MISPREDICTS", 220_000),
    ("TOPDOWN_FETCH_LATENCY", 400_000),
    ("TOPDOWN_MEMORY_BOUND", 1_500_000),
];

/// Rates of events that come last: they get the signals that the presets above did not fix.
const RARE: [(&str, i64); 3] = [("ITLB_MISSES", 40), ("FP_OPS", 20_000), ("BUS_TRANSACTIONS", 950)];

/// A signal and its occurrences in a million instructions.
pub(super) type Rate = (Signal, u64);

/// The rates of all signals in presets of `cpu`.
///
/// A preset that is a sum or a difference fixes one signal in addition to the presets before it. If
/// all signals of a sum are new, they share its rate evenly.
pub(super) fn rates(cpu: CpuModel, cycles_per_1000: u64) -> Vec<Rate> {
    let mut rates: Vec<Rate> = Vec::new();
    for (name, wanted) in RATES.into_iter().chain(RARE) {
        debug_assert!(Preset::named(name).is_some(), "{name} is a preset");
        let Ok(resolved) = resolve(cpu, name) else { continue };
        let mut rest = wanted;
        let mut unknown: Vec<(i64, Signal)> = Vec::new();
        for term in resolved.terms() {
            let Some(signal) = Signal::of(&term.encoding) else { continue };
            let known = match signal {
                Signal::Instructions => Some(1_000_000),
                Signal::Clock(_) => Some(cycles_per_1000 * 1000),
                _ => rates.iter().find(|(other, _)| *other == signal).map(|(_, rate)| *rate),
            };
            match known {
                Some(rate) => rest -= term.coefficient * rate as i64,
                None => unknown.push((term.coefficient, signal)),
            }
        }
        let shares = unknown.len().max(1) as i64;
        for (coefficient, signal) in unknown {
            let rate = rest / shares / coefficient;
            rates.push((signal, rate.max(0) as u64));
        }
    }
    rates
}
