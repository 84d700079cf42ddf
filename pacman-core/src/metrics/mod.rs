//! What counts mean: the analyses that practitioners published for SMT machines.
//!
//! Every function here is pure. It takes differences of counts and answers a figure with a
//! unit, or an error that says *"… is not computable because …"*. What a metric is made of is
//! written down as a [`Definition`]: unit, formula, the events it needs, and where it comes from.
//!
//! - [`budget`]: what stalls cost where contexts share the issue slots.
//! - [`clockticks`]: cycles per instruction on NetBurst, with and without halts.
//! - [`discard`]: when a measurement of a short section is to be thrown away.
//! - [`language`]: metrics as text, of which a user adds his own in a file.
//! - [`rates`]: IPC, slowdown by the sibling, misses per instruction, bandwidth.
//! - [`smt`]: how often no, one or several contexts of a core were active.
//! - [`stalls`]: stalled cycles and what they are worth, and those that wait for memory.
//! - [`tiles`]: where on a Knights Landing die a logical CPU is.
//! - [`utilisation`]: utilisation, frequencies and the kernel's part of a section of code.

pub mod budget;
pub mod clockticks;
pub mod discard;
pub mod language;
pub mod rates;
pub mod smt;
pub mod stalls;
pub mod tiles;
pub mod utilisation;

use std::fmt;

use crate::error::{Error, ErrorKind};

/// What a metric is made of.
///
/// ```
/// for definition in pacman_core::metrics::definitions() {
///     println!("{}: {} [{}]", definition.name, definition.formula, definition.unit);
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Definition {
    /// The metric's name, in lower case with hyphens.
    pub name: &'static str,
    /// What one unit of the figure is.
    pub unit: &'static str,
    /// How it comes about; names as in [`needs`](Definition::needs).
    pub formula: &'static str,
    /// The events and clocks that go in.
    pub needs: &'static [&'static str],
    /// The document and the place in it.
    pub source: &'static str,
}

/// Every metric of this module.
pub fn definitions() -> impl Iterator<Item = &'static Definition> {
    let parts: [&'static [Definition]; 8] = [
        budget::DEFINITIONS,
        clockticks::DEFINITIONS,
        discard::DEFINITIONS,
        rates::DEFINITIONS,
        smt::DEFINITIONS,
        stalls::DEFINITIONS,
        tiles::DEFINITIONS,
        utilisation::DEFINITIONS,
    ];
    parts.into_iter().flatten()
}

/// "… is not computable because …".
#[cold]
fn not_computable(what: &str, because: impl fmt::Display) -> Error {
    Error::new(ErrorKind::NotComputable, format!("{what} is not computable because {because}"))
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
