//! Memory that outlives the programs that write to it: where recordings are made.
//!
//! An arena is a run of words that several processes have mapped at once: a System V segment that
//! the command makes, or a file. Each process takes chunks of pages from it and writes records there,
//! and changes what is in them while its program runs. At every instant the arena is readable, so that
//! a process may end at any instruction.
//!
//! | part | is |
//! |---|---|
//! | page 0 | the header: magic, version and user, nonce, pages, the next free page |
//! | chunk | pages of one process: a mark (`CHUNK`) and their number, the owner (the first page of the process's first chunk), words in use; 8 words, then records |
//! | record | its kind and its length in words, which is a multiple of 8; then what the kind says |
//!
//! All words are little endian, nothing is a pointer, and pages that nobody has taken are zeros. A
//! record is there with its length and kind 0 first, is filled, and then gets its kind. A byte string
//! is its length and as many words as it takes.
//!
//! The writer ([`Writer`], [`Row`], [`PrimaryStats`]) is in the preloaded library, the reader
//! ([`read`]) in the command. The reader trusts nothing.

mod bins;
mod cells;
mod file;
mod image;
mod payload;
mod reader;
mod writer;

#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering};

pub use bins::CurrentBin;
pub use cells::{EVENTS, PrimaryStats, Process, Row, Thread, Widths};
pub use file::{EXTENSION, found_in};
pub use image::image_of;
pub use payload::Payload;
pub use reader::read;
pub use writer::{ProcessStart, Slot, Writer};

/// Bytes of a page.
pub const PAGE: usize = 4096;
/// Words of a page.
pub(crate) const WORDS: usize = PAGE / 8;
/// Words of a cache line: two threads' records share none.
pub(crate) const LINE: usize = 8;

/// The first word of an arena: `pacmanar`.
const MAGIC: u64 = u64::from_le_bytes(*b"pacmanar");
/// The version of the format; a reader refuses others.
pub const VERSION: u32 = 2;
/// In the upper half of a chunk's first word.
const CHUNK: u32 = 0x6b6e_6843;

/// The kinds of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum Kind {
    /// A process begins: [`Process`].
    Process = 1,
    /// A thread that starts regions: [`Thread`].
    Thread = 2,
    /// The command line, words ending in zeros.
    Command = 3,
    /// A runtime: its number, its family, its path.
    Runtime = 4,
    /// The first region: threads, contexts, ticks of a begin and an end, how counts are read.
    FirstRegion = 5,
    /// The events: how many; of each its name, 1 or 0, why it is not counted; how many are counted; of
    /// each count its event.
    Events = 6,
    /// A region: its number, its runtime's, address, module, 1 or 0, source, entry.
    Region = 7,
    /// A line for the reader.
    Note = 8,
    /// One thread of the team in a region: [`Row`].
    Row = 9,
    /// The executions of a region that one thread started: [`PrimaryStats`].
    PrimaryStats = 10,
    /// What adaptation says of a region: [`Slot`].
    Adaptation = 11,
}

impl Kind {
    const ALL: [Kind; 11] = [
        Kind::Process,
        Kind::Thread,
        Kind::Command,
        Kind::Runtime,
        Kind::FirstRegion,
        Kind::Events,
        Kind::Region,
        Kind::Note,
        Kind::Row,
        Kind::PrimaryStats,
        Kind::Adaptation,
    ];

    fn of(number: u32) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| *kind as u32 == number)
    }
}

/// Who may write: the arena's own, so that a number that was used again is not taken for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Drawn when the arena was made.
    pub nonce: u128,
    /// The user who made it.
    pub uid: u32,
}

/// Words of the header.
mod header {
    pub(super) const MAGIC: usize = 0;
    pub(super) const VERSION: usize = 1;
    pub(super) const NONCE: usize = 2;
    pub(super) const PAGES: usize = 4;
    pub(super) const NEXT: usize = 5;
    pub(super) const REFUSED: usize = 6;
}

fn version_of(key: &Key) -> u64 {
    u64::from(VERSION) | u64::from(key.uid) << 32
}

/// Makes an arena of fresh memory, which is all zeros. At least a page.
pub fn prepare(words: &[AtomicU64], key: &Key) {
    store(&words[header::VERSION], version_of(key));
    store(&words[header::NONCE], key.nonce as u64);
    store(&words[header::NONCE + 1], (key.nonce >> 64) as u64);
    store(&words[header::PAGES], (words.len() / WORDS) as u64);
    store(&words[header::NEXT], 1);
    publish(&words[header::MAGIC], MAGIC);
}

/// Whether the memory is the arena that was made with `key`.
///
/// # Errors
/// What is different, in words.
pub fn check(words: &[AtomicU64], key: &Key) -> Result<(), String> {
    let get = |at: usize| words.get(at).map_or(0, |word| word.load(Ordering::Acquire));
    if words.len() < WORDS || get(header::MAGIC) != MAGIC {
        return Err("it is no arena".into());
    }
    if get(header::VERSION) as u32 != VERSION {
        return Err(format!("it has version {}, not {VERSION}", get(header::VERSION) as u32));
    }
    let nonce = u128::from(get(header::NONCE)) | u128::from(get(header::NONCE + 1)) << 64;
    let uid = (get(header::VERSION) >> 32) as u32;
    if (Key { nonce, uid }) != *key {
        return Err("it is another run's".into());
    }
    Ok(())
}

/// How many words of it were ever taken: what there is to copy for [`read`].
pub fn used(words: &[AtomicU64]) -> usize {
    let next = words.get(header::NEXT).map_or(0, |word| word.load(Ordering::Acquire));
    usize::try_from(next).map_or(words.len(), |next| next.saturating_mul(WORDS)).min(words.len())
}

/// The bytes of it that were ever taken, copied while others may write.
pub fn copied(words: &[AtomicU64]) -> Vec<u8> {
    let words = &words[..used(words)];
    let mut bytes = Vec::with_capacity(words.len() * 8);
    // ATOMICS: programs that go on may write meanwhile; each word is whole.
    words.iter().for_each(|word| bytes.extend(word.load(Ordering::Relaxed).to_le_bytes()));
    bytes
}

/// All that is written to an arena goes through here and [`publish`].
#[inline(always)]
fn store(cell: &AtomicU64, value: u64) {
    #[cfg(test)]
    tests::log(cell, value);
    cell.store(value.to_le(), Ordering::Relaxed);
}

/// The same after everything that was stored before.
#[inline(always)]
fn publish(cell: &AtomicU64, value: u64) {
    #[cfg(test)]
    tests::log(cell, value);
    // ATOMICS: a process may be ended between any two stores, and its stores are seen in order: this
    // one is not to move before those that it tells of.
    cell.store(value.to_le(), Ordering::Release);
    std::sync::atomic::compiler_fence(Ordering::SeqCst);
}

const fn zero() -> AtomicU64 {
    AtomicU64::new(0)
}

#[inline(always)]
fn load(cell: &AtomicU64) -> u64 {
    u64::from_le(cell.load(Ordering::Relaxed))
}

#[inline(always)]
fn add(cell: &AtomicU64, more: u64) {
    store(cell, load(cell).wrapping_add(more));
}
