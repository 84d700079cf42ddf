//! Decodes the bytes of an arena into recordings.
//!
//! Any process that mapped the arena may have written the bytes, so the reader trusts none of them. It
//! leaves out a record that its process did not finish, and notes a contradiction.

mod energy;
mod energy_sum;
mod logs;
mod phase_sum;
mod phases;
mod records;
mod region;
mod set_sum;
mod sets;
mod sorted;
mod sums;
mod waits;

use pacman_events::plural::{self, number};
use std::collections::BTreeMap;
use std::mem::offset_of;

use super::cells;
use super::format::{MAGIC, VERSION, WORDS, header};
use crate::{Adaptation, Ending, Overhead, Process, Recording};
use logs::logs;
use phases::{facts, phases};
use records::{Owned, command_of, owned, region_of, word};
use region::{Known, adaptation_of, region};
use sorted::Sorted;
use sums::timeline;

pub(super) use sums::DEVIATION;
use waits::{scheduling, waits};

/// Reads the recordings of all processes that wrote to the arena, in the order of their start.
///
/// # Errors
/// If the bytes are not an arena of this version.
pub fn read(bytes: &[u8]) -> Result<Vec<Recording>, String> {
    let words = bytes.chunks_exact(8);
    let word = |word: &[u8]| u64::from_le_bytes(word.try_into().expect("eight bytes"));
    read_words(&words.map(word).collect::<Vec<u64>>())
}

/// As [`read`], of the words of an arena.
///
/// # Errors
/// As there.
pub fn read_words(words: &[u64]) -> Result<Vec<Recording>, String> {
    if words.len() < WORDS || words[header::MAGIC] != MAGIC {
        return Err("is not a recording".into());
    }
    match words[header::VERSION] as u32 {
        VERSION => {}
        other => return Err(format!("has version {other}, not {VERSION}")),
    }
    let owned = owned(words);
    let mut recordings: Vec<Recording> =
        owned.keys().filter_map(|owner| recording(&owned, *owner, words[header::TICK])).collect();
    let refused = words[header::REFUSED];
    if let (Some(first), 1..) = (recordings.first_mut(), refused) {
        first.notes.push(format!(
            "{} {} not recorded: there was no memory left",
            number(refused, "more process"),
            plural::is(refused)
        ));
    }
    Ok(recordings)
}

fn recording(owned: &BTreeMap<u64, Owned<'_>>, owner: u64, tick: u64) -> Option<Recording> {
    let records = owned.get(&owner)?;
    let mut sorted = Sorted::default();
    let mut damaged = records.damaged;
    for (kind, record) in &records.records {
        damaged |= sorted.take(*kind, record).is_none();
    }
    sorted.add_untimed();
    sorted.add_open_parts();
    let process = sorted.process?;
    let get = |offset: usize| word(process, offset);
    let scale = match get(offset_of!(cells::Process, seconds_per_tick)) {
        0 => f64::from_bits(tick),
        own => f64::from_bits(own),
    };
    let scale = if scale.is_finite() && (1e-15..1.0).contains(&scale) { scale } else { 0.0 };
    damaged |= scale == 0.0;
    let numbers = get(offset_of!(cells::Process, numbers));
    let (ending, ticks) = ending(&sorted, process);
    let mut regions = Vec::new();
    let mut primary_stats = Vec::new();
    // A forked process records adaptation of an inherited region only after a change.
    let unsaid = get(offset_of!(cells::Process, adapted)) != 0 && records.forked_from != 0;
    for (number, sum) in &sorted.primary_stats {
        let mut known = region_of(owned, owner, *number).and_then(Known::of);
        if let Some(known) = &mut known {
            let phase = known.labelled_by.and_then(|number| facts(owned, owner, number));
            known.label = phase.map(|(_, name)| name);
        }
        let said = sorted.adaptations.get(number).and_then(|(_, record)| adaptation_of(record));
        let adaptation = said.or_else(|| unsaid.then(Adaptation::default));
        regions.push((*number, region(&sorted, *number, sum, known, adaptation, scale)));
        primary_stats.push(sum);
    }
    let (waits, sites) = waits(owned, owner, (&sorted, process), &mut regions, scale);
    let logs = logs(&sorted, &regions, &sites, scale);
    let phases = phases(owned, owner, (&sorted, waits.is_some()), scale);
    let mut notes = std::mem::take(&mut sorted.notes);
    let refused = get(offset_of!(cells::Process, refused));
    if refused > 0 {
        notes.push(format!(
            "there was no place left for {refused} rows, regions or notes of this process: the \
             recording lacks them"
        ));
    }
    if damaged {
        notes.push("something has written over this recording: parts of it are missing".into());
    }
    let command = command_of(owned, owner).unwrap_or_default();
    let first = sorted.first.take();
    let (threads, contexts) =
        first.as_ref().map_or((0, 0), |first| (first.threads, first.contexts));
    let overhead = match first {
        None => Overhead { nanoseconds: None, reads: "none".to_owned(), counts: Vec::new() },
        Some(first) => Overhead {
            nanoseconds: Some(first.ticks as f64 * scale * 1e9),
            reads: first.reads,
            counts: first.counts,
        },
    };
    Some(Recording {
        process: Process {
            pid: numbers as u32,
            parent: (numbers >> 32) as u32,
            command,
            began: get(offset_of!(cells::Process, began)) as f64 / 1e9,
            seconds: ticks as f64 * scale,
            ending,
            host: sorted.host.take(),
            rank: sorted.rank,
        },
        runtimes: std::mem::take(&mut sorted.runtimes).into_values().collect(),
        threads,
        contexts,
        machine: sorted.machine.take(),
        events: std::mem::take(&mut sorted.events),
        sets: if sorted.sets.len() > 1 { std::mem::take(&mut sorted.sets) } else { Vec::new() },
        energy: sorted.process_energy(scale),
        overhead,
        roots: sorted.roots.len().max(1) as u32,
        timeline: timeline(&primary_stats, scale),
        regions: regions.into_iter().map(|(_, region)| region).collect(),
        phases,
        waits,
        logs,
        scheduling: scheduling(process),
        notes,
    })
}

/// The recorded end of the process, and the least time that it ran, in ticks.
fn ending(sorted: &Sorted<'_>, process: &[u64]) -> (Ending, u64) {
    let ended = word(process, offset_of!(cells::Process, ended));
    let ending = match word(process, offset_of!(cells::Process, ending)) {
        cells::EXIT if sorted.open_regions > 0 => Ending::ExitInRegion,
        cells::EXIT => Ending::Exit,
        // A later execution shows that the exec failed.
        cells::EXEC if sorted.until > ended => Ending::Unsaid,
        cells::EXEC => Ending::Exec,
        _ => Ending::Unsaid,
    };
    match ending {
        Ending::Unsaid => (ending, sorted.until),
        _ => (ending, ended.max(sorted.until)),
    }
}
