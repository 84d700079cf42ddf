//! The writer of one process: it takes chunks of the arena, and records of these.

use std::sync::atomic::{AtomicU64, Ordering};

use super::cell::{add, load, publish, store};
use super::cells::{PrimaryStats, Process, Row};
use super::energy::Energy;
use super::format::{CHUNK, Kind, LINE, WORDS, header};
use super::log_block::LogBlock;
use super::payload::Payload;
use super::phase_row::PhaseRow;
use super::set_row::SetRow;
use super::thread::Thread;
use super::wait_row::WaitRow;

/// The most pages of a chunk. A chunk is as long as all chunks before it, because each takes a system
/// call.
const LARGEST: usize = 256;

/// The writer of one process. One thread at a time may use it.
pub struct Writer {
    words: &'static [AtomicU64],
    /// Makes a number of pages from a page on usable; answers false if it cannot.
    grow: fn(usize, usize) -> bool,
    /// The first page of the process's first chunk; 0 before the first chunk.
    owner: usize,
    /// The process's own record.
    process: Option<&'static Process>,
    /// The first word of the chunk, its words in use, and its size in words.
    chunk: usize,
    used: usize,
    size: usize,
    /// Pages taken.
    taken: usize,
    /// Whether a call of `grow` has failed.
    closed: bool,
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("owner", &self.owner).finish_non_exhaustive()
    }
}

/// The text about a region, which is replaced in two places alternately.
#[derive(Debug)]
pub struct Slot {
    owner: usize,
    at: usize,
    /// Words of each place.
    half: usize,
}

/// Words of a [`Slot`] before its places.
pub(super) mod slot {
    pub(in super::super) const REGION: usize = 1;
    pub(in super::super) const SERIAL: usize = 2;
    pub(in super::super) const HALF: usize = 3;
    /// One more than the bytes in use, shifted by one; the lowest bit has the place. 0 before the first
    /// text.
    pub(in super::super) const STATE: usize = 4;
    pub(in super::super) const PLACES: usize = 8;
}

/// The facts of a process at its start.
#[derive(Clone, Copy, Debug)]
pub struct ProcessStart {
    /// The process number, and that of its parent.
    pub numbers: (u32, u32),
    /// Nanoseconds since 1970.
    pub began: u64,
    /// The length of a tick in seconds; 0 if the owner of the arena [sets](super::set_tick) it.
    pub seconds_per_tick: f64,
    /// Whether regions are adapted.
    pub adapted: bool,
    /// Whether waits are timed.
    pub waits: bool,
}

impl Writer {
    /// A writer for a [prepared](super::prepare) arena with a writable first page. It calls `grow` before
    /// it writes to other pages.
    pub const fn new(words: &'static [AtomicU64], grow: fn(usize, usize) -> bool) -> Writer {
        Writer {
            words,
            grow,
            owner: 0,
            process: None,
            chunk: 0,
            used: 0,
            size: 0,
            taken: 0,
            closed: false,
        }
    }

    /// Begins the record of a process that starts, or that was forked from the writer's process. Answers
    /// the record, if there is room for it.
    pub fn begin(&mut self, beginning: &ProcessStart) -> Option<&'static Process> {
        let from = self.owner;
        *self = Writer::new(self.words, self.grow);
        let at = self.take(size_of::<Process>() / 8)?;
        // SAFETY: `take` answers a place of that length, and the words are static.
        let process = unsafe { self.cells::<Process>(at) };
        let (pid, parent) = beginning.numbers;
        store(&process.numbers, u64::from(pid) | u64::from(parent) << 32);
        store(&process.began, beginning.began);
        store(&process.seconds_per_tick, beginning.seconds_per_tick.to_bits());
        store(&process.forked_from, from as u64);
        store(&process.adapted, u64::from(beginning.adapted));
        store(&process.waits, u64::from(beginning.waits));
        self.publish(at, Kind::Process);
        self.process = Some(process);
        self.process
    }

    /// The record of the process, if there is one.
    pub fn process(&self) -> Option<&'static Process> {
        self.process
    }

    /// Appends a record that does not change. Without room it answers false, and the process counts the
    /// refused record.
    pub fn append(&mut self, kind: Kind, payload: &Payload) -> bool {
        let words = payload.words();
        let Some(at) = self.take(1 + words.len()) else { return false };
        let cells = self.words[at + 1..].iter();
        cells.zip(words).for_each(|(cell, word)| store(cell, *word));
        self.publish(at, kind);
        true
    }

    /// Makes a row for number `thread` of the team in a region; `None` without room.
    pub fn row(&mut self, region: u32, thread: u32) -> Option<&'static Row> {
        let at = self.take(size_of::<Row>() / 8)?;
        // SAFETY: as in `begin`.
        let row = unsafe { self.cells::<Row>(at) };
        row.set_key(region, thread);
        self.publish(at, Kind::Row);
        Some(row)
    }

    /// Makes a row for the counts of an event set of number `thread` of the team in a region; `None`
    /// without room.
    pub fn set_row(&mut self, region: u32, thread: u32, set: u32) -> Option<&'static SetRow> {
        let at = self.take(size_of::<SetRow>() / 8)?;
        // SAFETY: as in `begin`.
        let row = unsafe { self.cells::<SetRow>(at) };
        row.set_key(region, thread, set);
        self.publish(at, Kind::SetRow);
        Some(row)
    }

    /// Makes the statistics of a region's executions that one thread starts; `None` without room.
    pub fn primary_stats(&mut self, region: u32) -> Option<&'static PrimaryStats> {
        let at = self.take(size_of::<PrimaryStats>() / 8)?;
        // SAFETY: as in `begin`.
        let primary_stats = unsafe { self.cells::<PrimaryStats>(at) };
        primary_stats.set_key(region);
        self.publish(at, Kind::PrimaryStats);
        Some(primary_stats)
    }

    /// Makes a row for the waits of number `thread` of a region's team at a site; `None` without room.
    pub fn wait_row(&mut self, region: u32, thread: u32, site: u32) -> Option<&'static WaitRow> {
        let at = self.take(size_of::<WaitRow>() / 8)?;
        // SAFETY: as in `begin`.
        let row = unsafe { self.cells::<WaitRow>(at) };
        row.set_key(region, thread, site);
        self.publish(at, Kind::WaitRow);
        Some(row)
    }

    /// Makes a row for thread `thread` in a phase; `None` without room.
    pub fn phase_row(&mut self, phase: u32, thread: u32) -> Option<&'static PhaseRow> {
        let at = self.take(size_of::<PhaseRow>() / 8)?;
        // SAFETY: as in `begin`.
        let row = unsafe { self.cells::<PhaseRow>(at) };
        row.row.set_key(phase, thread);
        self.publish(at, Kind::PhaseRow);
        Some(row)
    }

    /// Makes a block of a thread's log, whose executions have `counts` counts; `None` without room.
    pub fn log_block(&mut self, log: u32, counts: usize) -> Option<LogBlock> {
        let length = LogBlock::length(counts);
        let at = self.take(length)?;
        let words: &'static [AtomicU64] = self.words;
        let block = LogBlock::new(&words[at..at + length], log, counts);
        self.publish(at, Kind::LogBlock);
        Some(block)
    }

    /// Makes the record of a region's energy, or of the process's; `None` without room.
    pub fn energy(&mut self, region: Option<u32>) -> Option<&'static Energy> {
        let at = self.take(size_of::<Energy>() / 8)?;
        // SAFETY: as in `begin`.
        let energy = unsafe { self.cells::<Energy>(at) };
        energy.set_key(region);
        self.publish(at, Kind::Energy);
        Some(energy)
    }

    /// Makes the record of a thread that starts regions; `None` without room.
    pub fn thread(&mut self) -> Option<&'static Thread> {
        let at = self.take(size_of::<Thread>() / 8)?;
        self.publish(at, Kind::Thread);
        // SAFETY: as in `begin`.
        Some(unsafe { self.cells::<Thread>(at) })
    }

    /// Replaces the whole text about a region. `slot` belongs to the region.
    pub fn replace(&mut self, slot: &mut Option<Slot>, region: u32, text: &[u8]) {
        let known = slot.take().filter(|slot| slot.owner == self.owner);
        let serial = known.as_ref().map_or(0, |slot| load(&self.words[slot.at + slot::SERIAL]));
        let fits = |slot: &Slot| text.len() <= slot.half * 8;
        let Some(own) =
            known.filter(fits).or_else(|| self.new_slot(region, serial + 1, text.len()))
        else {
            return;
        };
        let cells = &self.words[own.at..][..slot::PLACES + 2 * own.half];
        let which = 1 - (load(&cells[slot::STATE]) & 1);
        let place = &cells[slot::PLACES + which as usize * own.half..];
        for (cell, chunk) in place.iter().zip(text.chunks(8)) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            store(cell, u64::from_le_bytes(word));
        }
        publish(&cells[slot::STATE], (text.len() as u64 + 1) << 1 | which);
        *slot = Some(own);
    }

    /// A slot with room for a longer text. It replaces the old slot once it has a text.
    fn new_slot(&mut self, region: u32, serial: u64, bytes: usize) -> Option<Slot> {
        let half = (bytes.div_ceil(8) * 3 / 2).next_multiple_of(LINE);
        let at = self.take(slot::PLACES + 2 * half)?;
        let cells = &self.words[at..];
        store(&cells[slot::REGION], u64::from(region));
        store(&cells[slot::SERIAL], serial);
        store(&cells[slot::HALF], half as u64);
        self.publish(at, Kind::Adaptation);
        Some(Slot { owner: self.owner, at, half })
    }

    /// Takes a place for a record of `words` words. It has zeros and its length, and gets a kind later.
    fn take(&mut self, words: usize) -> Option<usize> {
        let words = words.next_multiple_of(LINE);
        if self.used + words > self.size && !self.new_chunk(LINE + words) {
            match self.process {
                Some(process) => add(&process.refused, 1),
                None => drop(self.words[header::REFUSED].fetch_add(1, Ordering::Relaxed)),
            }
            return None;
        }
        let at = self.chunk + self.used;
        store(&self.words[at], words as u64);
        self.used += words;
        publish(&self.words[self.chunk + 2], self.used as u64);
        Some(at)
    }

    fn publish(&self, at: usize, kind: Kind) {
        let cell = &self.words[at];
        publish(cell, u64::from(kind as u32) << 32 | load(cell) & 0xffff_ffff);
    }

    fn new_chunk(&mut self, words: usize) -> bool {
        if self.closed || words > u32::MAX as usize {
            return false;
        }
        let least = words.div_ceil(WORDS);
        let wished = least.max(self.taken.clamp(1, LARGEST));
        let Some((page, pages)) =
            [wished, least].into_iter().find_map(|pages| Some((self.free(pages)?, pages)))
        else {
            return false;
        };
        if !(self.grow)(page, pages) {
            // A full disk usually stays full, and each try leaves a hole.
            self.closed = true;
            return false;
        }
        if self.owner == 0 {
            self.owner = page;
        }
        let chunk = page * WORDS;
        store(&self.words[chunk + 1], self.owner as u64);
        store(&self.words[chunk + 2], LINE as u64);
        publish(&self.words[chunk], u64::from(CHUNK) << 32 | pages as u64);
        (self.chunk, self.used, self.size) = (chunk, LINE, pages * WORDS);
        self.taken += pages;
        true
    }

    /// Takes `pages` free pages; answers the first.
    fn free(&self, pages: usize) -> Option<usize> {
        let all = (self.words.len() / WORDS) as u64;
        let taken = |next: u64| next.checked_add(pages as u64).filter(|end| *end <= all);
        // ATOMICS: the counter only divides the pages; it publishes no contents.
        let next = &self.words[header::NEXT];
        let page = next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken).ok()?;
        usize::try_from(page).ok().filter(|page| *page > 0)
    }

    /// The record at `at` as a `T`.
    ///
    /// # Safety
    /// `take` must have answered `at` for the words of a `T`, and `T` must consist of words.
    unsafe fn cells<T>(&self, at: usize) -> &'static T {
        debug_assert!(size_of::<T>().next_multiple_of(8 * LINE) / 8 <= self.size);
        // SAFETY: the record is within the words and aligned, and every word is a valid value.
        unsafe { &*self.words[at..].as_ptr().cast::<T>() }
    }
}
