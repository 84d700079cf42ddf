//! The decoded form of phases.

use std::collections::BTreeMap;

use super::records::{Owned, phase_of};
use super::region::row;
use super::sorted::Sorted;
use crate::arena::payload::Cursor;
use crate::{Phase, PhaseKind, PhaseThread};

/// The phases of the process, in the order of their first execution in it or in its parent.
pub(super) fn phases(
    owned: &BTreeMap<u64, Owned<'_>>,
    owner: u64,
    (sorted, has_waits): (&Sorted<'_>, bool),
    scale: f64,
) -> Vec<Phase> {
    let mut phases: BTreeMap<u32, Phase> = BTreeMap::new();
    for (&(number, thread), sum) in &sorted.phases {
        let Some((kind, name)) = facts(owned, owner, number) else { continue };
        let phase = phases.entry(number).or_insert_with(|| Phase { name, kind, threads: vec![] });
        let row = row(sorted, thread, &sum.ended, scale);
        // The process may have ended between the stores of a begin and those of an end.
        let begun = sum.begun.max(row.executions);
        let states = has_waits.then(|| sum.states(scale));
        phase.threads.push(PhaseThread { begun, row, states });
    }
    phases.into_values().collect()
}

/// The kind and the name of a phase.
pub(super) fn facts(
    owned: &BTreeMap<u64, Owned<'_>>,
    owner: u64,
    number: u32,
) -> Option<(PhaseKind, String)> {
    let mut cursor = Cursor(phase_of(owned, owner, number)?.get(2..)?);
    Some((PhaseKind::numbered(cursor.number()?)?, cursor.text()?))
}
