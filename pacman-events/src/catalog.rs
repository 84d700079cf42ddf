//! The names that a table can resolve, for lists.

use std::borrow::Cow;

use crate::encode::{netburst_encoder as netburst, perf};
use crate::netburst_tables::{EVENTS, METRICS, MaskStatus, Tags};
use crate::{CpuModel, Family, Preset, db};

/// One name that [`resolve`](crate::resolve) accepts, with its facts.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CatalogEntry {
    /// The name to resolve.
    pub name: Cow<'static, str>,
    /// The origin of the name.
    pub kind: EntryKind,
    /// One line of description; empty for vendors' events, whose texts are not shipped.
    pub text: &'static str,
    /// The vendor advises another event.
    pub deprecated: bool,
    /// Numbers of errata, comma-separated; empty if none is known.
    pub errata: &'static str,
}

/// The origins of a [`CatalogEntry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EntryKind {
    /// A NetBurst tagging metric.
    Metric,
    /// The table's own event.
    Native,
    /// A portable preset that this table can count.
    Preset,
    /// An event that Linux offers on any processor.
    Software,
}

/// All names of a table: its presets, its own events, and Linux's.
///
/// ```
/// use pacman_events::{CpuModel, catalog};
/// let p4 = CpuModel::named("p4").unwrap();
/// assert!(catalog(p4).any(|entry| entry.name == "instr_retired:NBOGUSNTAG"));
/// ```
pub fn catalog(cpu: CpuModel) -> impl Iterator<Item = CatalogEntry> {
    let presets = Preset::all()
        .filter(move |preset| preset.answer(cpu).expression().is_some())
        .map(|preset| entry(preset.name(), EntryKind::Preset, preset.meaning()));
    let native = db::events(cpu).map(|event| CatalogEntry {
        name: event.name().to_string().into(),
        deprecated: event.flags().deprecated(),
        errata: event.errata(),
        ..entry("", EntryKind::Native, "")
    });
    // If a preset has the name in capitals, the preset serves both spellings.
    let software = perf::NAMED
        .iter()
        .filter(|(name, ..)| Preset::named(name).is_none())
        .map(|(name, .., text)| entry(name, EntryKind::Software, text));
    presets.chain(native).chain(netburst_entries(cpu)).chain(software)
}

fn entry(name: &'static str, kind: EntryKind, text: &'static str) -> CatalogEntry {
    CatalogEntry { name: name.into(), kind, text, deprecated: false, errata: "" }
}

fn netburst_entries(cpu: CpuModel) -> impl Iterator<Item = CatalogEntry> {
    let on_netburst = cpu.family() == Family::NetBurst;
    let events = EVENTS.iter().filter(move |row| on_netburst && netburst::has(cpu, row));
    let natives = events.flat_map(|row| {
        row.masks.iter().zip(row.statuses).map(move |((_, mask), status)| CatalogEntry {
            name: format!("{}:{mask}", row.name).into(),
            // Lists warn of a mask that only one of the manual's tables has, and of an event that
            // never counts by itself.
            deprecated: *status == MaskStatus::Reserved || row.tags == Tags::Only,
            ..entry(row.name, EntryKind::Native, row.text)
        })
    });
    let metrics = METRICS.iter().filter(move |_| on_netburst);
    natives.chain(metrics.map(|row| entry(row.name, EntryKind::Metric, row.text)))
}
