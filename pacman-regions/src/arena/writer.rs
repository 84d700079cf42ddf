//! The writer of one process: it takes chunks of the arena, and records of these.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::cell::{Words, add, load, publish, store};
use super::cells::{PrimaryStats, Process, Row};
use super::energy::Energy;
use super::format::{CHUNK, Kind, LINE, WORDS, header, pieces};
use super::log_block::LogBlock;
use super::payload::Payload;
use super::phase_row::PhaseRow;
use super::set_row::SetRow;
use super::thread::Thread;
use super::wait_row::WaitRow;

/// The most pages of a chunk. A chunk is as long as all chunks before it, because each takes a system
/// call.
const LARGEST: usize = 256;

/// The pages of an arena, as one process has them.
pub trait Pages: Send {
    /// The words of the first page, which is usable at any time.
    fn header(&self) -> &'static [AtomicU64];
    /// The number of pages.
    fn count(&self) -> usize;
    /// Makes pages of one [piece](super::pieces) usable, and returns their words; `None` if it cannot.
    fn make(&mut self, pages: Range<usize>) -> Option<&'static [AtomicU64]>;
    /// Prepares to make many more pages than most processes need without other system calls than `mprotect`.
    fn map_ahead(&mut self) {}
}

/// Memory of which every word is usable.
impl Pages for &'static [AtomicU64] {
    fn header(&self) -> &'static [AtomicU64] {
        &self[..WORDS]
    }

    fn count(&self) -> usize {
        self.len() / WORDS
    }

    fn make(&mut self, pages: Range<usize>) -> Option<&'static [AtomicU64]> {
        self.get(pages.start * WORDS..pages.end * WORDS)
    }
}

/// The writer of one process. One thread at a time may use it.
pub struct Writer {
    pages: Box<dyn Pages>,
    /// The first page of the process's first chunk; 0 before the first chunk.
    owner: usize,
    /// The process's own record.
    process: Option<&'static Process>,
    /// The words of the chunk, and how many of them are in use.
    chunk: &'static [AtomicU64],
    used: usize,
    /// Pages taken.
    taken: usize,
    /// Whether pages could not be made.
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
    cells: &'static [AtomicU64],
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
    /// A writer for a [prepared](super::prepare) arena.
    pub fn new(pages: impl Pages + 'static) -> Writer {
        let pages = Box::new(pages);
        Writer { pages, owner: 0, process: None, chunk: &[], used: 0, taken: 0, closed: false }
    }

    /// Begins the record of a process that starts, or that was forked from the writer's process. Returns
    /// the record, if there is room for it.
    pub fn begin(&mut self, beginning: &ProcessStart) -> Option<&'static Process> {
        let from = self.owner;
        (self.owner, self.process, self.taken, self.closed) = (0, None, 0, false);
        (self.chunk, self.used) = (&[], 0);
        self.process = self.record(|process: &Process| {
            let (pid, parent) = beginning.numbers;
            store(&process.numbers, u64::from(pid) | u64::from(parent) << 32);
            store(&process.began, beginning.began);
            store(&process.seconds_per_tick, beginning.seconds_per_tick.to_bits());
            store(&process.forked_from, from as u64);
            store(&process.adapted, u64::from(beginning.adapted));
            store(&process.waits, u64::from(beginning.waits));
        });
        self.process
    }

    /// Takes memory for many more records, for a process that will filter its system calls.
    pub fn map_ahead(&mut self) {
        self.pages.map_ahead();
    }

    /// The record of the process, if there is one.
    pub fn process(&self) -> Option<&'static Process> {
        self.process
    }

    /// Appends a record that does not change. Without room it returns false, and the process counts the
    /// refused record.
    pub fn append(&mut self, kind: Kind, payload: &Payload) -> bool {
        let words = payload.words();
        let Some(at) = self.take(1 + words.len()) else { return false };
        let cells = self.chunk[at + 1..].iter();
        cells.zip(words).for_each(|(cell, word)| store(cell, *word));
        self.publish(at, kind);
        true
    }

    /// Makes a row for number `thread` of the team in a region; `None` without room.
    pub fn row(&mut self, region: u32, thread: u32) -> Option<&'static Row> {
        self.record(|row: &Row| row.set_key(region, thread))
    }

    /// Makes a row for the counts of an event set of number `thread` of the team in a region; `None`
    /// without room.
    pub fn set_row(&mut self, region: u32, thread: u32, set: u32) -> Option<&'static SetRow> {
        self.record(|row: &SetRow| row.set_key(region, thread, set))
    }

    /// Makes the statistics of a region's executions that one thread starts; `None` without room.
    pub fn primary_stats(&mut self, region: u32) -> Option<&'static PrimaryStats> {
        self.record(|primary_stats: &PrimaryStats| primary_stats.set_key(region))
    }

    /// Makes a row for the waits of number `thread` of a region's team at a site; `None` without room.
    pub fn wait_row(&mut self, region: u32, thread: u32, site: u32) -> Option<&'static WaitRow> {
        self.record(|row: &WaitRow| row.set_key(region, thread, site))
    }

    /// Makes a row for thread `thread` in a phase; `None` without room.
    pub fn phase_row(&mut self, phase: u32, thread: u32) -> Option<&'static PhaseRow> {
        self.record(|row: &PhaseRow| row.row.set_key(phase, thread))
    }

    /// Makes a block of a thread's log, whose executions have `counts` counts; `None` without room.
    pub fn log_block(&mut self, log: u32, counts: usize) -> Option<LogBlock> {
        let length = LogBlock::length(counts);
        let at = self.take(length)?;
        let block = LogBlock::new(&self.chunk[at..at + length], log, counts);
        self.publish(at, Kind::LogBlock);
        Some(block)
    }

    /// Makes the record of a region's energy, or of the process's; `None` without room.
    pub fn energy(&mut self, region: Option<u32>) -> Option<&'static Energy> {
        self.record(|energy: &Energy| energy.set_key(region))
    }

    /// Makes the record of a thread that starts regions; `None` without room.
    pub fn thread(&mut self) -> Option<&'static Thread> {
        self.record(|_: &Thread| {})
    }

    /// Replaces the whole text about a region. `slot` belongs to the region.
    pub fn replace(&mut self, slot: &mut Option<Slot>, region: u32, text: &[u8]) {
        let known = slot.take().filter(|slot| slot.owner == self.owner);
        let serial = known.as_ref().map_or(0, |slot| load(&slot.cells[slot::SERIAL]));
        let fits = |slot: &Slot| text.len() <= slot.half * 8;
        let Some(own) =
            known.filter(fits).or_else(|| self.new_slot(region, serial + 1, text.len()))
        else {
            return;
        };
        let cells = own.cells;
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
        let length = slot::PLACES + 2 * half;
        let at = self.take(length)?;
        let cells = &self.chunk[at..at + length];
        store(&cells[slot::REGION], u64::from(region));
        store(&cells[slot::SERIAL], serial);
        store(&cells[slot::HALF], half as u64);
        self.publish(at, Kind::Adaptation);
        Some(Slot { owner: self.owner, cells, half })
    }

    /// Takes a place in the chunk for a record of `words` words. It has zeros and its length, and gets a kind
    /// later.
    fn take(&mut self, words: usize) -> Option<usize> {
        let words = words.next_multiple_of(LINE);
        if self.used + words > self.chunk.len() && !self.new_chunk(LINE + words) {
            match self.process {
                Some(process) => add(&process.refused, 1),
                None => {
                    self.pages.header()[header::REFUSED].fetch_add(1, Ordering::Relaxed);
                }
            }
            return None;
        }
        let at = self.used;
        store(&self.chunk[at], words as u64);
        self.used += words;
        publish(&self.chunk[2], self.used as u64);
        Some(at)
    }

    fn publish(&self, at: usize, kind: Kind) {
        let cell = &self.chunk[at];
        publish(cell, u64::from(kind as u32) << 32 | load(cell) & 0xffff_ffff);
    }

    fn new_chunk(&mut self, words: usize) -> bool {
        if self.closed || words > u32::MAX as usize {
            return false;
        }
        let Some(pages) = self.free(words.div_ceil(WORDS)) else { return false };
        let Some(chunk) = self.pages.make(pages.clone()) else {
            // A full disk usually stays full, and each try leaves a hole.
            self.closed = true;
            return false;
        };
        if self.owner == 0 {
            self.owner = pages.start;
        }
        store(&chunk[1], self.owner as u64);
        store(&chunk[2], LINE as u64);
        publish(&chunk[0], u64::from(CHUNK) << 32 | pages.len() as u64);
        (self.chunk, self.used) = (chunk, LINE);
        self.taken += pages.len();
        true
    }

    /// Takes free pages of one piece: at least `least`, and as many as the process has, if the piece has them.
    fn free(&self, least: usize) -> Option<Range<usize>> {
        let wished = least.max(self.taken.clamp(1, LARGEST));
        let place = |next: u64| {
            let next = usize::try_from(next).ok().filter(|next| *next > 0)?;
            pieces(self.pages.count()).find_map(|piece| {
                // The first page of a piece is its header.
                let first = next.max(piece.start + 1);
                let end = first.checked_add(least)?;
                (end <= piece.end).then(|| first..piece.end.min(first + wished))
            })
        };
        // ATOMICS: the counter only divides the pages; it publishes no contents.
        let next = &self.pages.header()[header::NEXT];
        let end = |next: u64| place(next).map(|pages| pages.end as u64);
        next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, end).ok().and_then(place)
    }

    /// Makes a record of cells, which `fill` fills before the record has its kind; `None` without room.
    fn record<T: Record>(&mut self, fill: impl FnOnce(&T)) -> Option<&'static T> {
        let at = self.take(size_of::<T>() / 8)?;
        // SAFETY: `take` returns a place of that length, which is aligned, and a record consists of words.
        let record = unsafe { &*self.chunk[at..].as_ptr().cast::<T>() };
        fill(record);
        self.publish(at, T::KIND);
        Some(record)
    }
}

/// A record of a kind.
trait Record: Words {
    const KIND: Kind;
}

macro_rules! records {
    ($($record:ident)+) => {
        $(impl Record for $record {
            const KIND: Kind = Kind::$record;
        }

        // SAFETY: as its definition shows.
        unsafe impl Words for $record {})+
    };
}

records!(Process Row SetRow PrimaryStats WaitRow PhaseRow Energy Thread);
