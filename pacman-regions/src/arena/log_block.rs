//! Blocks of single executions and waits of one thread.

use std::sync::atomic::AtomicU64;

use super::cell::{load, publish, store};
use super::cells::EVENTS;
use super::format::LINE;

/// The entries of a block.
pub(super) const ENTRIES: usize = 64;
/// Words of an entry before its counts.
pub(super) const FIXED: usize = 5;
/// In the first word of a wait, whose lower half is its site. That of an execution has the region, and the
/// thread's number above it.
pub(super) const IS_WAIT: u64 = 1 << 63;
/// In the fourth word: the execution was counted.
pub(super) const IS_COUNTED: u64 = 1 << 63;

/// Words of a block: the number of its log, the entries in use, and the words of an entry.
pub(super) mod word {
    pub(in super::super) const LOG: usize = 1;
    pub(in super::super) const USED: usize = 2;
    pub(in super::super) const STRIDE: usize = 3;
}

/// A block of a thread's log. One thread at a time writes it.
#[derive(Clone, Copy, Debug)]
pub struct LogBlock {
    words: &'static [AtomicU64],
    stride: usize,
}

/// A part of a thread in a region, or a wait. Times are ticks from the start of the process.
#[derive(Clone, Copy, Debug)]
pub struct LogEntry<'c> {
    what: u64,
    begin: u64,
    ticks: u64,
    /// The executions that a part stands for, or the ticks of tasks in a wait.
    more: u64,
    /// The ticks of the library's own work in a part, which are not in `ticks`.
    own: u64,
    counts: &'c [u64],
}

impl<'c> LogEntry<'c> {
    /// A part of thread `thread` of the team: it began at `begin` and took `ticks`, with `own` ticks of the library's
    /// own work. It stands for `weight` executions. `counts` are in the order of the thread's counters, and `None` if
    /// it was not counted.
    pub fn execution(
        (region, thread): (u32, u32),
        (begin, ticks, own): (u64, u64, u64),
        weight: u32,
        counts: Option<&'c [u64]>,
    ) -> LogEntry<'c> {
        let what = u64::from(region) | u64::from(thread) << 32 & !IS_WAIT;
        let more = u64::from(weight) | if counts.is_some() { IS_COUNTED } else { 0 };
        LogEntry { what, begin, ticks, more, own, counts: counts.unwrap_or_default() }
    }

    /// A wait at a construct, with the ticks of tasks in it.
    pub fn wait(site: u32, (begin, ticks): (u64, u64), tasks: u64) -> LogEntry<'c> {
        LogEntry { what: IS_WAIT | u64::from(site), begin, ticks, more: tasks, own: 0, counts: &[] }
    }
}

impl LogBlock {
    /// Words of a block whose entries have `counts` counts.
    pub(super) fn length(counts: usize) -> usize {
        LINE + ENTRIES * (FIXED + counts.min(EVENTS))
    }

    /// A block of log `log` in words of that length.
    pub(super) fn new(words: &'static [AtomicU64], log: u32, counts: usize) -> LogBlock {
        let stride = FIXED + counts.min(EVENTS);
        store(&words[word::LOG], u64::from(log));
        store(&words[word::STRIDE], stride as u64);
        LogBlock { words, stride }
    }

    /// Whether there is no place for another entry.
    pub fn is_full(&self) -> bool {
        load(&self.words[word::USED]) >= ENTRIES as u64
    }

    /// Adds an entry; false if the block is full.
    pub fn push(&self, entry: &LogEntry<'_>) -> bool {
        let used = load(&self.words[word::USED]);
        if used >= ENTRIES as u64 {
            return false;
        }
        let cells = &self.words[LINE + used as usize * self.stride..][..self.stride];
        let fixed = [entry.what, entry.begin, entry.ticks, entry.more, entry.own];
        let words = fixed.iter().chain(entry.counts);
        cells.iter().zip(words).for_each(|(cell, word)| store(cell, *word));
        publish(&self.words[word::USED], used + 1);
        true
    }
}
