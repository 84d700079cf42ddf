//! Chooses and computes the rate beside a count.

use super::cell::Cell;
use super::figures::{Figure, Figures};
use crate::report::EventColumn;

/// The divisor of a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rate {
    /// Instructions per cycle; the index of the cycles.
    PerCycle(usize),
    /// Misses per 1000 instructions; the index of the instructions.
    PerThousandInstructions(usize),
    /// Events per second of the row's time.
    PerSecond,
    /// A clock's nanoseconds as a share of the row's time.
    OfTime,
}

impl Rate {
    /// The most informative rate of event number `event` beside the other events. Two counts are
    /// related only if both are of the same privilege levels and core types.
    pub(super) fn of(events: &[EventColumn], event: usize) -> Rate {
        let own = &events[event];
        let (base, levels) = split(own);
        let beside = |name| {
            let fits = |other: &EventColumn| {
                split(other) == (name, levels) && other.core_pmu == own.core_pmu
            };
            events.iter().position(fits)
        };
        if events[event].unit == "ns" {
            return Rate::OfTime;
        }
        if base == "INSTRUCTIONS" {
            return beside("CYCLES").map_or(Rate::PerSecond, Rate::PerCycle);
        }
        if base.to_ascii_uppercase().contains("MISS") {
            return beside("INSTRUCTIONS").map_or(Rate::PerSecond, Rate::PerThousandInstructions);
        }
        Rate::PerSecond
    }

    /// The heading: the rate's name, if it has one, and its unit.
    pub(super) fn head(self) -> [&'static str; 2] {
        match self {
            Rate::PerCycle(_) => ["IPC", "/cycle"],
            Rate::PerThousandInstructions(_) => ["per 1000", "instr"],
            Rate::PerSecond => ["", "/s"],
            Rate::OfTime => ["", "of time"],
        }
    }

    /// The rate of event number `event` in a row, from the row's own figures.
    pub(super) fn cell(self, figures: &Figures, event: usize) -> Cell {
        let count = &figures.counts[event];
        let Some(value) = count.value else { return Cell::Absent };
        if !figures.sets.is_empty() {
            return self.cell_of_sets(figures, event);
        }
        let nothing = Figure::default();
        let (below, times, company) = match self {
            Rate::PerCycle(cycles) => {
                let cycles = &figures.counts[cycles];
                (cycles.value, 1.0, cycles)
            }
            Rate::PerThousandInstructions(instructions) => {
                let instructions = &figures.counts[instructions];
                (instructions.value, 1e3, instructions)
            }
            Rate::PerSecond => (Some(figures.time), 1e9, &nothing),
            Rate::OfTime => (Some(figures.time), 1.0, &nothing),
        };
        // A sum that lacks a thread's part has no rate.
        let whole = !count.missing && !company.missing;
        match below {
            Some(below) if below > 0 && whole => {
                let scaled = count.scaled || company.scaled;
                if self == Rate::OfTime {
                    share_of_time(value, below, scaled)
                } else {
                    Cell::Ratio { value: value as f64 * times / below as f64, scaled }
                }
            }
            _ => Cell::Undefined,
        }
    }

    /// Like [`cell`](Self::cell), if sets rotated. Only uses executions that counted both events,
    /// because the others may have been longer.
    fn cell_of_sets(self, figures: &Figures, event: usize) -> Cell {
        let (mut part, mut whole) = (0, 0);
        for set in &figures.sets {
            let below = match self {
                Rate::PerCycle(other) | Rate::PerThousandInstructions(other) => set.counts[other],
                Rate::PerSecond | Rate::OfTime => Some(set.time),
            };
            if let (Some(count), Some(below)) = (set.counts[event], below) {
                part += count;
                whole += below;
            }
        }
        let scaled = figures.counts[event].scaled;
        let times = match self {
            _ if whole == 0 => return Cell::Undefined,
            Rate::OfTime => return share_of_time(part, whole, scaled),
            Rate::PerCycle(_) => 1.0,
            Rate::PerThousandInstructions(_) => 1e3,
            Rate::PerSecond => 1e9,
        };
        Cell::Ratio { value: part as f64 * times / whole as f64, scaled }
    }
}

/// A clock's share of the time; no figure if the clock exceeds the time.
fn share_of_time(part: u128, whole: u128, scaled: bool) -> Cell {
    if exceeds(part, whole) { Cell::Excess } else { Cell::Share { part, whole, scaled } }
}

/// Whether a thread's clock counted more than `time`, both in nanoseconds.
///
/// Counters are read outside of the interval that the wall clock measures, so a clock's count
/// contains a part of the reading. Two clocks may also differ by up to one percent.
pub(super) fn exceeds(count: u128, time: u128) -> bool {
    count.saturating_mul(100) > time.saturating_mul(101)
}

/// An event's name without its core type and its modifiers, and the modifiers.
fn split(event: &EventColumn) -> (&str, &str) {
    let name = match &event.core_pmu {
        Some(pmu) => event.name.strip_prefix(pmu.as_str()).unwrap_or(&event.name).trim_matches('/'),
        None => &event.name,
    };
    name.split_once(':').unwrap_or((name, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(names: &[(&str, &'static str)]) -> Vec<Rate> {
        let events: Vec<EventColumn> = names
            .iter()
            .map(|&(name, unit)| EventColumn {
                name: name.to_string(),
                unit,
                hardware: true,
                doubt: None,
                table: None,
                core_pmu: name.split_once('/').map(|(pmu, _)| pmu.to_string()),
                part_of: None,
            })
            .collect();
        (0..events.len()).map(|event| Rate::of(&events, event)).collect()
    }

    #[test]
    fn a_rate_relates_what_is_there() {
        let instructions = ("INSTRUCTIONS", "instructions");
        let misses = ("CACHE_MISSES", "accesses");
        assert_eq!(
            rates(&[("CYCLES", "cycles"), instructions, misses, ("task-clock", "ns")]),
            [Rate::PerSecond, Rate::PerCycle(0), Rate::PerThousandInstructions(1), Rate::OfTime]
        );
        assert_eq!(rates(&[instructions, misses])[0], Rate::PerSecond);
        assert_eq!(rates(&[misses]), [Rate::PerSecond]);
    }

    #[test]
    fn user_and_kernel_are_not_mixed() {
        let names = [
            ("CYCLES", "cycles"),
            ("INSTRUCTIONS:k", "instructions"),
            ("CYCLES:k", "cycles"),
            ("BRANCH_MISSES", "branches"),
        ];
        let rates = rates(&names);
        assert_eq!(rates[1], Rate::PerCycle(2));
        assert_eq!(rates[3], Rate::PerSecond, "kernel instructions are not its own");
    }
}
