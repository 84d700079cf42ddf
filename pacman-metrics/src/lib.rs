//! Metrics of SMT machines, as practitioners published them.
//!
//! All functions are pure: they take differences of counts, and open no counter. They return a
//! figure with a unit, or an error that says *"… is not computable because …"*. A [`Definition`]
//! states a metric's unit, formula, events and source.
//!
//! ```
//! use pacman_metrics::rates::{Counted, ipc};
//! let exact = |count| Counted { count, group: 0, enabled_ns: 1_000, running_ns: 1_000 };
//! let rate = ipc(exact(3_000), exact(2_000))?;
//! assert_eq!(rate.value, 1.5);
//! # Ok::<(), pacman_metrics::Error>(())
//! ```
//!
//! - [`budget`]: the cost of stalls on cores whose contexts share the issue slots.
//! - [`clockticks`]: cycles per instruction on NetBurst, with and without halts.
//! - [`language`]: metrics as text; users can add their own in a file.
//! - [`quality`]: whether a measurement of a short section can be trusted.
//! - [`rates`]: IPC, slowdown by the sibling, misses per instruction, bandwidth.
//! - [`slots`]: issue slots by category, and whether SMT off would pay.
//! - [`smt`]: how long no, one or several contexts of a core were active.
//! - [`stalls`]: stalled cycles by stage of the pipeline, and those that wait for memory.
//! - [`tiles`]: the position of a logical CPU on a Knights Landing die.
//! - [`utilisation`]: utilisation, frequencies and the kernel's part of a section of code.

pub mod budget;
pub mod clockticks;
pub mod language;
pub mod quality;
pub mod rates;
pub mod slots;
pub mod smt;
pub mod stalls;
pub mod tiles;
pub mod utilisation;

mod definition;
mod error;

pub use definition::Definition;
pub use error::{Error, ErrorKind, Result};

/// Every metric of this crate.
pub fn definitions() -> impl Iterator<Item = &'static Definition> {
    let parts: [&'static [Definition]; 8] = [
        budget::DEFINITIONS,
        clockticks::DEFINITIONS,
        quality::DEFINITIONS,
        rates::DEFINITIONS,
        smt::DEFINITIONS,
        stalls::DEFINITIONS,
        tiles::DEFINITIONS,
        utilisation::DEFINITIONS,
    ];
    parts.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_complete_and_named_once() {
        let mut names = Vec::new();
        for definition in definitions() {
            let Definition { name, unit, formula, needs, source } = definition;
            assert!(!unit.is_empty() && !formula.is_empty() && !needs.is_empty(), "{name}");
            assert!(source.contains(','), "{name}: author or document, then the place in it");
            assert!(!names.contains(name), "{name} twice");
            names.push(name);
        }
        assert!(!names.is_empty());
    }
}

// The examples of README.md are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
