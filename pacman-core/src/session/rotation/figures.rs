//! Events that become one figure.

use crate::event::Event;

/// The numbers of events whose counts become one figure: they stay in one set, so that a quotient is
/// of one time.
pub fn events_of_one_figure(events: &[Event]) -> Vec<Vec<usize>> {
    let numbers = |is_one: &dyn Fn(&str) -> bool| -> Vec<usize> {
        (0..events.len()).filter(|event| is_one(events[*event].name())).collect()
    };
    let rates = ["", ":k", ":uk"].map(|modes| {
        numbers(&|name| {
            let counted = name.strip_suffix(modes);
            counted.is_some_and(|name| ["CYCLES", "INSTRUCTIONS", "STALL_CYCLES"].contains(&name))
        })
    });
    let slots = numbers(&|name| {
        let name = name.to_ascii_uppercase();
        name == "SLOTS" || name.starts_with("TOPDOWN_")
    });
    rates.into_iter().chain([slots]).filter(|unit| unit.len() > 1).collect()
}
