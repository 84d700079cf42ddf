//! The phases of the process, by kind and name.

use std::collections::BTreeMap;

use pacman_core::fork::Lock;
use pacman_regions::PhaseKind;

use crate::notes;
use crate::process;
use crate::recording;

/// The number of each phase.
pub(crate) type Numbers = BTreeMap<(PhaseKind, Vec<u8>), u32>;

pub(crate) static NUMBERS: Lock<Numbers> = Lock::new(BTreeMap::new());

/// The most phases that are observed. A program may make names of its loop counters.
const MOST: usize = 1 << 13;

/// The number of a phase, which gets one at its first execution; `None` if there are too many.
pub(super) fn number(kind: PhaseKind, name: &[u8]) -> Option<u32> {
    let mut numbers = NUMBERS.lock();
    if let Some(number) = numbers.get(&(kind, name.to_vec())) {
        return Some(*number);
    }
    let number = numbers.len() as u32;
    if numbers.len() >= MOST {
        drop(numbers);
        notes::note(format!("there are more than {MOST} phases: the others are not observed"));
        return None;
    }
    // A thread can have a row of the phase only after this record.
    recording::phase(number, kind, name);
    numbers.insert((kind, name.to_vec()), number);
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
    let found = numbers.iter().find(|(_, known)| **known == number);
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
