//! The records of one process, sorted by kind.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::offset_of;

use super::energy_sum::EnergySum;
use super::phase_sum::PhaseSum;
use super::records::word;
use super::set_sum::{self, SetSum};
use super::sums::{PrimarySum, RowSum};
use crate::arena::bins::BinTotals;
use crate::arena::cells::{self, EVENTS};
use crate::arena::format::Kind;
use crate::arena::log_block::word as log_word;
use crate::arena::payload::Cursor;
use crate::arena::phase_row::PhaseRow;
use crate::arena::thread::{COUNTDOWNS, Thread, Untimed};
use crate::arena::wait_row::{WaitRow, state};
use crate::arena::writer::slot;
use crate::{Event, EventFacts, Machine, MachineContext, Rank, Runtime, RuntimeFamily};

/// The most notes to keep: more than the library writes.
const NOTES: usize = 1000;
/// The most event sets of a process: each has an event of its own, and a session has 64 events.
const SETS: usize = 64;

/// The records of one process.
#[derive(Default)]
pub(super) struct Sorted<'w> {
    pub(super) process: Option<&'w [u64]>,
    pub(super) command: Option<Vec<u8>>,
    pub(super) runtimes: BTreeMap<u32, Runtime>,
    pub(super) first: Option<FirstRegion>,
    pub(super) events: Vec<Event>,
    /// The indices of the events of each set.
    pub(super) sets: Vec<Vec<usize>>,
    pub(super) notes: Vec<String>,
    pub(super) machine: Option<Machine>,
    pub(super) host: Option<String>,
    pub(super) rank: Option<Rank>,
    pub(super) rows: BTreeMap<(u32, u32), RowSum>,
    /// By region, thread and set.
    pub(super) set_rows: BTreeMap<(u32, u32, u32), SetSum>,
    /// By region, thread and site: the number of waits and their ticks.
    pub(super) waits: BTreeMap<(u32, u32, u32), (u64, u64)>,
    /// The same of parts that are open.
    pub(super) open_waits: BTreeMap<(u32, u32, u32), (u64, u64)>,
    pub(super) primary_stats: BTreeMap<u32, PrimarySum>,
    /// By phase and thread.
    pub(super) phases: BTreeMap<(u32, u32), PhaseSum>,
    pub(super) adaptations: BTreeMap<u32, (u64, &'w [u64])>,
    /// The source, the packages and the nanojoules after which a counter wraps.
    pub(super) energy_source: Option<(String, u32, u64)>,
    /// By one more than the region; 0 is the process.
    pub(super) energies: BTreeMap<u64, EnergySum>,
    /// The blocks of logs, by the number of the log.
    pub(super) logs: BTreeMap<u64, Vec<&'w [u64]>>,
    pub(super) open_regions: u64,
    /// The threads that started regions inside no other.
    pub(super) roots: BTreeSet<u64>,
    /// The executions that were not timed, with their regions.
    pub(super) untimed: Vec<(u32, &'w [u64])>,
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
                let open_regions = word(record, offset_of!(Thread, open_regions));
                self.open_regions = self.open_regions.saturating_add(open_regions);
                const WORDS: usize = size_of::<Untimed>() / 8;
                let all =
                    record.get(offset_of!(Thread, untimed) / 8..)?.get(..WORDS * COUNTDOWNS)?;
                for untimed in all.chunks_exact(WORDS) {
                    if let Some(region) = word(untimed, offset_of!(Untimed, region)).checked_sub(1)
                    {
                        self.untimed.push((u32::try_from(region).ok()?, untimed));
                    }
                }
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
                self.first = Some(FirstRegion {
                    threads: cursor.small()?,
                    contexts: cursor.small()?,
                    ticks: cursor.number()?,
                    reads: cursor.text()?,
                    counts: counts(&mut cursor).unwrap_or_default(),
                });
            }
            Kind::Machine => self.machine = Some(machine(&mut cursor)?),
            Kind::Events => (self.events, self.sets) = events(&mut cursor)?,
            Kind::Region | Kind::WaitSite | Kind::Phase => {}
            Kind::Note if self.notes.len() < NOTES => self.notes.push(cursor.text()?),
            Kind::Note => {}
            Kind::Row => self.rows.entry(row_key(record)).or_default().add(record)?,
            Kind::PhaseRow => self.phase_row(record)?,
            Kind::SetRow => self.set_rows.entry(set_sum::key(record)).or_default().add(record)?,
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
            Kind::LogBlock => self.logs.entry(record[log_word::LOG]).or_default().push(record),
            Kind::Energy => self.energies.entry(record[1]).or_default().add(record),
        }
        Some(())
    }

    /// The indices of all counted events, if they were counted together.
    pub(super) fn only_set(&self) -> Option<&[usize]> {
        match &self.sets[..] {
            [only] => Some(only),
            _ => None,
        }
    }

    /// All records are there: adds the executions that were not timed to their regions.
    pub(super) fn add_untimed(&mut self) {
        for (region, untimed) in std::mem::take(&mut self.untimed) {
            if let Some(sum) = self.primary_stats.get_mut(&region) {
                sum.add_untimed(untimed);
            }
        }
    }

    /// Goes through the parts that are open: their regions are known even if none of their executions has ended. A
    /// process in no region has none, and what a jump left behind is no part.
    pub(super) fn add_open_parts(&mut self) {
        if self.open_regions == 0 {
            self.rows.values_mut().for_each(|row| row.open.clear());
            return;
        }
        for (&(region, thread), row) in self.rows.iter().filter(|(_, row)| !row.open.is_empty()) {
            self.primary_stats.entry(region).or_insert_with(PrimarySum::none);
            let since = row.open.iter().copied().min().unwrap_or(0);
            let waits =
                self.open_waits.range((region, thread, state::SITES)..=(region, thread, u32::MAX));
            let waited = waits.fold(0u64, |sum, (_, wait)| sum.saturating_add(wait.1));
            self.until = self.until.max(since.saturating_add(waited));
        }
    }

    fn phase_row(&mut self, record: &[u64]) -> Option<()> {
        let row = record.get(offset_of!(PhaseRow, row) / 8..)?;
        self.phases.entry(row_key(row)).or_default().add(record, row)
    }

    fn wait_row(&mut self, record: &[u64]) {
        let get = |offset: usize| word(record, offset);
        let key = get(offset_of!(WaitRow, key));
        let site = get(offset_of!(WaitRow, site)) as u32;
        let sum = self.waits.entry((key as u32, (key >> 32) as u32, site)).or_default();
        sum.0 = sum.0.saturating_add(get(offset_of!(WaitRow, count)));
        sum.1 = sum.1.saturating_add(get(offset_of!(WaitRow, ticks)));
        self.until = self.until.max(get(offset_of!(WaitRow, until)));
        let (count, ticks) =
            (get(offset_of!(WaitRow, open_count)), get(offset_of!(WaitRow, open_ticks)));
        if count > 0 {
            let sum = self.open_waits.entry((key as u32, (key >> 32) as u32, site)).or_default();
            *sum = (sum.0.saturating_add(count), sum.1.saturating_add(ticks));
        }
    }

    fn primary_stats(&mut self, record: &[u64]) -> Option<()> {
        const BINS: usize = offset_of!(cells::PrimaryStats, bins) / 8;
        if record.len() < size_of::<cells::PrimaryStats>() / 8 {
            return None;
        }
        let region = word(record, offset_of!(cells::PrimaryStats, region)) as u32;
        if let Some(sum) = PrimarySum::of(record, BinTotals::of(&record[BINS..])) {
            self.until = self.until.max(sum.bins.until(&record[BINS..]));
            if sum.all() > sum.nested {
                self.roots.insert(word(record, offset_of!(cells::PrimaryStats, starter)));
            }
            match self.primary_stats.get_mut(&region) {
                Some(known) => known.merge(&sum),
                None => drop(self.primary_stats.insert(region, sum)),
            }
        }
        Some(())
    }
}

/// The facts of a process's first region.
pub(super) struct FirstRegion {
    pub(super) threads: u32,
    pub(super) contexts: u32,
    /// Of a begin and an end.
    pub(super) ticks: u64,
    pub(super) reads: String,
    /// See [`Overhead::counts`](crate::Overhead::counts).
    pub(super) counts: Vec<Option<u64>>,
}

fn counts(cursor: &mut Cursor<'_>) -> Option<Vec<Option<u64>>> {
    (0..cursor.number()?).map(|_| Some(cursor.number()?.checked_sub(1))).collect()
}

/// The region or phase of a row, and the thread's number.
fn row_key(row: &[u64]) -> (u32, u32) {
    let key = word(row, offset_of!(cells::Row, key));
    (key as u32, (key >> 32) as u32)
}

fn machine(cursor: &mut Cursor<'_>) -> Option<Machine> {
    let (processor, system, simulated) = (cursor.text()?, cursor.text()?, cursor.optional()?);
    let quota = match cursor.number()? {
        0 => None,
        // A number that is none would be in no JSON.
        _ => Some(f64::from_bits(cursor.number()?)).filter(|quota| quota.is_finite()),
    };
    let context = |cursor: &mut Cursor<'_>| {
        let [cpu, package, core, sibling] = [(); 4].map(|()| cursor.small());
        Some(MachineContext { cpu: cpu?, package: package?, core: core?, sibling: sibling? })
    };
    let contexts: Option<Vec<MachineContext>> =
        (0..cursor.number()?).map(|_| context(cursor)).collect();
    Some(Machine { processor, system, simulated, quota, contexts: contexts? })
}

fn events(cursor: &mut Cursor<'_>) -> Option<(Vec<Event>, Vec<Vec<usize>>)> {
    let events = usize::try_from(cursor.number()?).ok()?;
    let mut all = Vec::new();
    for _ in 0..events {
        let (name, uncounted) = (cursor.text()?, cursor.optional()?);
        let facts = EventFacts {
            canonical: cursor.text()?,
            unit: cursor.text()?,
            is_hardware: cursor.number()? != 0,
            doubt: cursor.optional()?,
            table: cursor.optional()?,
        };
        all.push(Event { name, uncounted, facts });
    }
    let sets = usize::try_from(cursor.number()?).ok().filter(|sets| *sets <= SETS)?;
    let event = |at: u64| usize::try_from(at).ok().filter(|event| *event < all.len());
    let set = |cursor: &mut Cursor<'_>| -> Option<Vec<usize>> {
        let counts = usize::try_from(cursor.number()?).ok().filter(|counts| *counts <= EVENTS)?;
        (0..counts).map(|_| cursor.number().and_then(event)).collect()
    };
    let sets: Option<Vec<Vec<usize>>> = (0..sets).map(|_| set(cursor)).collect();
    Some((all, sets?))
}
