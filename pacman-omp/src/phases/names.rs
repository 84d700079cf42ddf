//! The phases of the process, by kind and name.

use std::collections::BTreeMap;

use pacman_regions::PhaseKind;

use crate::lock::Lock;
use crate::notes;
use crate::process;
use crate::recording;

/// A phase of a session, by the copy of `pacman-core` and its word for the phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mark {
    pub(crate) copy: usize,
    pub(crate) phase: u64,
}

/// The phases of the process.
#[derive(Debug)]
pub(crate) struct Numbers {
    /// The number of each phase that was executed.
    of: BTreeMap<(PhaseKind, Vec<u8>), u32>,
    /// The names of the phases of sessions.
    marked: BTreeMap<Mark, Vec<u8>>,
}

pub(crate) static NUMBERS: Lock<Numbers> =
    Lock::new(Numbers { of: BTreeMap::new(), marked: BTreeMap::new() });

/// Gives a phase of a session its name.
pub(crate) fn mark(mark: Mark, name: &[u8]) {
    NUMBERS.lock().marked.entry(mark).or_insert_with(|| name.to_vec());
}

/// The name of a phase of a session.
pub(crate) fn marked(mark: Mark) -> Option<Vec<u8>> {
    NUMBERS.lock().marked.get(&mark).cloned()
}

/// The most phases that are observed. A program may make names of its loop counters.
const MOST: usize = 1 << 13;

/// The number of a phase, which gets one at its first execution; `None` if there are too many.
pub(crate) fn number(kind: PhaseKind, name: &[u8]) -> Option<u32> {
    let mut numbers = NUMBERS.lock();
    if let Some(number) = numbers.of.get(&(kind, name.to_vec())) {
        return Some(*number);
    }
    let number = numbers.of.len() as u32;
    if numbers.of.len() >= MOST {
        drop(numbers);
        notes::note(format!("there are more than {MOST} phases: the others are not observed"));
        return None;
    }
    // A thread can have a row of the phase only after this record.
    recording::phase(number, kind, name);
    numbers.of.insert((kind, name.to_vec()), number);
    drop(numbers);
    if kind == PhaseKind::Likwid {
        note_if_likwid_counts();
    }
    Some(number)
}

/// The text of a region's label, which is one more than the number of its kernel; `None` for 0.
pub(crate) fn of_label(label: u32) -> Option<String> {
    let number = label.checked_sub(1)?;
    let numbers = NUMBERS.lock();
    let found = numbers.of.iter().find(|(_, known)| **known == number);
    found.map(|((_, name), _)| String::from_utf8_lossy(name).into_owned())
}

/// Warns if LIKWID programs counters under this process's events.
fn note_if_likwid_counts() {
    if !process::options().events.is_empty() && std::env::var_os("LIKWID_EVENTS").is_some() {
        notes::note(
            "LIKWID counts in this process as well (LIKWID_EVENTS is set) and may write to the \
             counters that the kernel uses for -e: leave out -e, or run without likwid-perfctr"
                .to_owned(),
        );
    }
}
