//! The packed event tables: look-up by binary search, without heap.
//!
//! `build.rs` writes the blob; its module `build/events.rs` describes the layout.

use std::cmp::Ordering;

use crate::event_names::{self, EventName};
use crate::{CounterSet, CpuModel};

static BLOB: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/events.bin"));

mod layout {
    include!(concat!(env!("OUT_DIR"), "/layout.rs"));
}

const RECORD: usize = 6;
const TRAITS: usize = 12;
const NONE: u16 = 0xffff;

/// One event of one table, as the table has it.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    cpu: CpuModel,
    name: u16,
    record: u16,
}

/// The source's notes on an event, in addition to its registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventFlags(u16);

impl EventFlags {
    /// Must be alone on the general counters.
    pub fn taken_alone(self) -> bool {
        self.0 & 1 != 0
    }
    /// Can be sampled exactly (PEBS).
    pub fn precise(self) -> bool {
        self.0 & 2 != 0
    }
    /// The vendor advises another event.
    pub fn deprecated(self) -> bool {
        self.0 & 4 != 0
    }
    /// Counts for the whole core.
    pub fn core_wide(self) -> bool {
        self.0 & 8 != 0
    }
    /// Counts for the whole node (northbridge events).
    pub fn node_wide(self) -> bool {
        self.0 & 16 != 0
    }
    /// Takes two neighbouring counters.
    pub fn counter_pair(self) -> bool {
        self.0 & 32 != 0
    }
    /// A field of Intel's `PERF_METRICS`.
    pub fn topdown(self) -> bool {
        self.0 & 64 != 0
    }
}

/// The event with this name in the table of `cpu`. Case does not matter, nor whether unit masks
/// follow `.` or `:`.
///
/// This works for the tables of Intel, AMD and Niagara. NetBurst's events are composed of unit
/// masks, and the encoder looks them up.
pub(crate) fn find(cpu: CpuModel, name: &str) -> Option<Event> {
    event_of(cpu, event_names::number(name)?)
}

/// The tables that know the name.
pub(crate) fn tables_with(name: &str) -> impl Iterator<Item = CpuModel> + use<> {
    let number = event_names::number(name);
    CpuModel::all().filter(move |cpu| number.is_some_and(|n| event_of(*cpu, n).is_some()))
}

impl CpuModel {
    /// The events of the table itself, by name. Empty for NetBurst, whose events are composed of
    /// unit masks (see [`catalog`](crate::catalog)).
    pub fn events(self) -> impl ExactSizeIterator<Item = Event> {
        events(self)
    }

    /// Whether the processor has the register `PERF_METRICS` of top-down analysis.
    pub fn has_perf_metrics(self) -> bool {
        find(self, "PERF_METRICS.RETIRING").is_some()
    }
}

/// The events of a table by name.
pub(crate) fn events(cpu: CpuModel) -> impl ExactSizeIterator<Item = Event> {
    let (first, count) = cpu.rows();
    (first..first + count).map(move |row| {
        let at = layout::ROWS.0 + row * 4;
        Event { cpu, name: half(at), record: half(at + 2) }
    })
}

impl Event {
    /// The name as the table spells it.
    pub fn name(&self) -> EventName {
        EventName::of(self.name)
    }

    /// The table.
    pub fn cpu(&self) -> CpuModel {
        self.cpu
    }

    /// `config` of `perf_event_attr`: PERFEVTSEL without USR, OS and EN, except for fixed counters.
    pub(crate) fn select(&self) -> u64 {
        self.word(0)
    }

    /// The extra register's value.
    pub(crate) fn value(&self) -> u64 {
        self.word(2)
    }

    /// General counters that can count it while siblings are enabled.
    pub fn counters(&self) -> CounterSet {
        CounterSet::from_bits(u64::from(half(self.traits())))
    }

    /// General counters that can count it with SMT off.
    pub fn counters_smt_off(&self) -> CounterSet {
        CounterSet::from_bits(u64::from(half(self.traits() + 2)))
    }

    /// Numbers of the vendor's errata, comma-separated; empty if none is known.
    pub fn errata(&self) -> &'static str {
        match half(self.traits() + 4) {
            NONE => "",
            number => text(layout::TEXTS.0 + usize::from(number) * 4),
        }
    }

    /// Pairs of selector (unit mask and event) and extra register, preferred first.
    pub(crate) fn choices(&self) -> impl Iterator<Item = (u16, u16)> + use<> {
        let number = half(self.traits() + 6);
        let first = layout::CHOICES.0 + usize::from(number) * 16;
        let count = if number == NONE { 0 } else { 4 };
        (0..count)
            .map(move |index| (half(first + index * 4), half(first + index * 4 + 2)))
            .take_while(|(_, msr)| *msr != 0)
    }

    /// The source's notes on the event.
    pub fn flags(&self) -> EventFlags {
        EventFlags(half(self.traits() + 8))
    }

    /// The fixed counter that counts the event.
    pub fn fixed(&self) -> Option<u8> {
        Some(BLOB[self.traits() + 10]).filter(|fixed| *fixed != 0xff)
    }

    /// The number `part` bytes into the record.
    fn number(&self, part: usize) -> usize {
        half(layout::RECORDS.0 + usize::from(self.record) * RECORD + part).into()
    }

    fn word(&self, part: usize) -> u64 {
        long(layout::WORDS.0 + self.number(part) * 8)
    }

    /// The place of its traits.
    fn traits(&self) -> usize {
        layout::TRAITS.0 + self.number(4) * TRAITS
    }
}

pub(crate) fn event_of(cpu: CpuModel, name: u16) -> Option<Event> {
    let (first, count) = cpu.rows();
    let at = |row: usize| layout::ROWS.0 + (first + row) * 4;
    let row = search(count, |row| half(at(row)).cmp(&name))?;
    Some(Event { cpu, name, record: half(at(row) + 2) })
}

/// The position where `compare` returns `Equal`. It returns the order of an element relative to the
/// one sought.
fn search(count: usize, compare: impl Fn(usize) -> Ordering) -> Option<usize> {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = (low + high) / 2;
        match compare(middle) {
            Ordering::Less => low = middle + 1,
            Ordering::Equal => return Some(middle),
            Ordering::Greater => high = middle,
        }
    }
    None
}

fn text(at: usize) -> &'static str {
    let reference = u32::from_le_bytes(BLOB[at..at + 4].try_into().expect("four bytes"));
    let first = layout::POOL.0 + (reference >> 8) as usize;
    let bytes = &BLOB[first..first + (reference & 0xff) as usize];
    std::str::from_utf8(bytes).expect("texts are ASCII")
}

fn half(at: usize) -> u16 {
    u16::from_le_bytes([BLOB[at], BLOB[at + 1]])
}

fn long(at: usize) -> u64 {
    u64::from_le_bytes(BLOB[at..at + 8].try_into().expect("eight bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_found_by_its_name_in_any_spelling() {
        for cpu in CpuModel::all() {
            let mut last = None;
            for event in events(cpu) {
                assert!(last < Some(event.name), "{cpu}: rows out of order at {}", event.name());
                last = Some(event.name);
                let spelt = event.name().to_lowercase().replace('.', ":");
                let found = find(cpu, &spelt).unwrap_or_else(|| panic!("{cpu} lost {spelt}"));
                assert_eq!((found.name, found.record), (event.name, event.record));
            }
        }
    }

    #[test]
    fn the_tables_stay_below_their_budget() {
        assert!(BLOB.len() < 260_000, "{} bytes", BLOB.len());
    }
}
