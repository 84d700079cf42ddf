//! The records of one process, sorted by kind.

use std::collections::BTreeMap;
use std::mem::offset_of;

use super::energy_sum::EnergySum;
use super::records::word;
use super::sums::{PrimarySum, RowSum};
use crate::arena::bins::BinTotals;
use crate::arena::cells::{self, EVENTS};
use crate::arena::format::Kind;
use crate::arena::payload::Cursor;
use crate::arena::wait_row::WaitRow;
use crate::arena::writer::slot;
use crate::{Event, Rank, Runtime, RuntimeFamily};

/// The most notes to keep: more than the library writes.
const NOTES: usize = 1000;

/// The records of one process.
#[derive(Default)]
pub(super) struct Sorted<'w> {
    pub(super) process: Option<&'w [u64]>,
    pub(super) command: Option<Vec<u8>>,
    pub(super) runtimes: BTreeMap<u32, Runtime>,
    pub(super) first: Option<(u32, u32, u64, String)>,
    pub(super) events: Vec<Event>,
    pub(super) counted: Vec<usize>,
    pub(super) notes: Vec<String>,
    pub(super) host: Option<String>,
    pub(super) rank: Option<Rank>,
    pub(super) rows: BTreeMap<(u32, u32), RowSum>,
    /// By region, thread and site: the number of waits and their ticks.
    pub(super) waits: BTreeMap<(u32, u32, u32), (u64, u64)>,
    pub(super) primary_stats: BTreeMap<u32, PrimarySum>,
    pub(super) adaptations: BTreeMap<u32, (u64, &'w [u64])>,
    /// The source, the packages and the nanojoules after which a counter wraps.
    pub(super) energy_source: Option<(String, u32, u64)>,
    /// By one more than the region; 0 is the process.
    pub(super) energies: BTreeMap<u64, EnergySum>,
    pub(super) open_regions: u64,
    /// The latest known activity, in ticks.
    pub(super) until: u64,
}

impl<'w> Sorted<'w> {
    /// Adds a record; `None` if it does not fit its kind.
    pub(super) fn take(&mut self, kind: Kind, record: &'w [u64]) -> Option<()> {
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
            Kind::Region | Kind::WaitSite => {}
            Kind::Note if self.notes.len() < NOTES => self.notes.push(cursor.text()?),
            Kind::Note => {}
            Kind::Row => self.row(record)?,
            Kind::WaitRow => self.wait_row(record),
            Kind::PrimaryStats => self.primary_stats(record)?,
            Kind::Adaptation => {
                let (region, serial) = (record[slot::REGION] as u32, record[slot::SERIAL]);
                let known = self.adaptations.get(&region).map_or(0, |(serial, _)| *serial);
                // A slot without a text has not replaced the one before.
                if record[slot::STATE] != 0 && serial >= known {
                    self.adaptations.insert(region, (serial, record));
                }
            }
            Kind::EnergySource => {
                self.energy_source = Some((cursor.text()?, cursor.small()?, cursor.number()?));
            }
            Kind::Host => {
                self.host = Some(cursor.text()?).filter(|name| !name.is_empty());
                let mut optional = || {
                    Some(match cursor.number()? {
                        0 => None,
                        _ => Some(cursor.small()?),
                    })
                };
                let (rank, ranks) = (optional()?, optional()?);
                self.rank = rank.map(|rank| Rank { rank, ranks });
            }
            Kind::Energy => self.energies.entry(record[1]).or_default().add(record),
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
            // The rows of two threads with this number differ in the context, which counts as a move.
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

    fn wait_row(&mut self, record: &[u64]) {
        let get = |offset: usize| word(record, offset);
        let key = get(offset_of!(WaitRow, key));
        let site = get(offset_of!(WaitRow, site)) as u32;
        let sum = self.waits.entry((key as u32, (key >> 32) as u32, site)).or_default();
        sum.0 = sum.0.saturating_add(get(offset_of!(WaitRow, count)));
        sum.1 = sum.1.saturating_add(get(offset_of!(WaitRow, ticks)));
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
