//! From the bytes of an arena to recordings.
//!
//! The bytes may be of any process that had the arena: nothing in them is trusted. What is cut short
//! because its process was ended there is left out; what contradicts itself is said.

mod region;
mod sums;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::mem::offset_of;
use std::os::unix::ffi::OsStrExt;

use pacman_events::shown::text_of;

use super::bins::BinTotals;
use super::cells::{self, EVENTS};
use super::payload::Cursor;
use super::writer::slot;
use super::{CHUNK, Kind, LINE, MAGIC, VERSION, WORDS, header};
use crate::{Adaptation, Ending, Event, Overhead, Process, Recording, Runtime, RuntimeFamily};
use region::{Known, adaptation_of, region};
use sums::{PrimarySum, RowSum, timeline};

/// The recordings of all processes that wrote to the arena, in the order in which they began.
///
/// # Errors
/// If it is no arena, or of another version.
pub fn read(bytes: &[u8]) -> Result<Vec<Recording>, String> {
    let words: Vec<u64> = bytes
        .chunks_exact(8)
        .map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes")))
        .collect();
    if words.len() < WORDS || words[header::MAGIC] != MAGIC {
        return Err("is no recording".into());
    }
    match words[header::VERSION] as u32 {
        VERSION => {}
        other => return Err(format!("has version {other}, not {VERSION}")),
    }
    let owned = owned(&words);
    let mut recordings: Vec<Recording> =
        owned.keys().filter_map(|owner| recording(&owned, *owner)).collect();
    let refused = words[header::REFUSED];
    if let (Some(first), 1..) = (recordings.first_mut(), refused) {
        first.notes.push(format!(
            "{refused} more processes are not recorded: there was no memory left for them"
        ));
    }
    Ok(recordings)
}

/// Records of one process.
#[derive(Default)]
struct Owned<'w> {
    records: Vec<(Kind, &'w [u64])>,
    /// By number.
    regions: BTreeMap<u32, &'w [u64]>,
    forked_from: u64,
    /// Something in its chunks is none of what a writer leaves.
    damaged: bool,
}

/// All records, by the owner of their chunks.
fn owned(words: &[u64]) -> BTreeMap<u64, Owned<'_>> {
    let mut owned: BTreeMap<u64, Owned<'_>> = BTreeMap::new();
    let mut page = 1;
    while let Some(chunk) = words.get(page * WORDS..).filter(|rest| rest.len() >= LINE) {
        let pages = (chunk[0] & 0xffff_ffff) as usize;
        if (chunk[0] >> 32) as u32 != CHUNK || pages == 0 {
            page += 1;
            continue;
        }
        let process = owned.entry(chunk[1]).or_default();
        let size = pages.saturating_mul(WORDS).min(chunk.len());
        let used = usize::try_from(chunk[2]).unwrap_or(usize::MAX);
        process.damaged |= used > size;
        records(&chunk[..used.min(size)], process);
        page = page.saturating_add(pages);
    }
    owned
}

fn records<'w>(chunk: &'w [u64], process: &mut Owned<'w>) {
    let mut at = LINE;
    while at < chunk.len() {
        let (kind, length) = ((chunk[at] >> 32) as u32, (chunk[at] & 0xffff_ffff) as usize);
        let end = at.saturating_add(length);
        if length < LINE || length % LINE != 0 || end > chunk.len() {
            process.damaged = true;
            return;
        }
        let record = &chunk[at..end];
        match Kind::of(kind) {
            Some(Kind::Region) => drop(process.regions.insert(record[1] as u32, record)),
            Some(kind) => process.records.push((kind, record)),
            // Its process was ended while it filled it.
            None if kind == 0 => {}
            None => process.damaged = true,
        }
        if kind == Kind::Process as u32 {
            process.forked_from = word(record, offset_of!(cells::Process, forked_from));
        }
        at = end;
    }
}

fn word(record: &[u64], offset: usize) -> u64 {
    record.get(offset / 8).copied().unwrap_or(0)
}

/// The region of that number, which a forked process knows from the one that it was forked from.
fn region_of<'w>(owned: &BTreeMap<u64, Owned<'w>>, owner: u64, number: u32) -> Option<&'w [u64]> {
    let mut owner = owner;
    for _ in 0..GENERATIONS {
        let process = owned.get(&owner)?;
        if let Some(record) = process.regions.get(&number) {
            return Some(record);
        }
        // A child begins after its parent: what says otherwise would go in circles.
        owner = Some(process.forked_from).filter(|from| *from < owner)?;
    }
    None
}

/// More than any program forks one from the other.
const GENERATIONS: usize = 4096;
/// More notes than the library makes.
const NOTES: usize = 1000;

/// What the records of one process are, put in order.
#[derive(Default)]
struct Sorted<'w> {
    process: Option<&'w [u64]>,
    command: Option<Vec<u8>>,
    runtimes: BTreeMap<u32, Runtime>,
    first: Option<(u32, u32, u64, String)>,
    events: Vec<Event>,
    counted: Vec<usize>,
    notes: Vec<String>,
    rows: BTreeMap<(u32, u32), RowSum>,
    primary_stats: BTreeMap<u32, PrimarySum>,
    adaptations: BTreeMap<u32, (u64, &'w [u64])>,
    open_regions: u64,
    /// Ticks until which something is known to have gone on.
    until: u64,
}

fn recording(owned: &BTreeMap<u64, Owned<'_>>, owner: u64) -> Option<Recording> {
    let records = owned.get(&owner)?;
    let mut sorted = Sorted::default();
    let mut damaged = records.damaged;
    for (kind, record) in &records.records {
        damaged |= sorted.take(*kind, record).is_none();
    }
    let process = sorted.process?;
    let get = |offset: usize| word(process, offset);
    let scale = f64::from_bits(get(offset_of!(cells::Process, seconds_per_tick)));
    let scale = if scale.is_finite() && (1e-15..1.0).contains(&scale) { scale } else { 0.0 };
    damaged |= scale == 0.0;
    let numbers = get(offset_of!(cells::Process, numbers));
    let (ending, ticks) = ending(&sorted, process);
    let mut regions = Vec::new();
    let mut primary_stats = Vec::new();
    // A fork has said nothing of regions that it had from the other until something happens to them.
    let unsaid = get(offset_of!(cells::Process, adapted)) != 0 && records.forked_from != 0;
    for (number, sum) in &sorted.primary_stats {
        let known = region_of(owned, owner, *number).and_then(Known::of);
        let said = sorted.adaptations.get(number).and_then(|(_, record)| adaptation_of(record));
        let adaptation = said.or_else(|| unsaid.then(Adaptation::default));
        regions.push(region(&sorted, *number, sum, known, adaptation, scale));
        primary_stats.push(sum);
    }
    let mut notes = std::mem::take(&mut sorted.notes);
    let refused = get(offset_of!(cells::Process, refused));
    if refused > 0 {
        notes.push(format!(
            "there was no place left for {refused} rows, regions or notes of this process: what \
             belongs there is missing"
        ));
    }
    if damaged {
        notes.push("something has written over this recording: parts of it are missing".into());
    }
    let command = command_of(owned, owner).unwrap_or_default();
    let first = sorted.first.take();
    let overhead = first.as_ref().map(|(_, _, ticks, _)| *ticks as f64 * scale * 1e9);
    let (threads, contexts) = first.as_ref().map_or((0, 0), |first| (first.0, first.1));
    Some(Recording {
        process: Process {
            pid: numbers as u32,
            parent: (numbers >> 32) as u32,
            command,
            began: get(offset_of!(cells::Process, began)) as f64 / 1e9,
            seconds: ticks as f64 * scale,
            ending,
        },
        runtimes: std::mem::take(&mut sorted.runtimes).into_values().collect(),
        threads,
        contexts,
        events: std::mem::take(&mut sorted.events),
        overhead: Overhead {
            nanoseconds: overhead,
            reads: first.map_or_else(|| "none".to_owned(), |first| first.3),
        },
        timeline: timeline(&primary_stats, scale),
        regions,
        notes,
    })
}

/// How it ended as far as it said so, and after how many ticks at the least.
fn ending(sorted: &Sorted<'_>, process: &[u64]) -> (Ending, u64) {
    let ended = word(process, offset_of!(cells::Process, ended));
    let ending = match word(process, offset_of!(cells::Process, ending)) {
        cells::EXIT if sorted.open_regions > 0 => Ending::ExitInRegion,
        cells::EXIT => Ending::Exit,
        // What ran after that shows that it could not become what it wanted.
        cells::EXEC if sorted.until > ended => Ending::Unsaid,
        cells::EXEC => Ending::Exec,
        _ => Ending::Unsaid,
    };
    match ending {
        Ending::Unsaid => (ending, sorted.until),
        _ => (ending, ended.max(sorted.until)),
    }
}

/// Of the process, or of the one that it was forked from.
fn command_of(owned: &BTreeMap<u64, Owned<'_>>, owner: u64) -> Option<Vec<String>> {
    let mut owner = owner;
    for _ in 0..GENERATIONS {
        let process = owned.get(&owner)?;
        let own = process.records.iter().find(|(kind, _)| *kind == Kind::Command);
        if let Some((_, record)) = own {
            let line = Cursor(&record[1..]).bytes()?;
            let words = line.split(|byte| *byte == 0).filter(|word| !word.is_empty());
            return Some(words.map(|word| text_of(OsStr::from_bytes(word))).collect());
        }
        owner = Some(process.forked_from).filter(|from| *from < owner)?;
    }
    None
}

impl<'w> Sorted<'w> {
    /// `None` if the record is not what its kind has.
    fn take(&mut self, kind: Kind, record: &'w [u64]) -> Option<()> {
        let mut cursor = Cursor(&record[1..]);
        match kind {
            Kind::Process => self.process = Some(record),
            Kind::Thread => {
                let open_regions = word(record, offset_of!(cells::Thread, open_regions));
                self.open_regions = self.open_regions.saturating_add(open_regions);
            }
            Kind::Command => self.command = Some(cursor.bytes()?),
            Kind::Runtime => {
                let number = cursor.small()?;
                let family = match cursor.number()? {
                    0 => RuntimeFamily::Libgomp,
                    _ => RuntimeFamily::Libomp,
                };
                let runtime = Runtime { family, path: cursor.path()?, version: None };
                self.runtimes.insert(number, runtime);
            }
            Kind::FirstRegion => {
                let first = (cursor.small()?, cursor.small()?, cursor.number()?, cursor.text()?);
                self.first = Some(first);
            }
            Kind::Events => (self.events, self.counted) = events(&mut cursor)?,
            Kind::Region => {}
            Kind::Note if self.notes.len() < NOTES => self.notes.push(cursor.text()?),
            Kind::Note => {}
            Kind::Row => self.row(record)?,
            Kind::PrimaryStats => self.primary_stats(record)?,
            Kind::Adaptation => {
                let (region, serial) = (record[slot::REGION] as u32, record[slot::SERIAL]);
                let known = self.adaptations.get(&region).map_or(0, |(serial, _)| *serial);
                // One that has no text yet has not taken the place of the one before.
                if record[slot::STATE] != 0 && serial >= known {
                    self.adaptations.insert(region, (serial, record));
                }
            }
        }
        Some(())
    }

    fn row(&mut self, record: &[u64]) -> Option<()> {
        let get = |offset: usize| word(record, offset);
        let counts = record.get(offset_of!(cells::Row, counts) / 8..)?.get(..EVENTS)?;
        let key = get(offset_of!(cells::Row, key));
        let sum = self.rows.entry((key as u32, (key >> 32) as u32)).or_default();
        if let Some(cpu) = get(offset_of!(cells::Row, cpu)).checked_sub(1) {
            let cpu = u32::try_from(cpu).ok()?;
            // Another thread had this number as well: on another context, it has moved.
            let elsewhere = sum.cpu.is_some_and(|before| before != cpu);
            sum.moves = sum.moves.saturating_add(u64::from(elsewhere));
            sum.cpu = Some(cpu);
        }
        for (sum, offset) in [
            (&mut sum.executions, offset_of!(cells::Row, executions)),
            (&mut sum.ticks, offset_of!(cells::Row, ticks)),
            (&mut sum.moves, offset_of!(cells::Row, moves)),
            (&mut sum.counted, offset_of!(cells::Row, counted)),
        ] {
            *sum = sum.saturating_add(get(offset));
        }
        sum.counts.iter_mut().zip(counts).for_each(|(sum, count)| *sum = sum.wrapping_add(*count));
        Some(())
    }

    fn primary_stats(&mut self, record: &[u64]) -> Option<()> {
        const BINS: usize = offset_of!(cells::PrimaryStats, bins) / 8;
        if record.len() < size_of::<cells::PrimaryStats>() / 8 {
            return None;
        }
        let region = word(record, offset_of!(cells::PrimaryStats, region)) as u32;
        if let Some(sum) = PrimarySum::of(record, BinTotals::of(&record[BINS..])) {
            self.until = self.until.max(sum.bins.until(&record[BINS..]));
            match self.primary_stats.get_mut(&region) {
                Some(known) => known.merge(&sum),
                None => drop(self.primary_stats.insert(region, sum)),
            }
        }
        Some(())
    }
}

fn events(cursor: &mut Cursor<'_>) -> Option<(Vec<Event>, Vec<usize>)> {
    let events = usize::try_from(cursor.number()?).ok()?;
    let mut all = Vec::new();
    for _ in 0..events {
        all.push(Event { name: cursor.text()?, uncounted: cursor.optional()? });
    }
    let counts = usize::try_from(cursor.number()?).ok().filter(|counts| *counts <= EVENTS)?;
    let event = |at: u64| usize::try_from(at).ok().filter(|event| *event < all.len());
    let counted: Option<Vec<usize>> =
        (0..counts).map(|_| cursor.number().and_then(event)).collect();
    Some((all, counted?))
}
