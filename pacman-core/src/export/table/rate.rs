//! Chooses the rate beside a count. The metrics' language computes it.

use pacman_metrics::language::{Count, Metric, named, of_any_event};

use super::cell::Cell;
use super::figures::{Figure, Figures};
use crate::plausible::exceeds;
use crate::report::EventColumn;

/// The quotient beside a count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rate {
    /// A metric whose first name is the event, and whose second is the one with this number.
    Of(&'static Metric, usize),
    /// A metric of the event and of the row's time.
    OfTime(&'static Metric),
    /// A clock's nanoseconds as a share of the row's time.
    Share,
}

impl Rate {
    /// The most informative rate of event number `event` beside the other events. Two counts are
    /// related only if both are of the same privilege levels and core types, and if neither is `unmoved`: it
    /// stayed at 0 where the machine may not count it.
    pub(super) fn of(events: &[EventColumn], unmoved: &[usize], event: usize) -> Rate {
        let own = &events[event];
        let (base, levels) = split(own);
        let beside = |name| {
            let fits = |at: &usize| {
                let other = &events[*at];
                split(other) == (name, levels) && other.core_pmu == own.core_pmu
            };
            (0..events.len())
                .find(fits)
                .filter(|at| ![event, *at].iter().any(|at| unmoved.contains(at)))
        };
        let related = match base {
            _ if own.unit == "ns" => return Rate::Share,
            "INSTRUCTIONS" => named("ipc").zip(beside("CYCLES")),
            _ if base.to_ascii_uppercase().contains("MISS") => {
                of_any_event("per-1000-instructions").zip(beside("INSTRUCTIONS"))
            }
            _ => None,
        };
        related.map_or_else(
            || Rate::OfTime(of_any_event("per-second").expect("it is built in")),
            |(metric, other)| Rate::Of(metric, other),
        )
    }

    /// The heading: the rate's name, if it has one, and its unit.
    pub(super) fn head(self) -> [&'static str; 2] {
        match self {
            Rate::Of(metric, _) if metric.name() == "ipc" => ["IPC", "/cycle"],
            Rate::Of(..) => ["per 1000", "instr"],
            Rate::OfTime(_) => ["", "/s"],
            Rate::Share => ["", "of time"],
        }
    }

    /// The rate of event number `event` in a row, from the row's own figures.
    pub(super) fn cell(self, figures: &Figures, event: usize) -> Cell {
        if figures.counts[event].value.is_none() {
            return Cell::Absent;
        }
        let value = match (self, self.operands(figures, event)) {
            (_, None) => return Cell::Undefined,
            (Rate::Share, Some((part, whole))) => return share_of_time(part, whole),
            (Rate::Of(metric, _) | Rate::OfTime(metric), Some((own, other))) => {
                let names = metric.expression().names();
                metric
                    .figure(|name| Some(if names[0] == name { own.count() } else { other.count() }))
            }
        };
        value.map_or(Cell::Undefined, |figure| Cell::Ratio {
            value: figure.value,
            scaled: figure.is_estimate,
        })
    }

    /// The count of the event, and that of the other one or the time. If sets rotated, they are of the
    /// executions that counted both: the others may have been longer.
    fn operands(self, figures: &Figures, event: usize) -> Option<(Operand, Operand)> {
        let of = |figure: &Figure| {
            Some(Operand { value: figure.value?, scaled: figure.scaled, missing: figure.missing })
        };
        let exact = |value| Operand { value, scaled: false, missing: false };
        let own = of(&figures.counts[event])?;
        if figures.sets.is_empty() {
            let other = match self {
                Rate::Of(_, other) => of(&figures.counts[other])?,
                Rate::OfTime(_) | Rate::Share => exact(figures.time),
            };
            return Some((own, other));
        }
        let (mut part, mut whole) = (0, 0);
        for set in &figures.sets {
            let below = match self {
                Rate::Of(_, other) => set.counts[other],
                Rate::OfTime(_) | Rate::Share => Some(set.time),
            };
            if let (Some(count), Some(below)) = (set.counts[event], below) {
                part += count;
                whole += below;
            }
        }
        Some((Operand { value: part, missing: false, ..own }, exact(whole)))
    }
}

/// One side of a quotient.
#[derive(Clone, Copy)]
struct Operand {
    value: u128,
    scaled: bool,
    missing: bool,
}

impl Operand {
    fn count(self) -> Count {
        Count::from(self.value).estimated(self.scaled).lacking_a_part(self.missing)
    }
}

/// A clock's share of the time; no figure if the clock exceeds the time, or if a thread's part is missing.
fn share_of_time(part: Operand, time: Operand) -> Cell {
    let Operand { value, scaled, missing } = part;
    match time.value {
        0 => Cell::Undefined,
        _ if missing => Cell::Undefined,
        whole if exceeds(value, whole) => Cell::Excess,
        whole => Cell::Share { part: value, whole, scaled },
    }
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

    fn rates(names: &[(&str, &'static str)], unmoved: &[usize]) -> Vec<String> {
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
        let shown = |event| match Rate::of(&events, unmoved, event) {
            Rate::Of(metric, other) => format!("{} of {}", metric.name(), names[other].0),
            Rate::OfTime(metric) => metric.name().to_owned(),
            Rate::Share => "share".to_owned(),
        };
        (0..events.len()).map(shown).collect()
    }

    #[test]
    fn a_rate_relates_what_is_there_and_moved() {
        let instructions = ("INSTRUCTIONS", "instructions");
        let misses = ("CACHE_MISSES", "accesses");
        let all = [("CYCLES", "cycles"), instructions, misses, ("task-clock", "ns")];
        let ipc = "ipc of CYCLES";
        let per_1000 = "per-1000-instructions of INSTRUCTIONS";
        assert_eq!(rates(&all, &[]), ["per-second", ipc, per_1000, "share"]);
        assert_eq!(rates(&all, &[0]), ["per-second", "per-second", per_1000, "share"]);
        assert_eq!(rates(&all, &[2]), ["per-second", ipc, "per-second", "share"]);
        assert_eq!(rates(&[instructions, misses], &[])[0], "per-second");
        assert_eq!(rates(&[misses], &[]), ["per-second"]);
    }

    #[test]
    fn user_and_kernel_are_not_mixed() {
        let names = [
            ("CYCLES", "cycles"),
            ("INSTRUCTIONS:k", "instructions"),
            ("CYCLES:k", "cycles"),
            ("BRANCH_MISSES", "branches"),
        ];
        let rates = rates(&names, &[]);
        assert_eq!(rates[1], "ipc of CYCLES:k");
        assert_eq!(rates[3], "per-second", "kernel instructions are not its own");
    }
}
