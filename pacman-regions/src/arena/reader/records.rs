//! The records of an arena, by process.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::mem::offset_of;
use std::os::unix::ffi::OsStrExt;

use pacman_events::shown::text_of;

use crate::arena::cells;
use crate::arena::format::{CHUNK, Kind, LINE, WORDS};
use crate::arena::payload::Cursor;

/// Records of one process.
#[derive(Default)]
pub(super) struct Owned<'w> {
    pub(super) records: Vec<(Kind, &'w [u64])>,
    /// By number.
    regions: BTreeMap<u32, &'w [u64]>,
    /// Phases by number.
    phases: BTreeMap<u32, &'w [u64]>,
    /// Waiting constructs by number.
    sites: BTreeMap<u32, &'w [u64]>,
    pub(super) forked_from: u64,
    /// Its chunks have words that no writer leaves.
    pub(super) damaged: bool,
}

/// All records by the owner of their chunks.
pub(super) fn owned(words: &[u64]) -> BTreeMap<u64, Owned<'_>> {
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
            Some(Kind::Phase) => drop(process.phases.insert(record[1] as u32, record)),
            Some(Kind::WaitSite) => drop(process.sites.insert(record[1] as u32, record)),
            Some(kind) => process.records.push((kind, record)),
            // The process ended while it filled the record.
            None if kind == 0 => {}
            None => process.damaged = true,
        }
        if kind == Kind::Process as u32 {
            process.forked_from = word(record, offset_of!(cells::Process, forked_from));
        }
        at = end;
    }
}

pub(super) fn word(record: &[u64], offset: usize) -> u64 {
    record.get(offset / 8).copied().unwrap_or(0)
}

/// The record of a region, which a forked process may have from its parent.
pub(super) fn region_of<'w>(
    owned: &BTreeMap<u64, Owned<'w>>,
    owner: u64,
    number: u32,
) -> Option<&'w [u64]> {
    inherited(owned, owner, |process| process.regions.get(&number).copied())
}

/// The record of a phase, which a forked process may have from its parent.
pub(super) fn phase_of<'w>(
    owned: &BTreeMap<u64, Owned<'w>>,
    owner: u64,
    number: u32,
) -> Option<&'w [u64]> {
    inherited(owned, owner, |process| process.phases.get(&number).copied())
}

/// The record of a waiting construct, which a forked process may have from its parent.
pub(super) fn site_of<'w>(
    owned: &BTreeMap<u64, Owned<'w>>,
    owner: u64,
    number: u32,
) -> Option<&'w [u64]> {
    inherited(owned, owner, |process| process.sites.get(&number).copied())
}

/// The first value that the process has, or a process that it was forked from.
fn inherited<'w, T>(
    owned: &BTreeMap<u64, Owned<'w>>,
    owner: u64,
    get: impl Fn(&Owned<'w>) -> Option<T>,
) -> Option<T> {
    let mut owner = owner;
    for _ in 0..GENERATIONS {
        let process = owned.get(&owner)?;
        if let Some(found) = get(process) {
            return Some(found);
        }
        // A child begins after its parent. Other claims could be circular.
        owner = Some(process.forked_from).filter(|from| *from < owner)?;
    }
    None
}

/// The most generations of forks to follow.
const GENERATIONS: usize = 4096;

/// The command line of the process, or of its parent.
pub(super) fn command_of(owned: &BTreeMap<u64, Owned<'_>>, owner: u64) -> Option<Vec<String>> {
    let record = inherited(owned, owner, |process| {
        let own = process.records.iter().find(|(kind, _)| *kind == Kind::Command);
        own.map(|(_, record)| *record)
    })?;
    let line = Cursor(&record[1..]).bytes()?;
    let words = line.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    Some(words.map(|word| text_of(OsStr::from_bytes(word))).collect())
}
