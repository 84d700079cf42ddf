//! The packed event tables: look-up by binary search, without heap.
//!
//! `build.rs` writes the blob; its module `build/events.rs` describes the layout.

use std::cmp::Ordering;

use crate::{CounterSet, CpuModel};

static BLOB: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/events.bin"));

mod layout {
    include!(concat!(env!("OUT_DIR"), "/layout.rs"));
}

const RECORD: usize = 28;
const NONE: u16 = 0xffff;
/// Names between two fences. `build/events.rs` has the same number.
const FENCE: usize = 64;

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
    event_of(cpu, name_number(name)?)
}

/// The tables that know the name.
pub(crate) fn tables_with(name: &str) -> impl Iterator<Item = CpuModel> + use<> {
    let number = name_number(name);
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

/// Order of names: case folded, and `:` equal to `.`.
pub(crate) fn compare(one: &str, other: &str) -> Ordering {
    // Most bytes are equal already; only the others need folding.
    for (one, other) in one.bytes().zip(other.bytes()) {
        if one != other {
            match fold(one).cmp(&fold(other)) {
                Ordering::Equal => {}
                order => return order,
            }
        }
    }
    one.len().cmp(&other.len())
}

pub(crate) fn fold(byte: u8) -> u8 {
    if byte == b':' { b'.' } else { byte.to_ascii_lowercase() }
}

impl Event {
    /// The name as the table spells it.
    pub fn name(&self) -> &'static str {
        text(layout::NAMES.0 + usize::from(self.name) * 4)
    }

    /// The table.
    pub fn cpu(&self) -> CpuModel {
        self.cpu
    }

    /// `config` of `perf_event_attr`: PERFEVTSEL without USR, OS and EN, except for fixed counters.
    pub(crate) fn select(&self) -> u64 {
        long(self.at())
    }

    /// The extra register's value.
    pub(crate) fn value(&self) -> u64 {
        long(self.at() + 8)
    }

    /// General counters that can count it while siblings are enabled.
    pub fn counters(&self) -> CounterSet {
        CounterSet::from_bits(u64::from(half(self.at() + 16)))
    }

    /// General counters that can count it with SMT off.
    pub fn counters_smt_off(&self) -> CounterSet {
        CounterSet::from_bits(u64::from(half(self.at() + 18)))
    }

    /// Numbers of the vendor's errata, comma-separated; empty if none is known.
    pub fn errata(&self) -> &'static str {
        match half(self.at() + 20) {
            NONE => "",
            number => text(layout::TEXTS.0 + usize::from(number) * 4),
        }
    }

    /// Pairs of selector (unit mask and event) and extra register, preferred first.
    pub(crate) fn choices(&self) -> impl Iterator<Item = (u16, u16)> + use<> {
        let number = half(self.at() + 22);
        let first = layout::CHOICES.0 + usize::from(number) * 16;
        let count = if number == NONE { 0 } else { 4 };
        (0..count)
            .map(move |index| (half(first + index * 4), half(first + index * 4 + 2)))
            .take_while(|(_, msr)| *msr != 0)
    }

    /// The source's notes on the event.
    pub fn flags(&self) -> EventFlags {
        EventFlags(half(self.at() + 24))
    }

    /// The fixed counter that counts the event.
    pub fn fixed(&self) -> Option<u8> {
        Some(BLOB[self.at() + 26]).filter(|fixed| *fixed != 0xff)
    }

    fn at(&self) -> usize {
        layout::RECORDS.0 + usize::from(self.record) * RECORD
    }
}

fn name_number(name: &str) -> Option<u16> {
    // The last fence that is not beyond the name, then the names up to the next fence.
    let (fences, size) = layout::FENCES;
    let (mut low, mut high) = (0, size / 4);
    while low < high {
        let middle = (low + high) / 2;
        match compare(text(fences + middle * 4), name) {
            Ordering::Greater => high = middle,
            Ordering::Equal => return Some((middle * FENCE) as u16),
            Ordering::Less => low = middle + 1,
        }
    }
    let first = low.checked_sub(1)? * FENCE;
    let (names, size) = layout::NAMES;
    let count = FENCE.min(size / 4 - first);
    let found = search(count, |index| compare(text(names + (first + index) * 4), name))?;
    Some((first + found) as u16)
}

fn event_of(cpu: CpuModel, name: u16) -> Option<Event> {
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
    std::str::from_utf8(bytes).expect("names are ASCII")
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
    fn names_are_sorted_as_the_search_compares_them() {
        let (first, size) = layout::NAMES;
        for index in 1..size / 4 {
            let (one, next) = (text(first + (index - 1) * 4), text(first + index * 4));
            assert_eq!(compare(one, next), Ordering::Less, "{one} before {next}");
        }
    }

    #[test]
    fn every_fence_is_the_name_it_stands_for() {
        let count = layout::NAMES.1 / 4;
        assert_eq!(layout::FENCES.1 / 4, count.div_ceil(FENCE));
        for fence in 0..layout::FENCES.1 / 4 {
            let name = text(layout::NAMES.0 + fence * FENCE * 4);
            assert_eq!(text(layout::FENCES.0 + fence * 4), name);
        }
    }

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
        assert!(BLOB.len() < 1_200_000, "{} bytes", BLOB.len());
    }
}
