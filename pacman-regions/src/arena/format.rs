//! The format of an arena: header, chunks and kinds of records.

use std::sync::atomic::{AtomicU64, Ordering};

use super::cell::{publish, store};

/// Bytes of a page.
pub const PAGE: usize = 4096;
/// Words of a page.
pub(super) const WORDS: usize = PAGE / 8;
/// Words of a cache line: two threads' records share none.
pub(super) const LINE: usize = 8;

/// The first word of an arena: `pacmanar`.
pub(super) const MAGIC: u64 = u64::from_le_bytes(*b"pacmanar");
/// The version of the format; a reader refuses others.
pub const VERSION: u32 = 10;
/// The symbol of a `u32` in the preloaded library that holds its [`VERSION`]. The command reads it from
/// the file, so that it never preloads a library whose recordings it cannot read.
pub const VERSION_SYMBOL: &str = "PACMAN_OMP_RECORDINGS";
/// In the upper half of a chunk's first word.
pub(super) const CHUNK: u32 = 0x6b6e_6843;

/// The kinds of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum Kind {
    /// A process: [`Process`](super::Process).
    Process = 1,
    /// A thread that starts regions: [`Thread`](super::Thread).
    Thread = 2,
    /// The command line; each word ends in a zero.
    Command = 3,
    /// A runtime: its number, its family, its path.
    Runtime = 4,
    /// The first region: default team size, contexts, ticks of a begin and an end, how counts are read.
    FirstRegion = 5,
    /// The events. Their number; for each its name, 1 or 0, and the reason if it is not counted. Then
    /// the number of event sets; for each the number of its counts, and the index of the event of each.
    Events = 6,
    /// A region: its number, the number of its runtime, address, module, 1 or 0, source, entry. Then
    /// one more than the number of the phase whose label it has, or 0.
    Region = 7,
    /// A line for the reader.
    Note = 8,
    /// One thread of the team in a region: [`Row`](super::Row).
    Row = 9,
    /// The executions of a region that one thread started: [`PrimaryStats`](super::PrimaryStats).
    PrimaryStats = 10,
    /// The text of adaptation about a region: [`Slot`](super::Slot).
    Adaptation = 11,
    /// The source of energy: its name, the number of packages, and the nanojoules after which a counter
    /// wraps.
    EnergySource = 12,
    /// The energy of the process or of a region: [`Energy`](super::Energy).
    Energy = 13,
    /// A waiting construct: its number, its cause, address, module, 1 or 0, and the name of an MPI call.
    WaitSite = 14,
    /// One thread's waits in a region at one construct: [`WaitRow`](super::WaitRow).
    WaitRow = 15,
    /// The host's name; 1 or 0; the rank; 1 or 0; the number of ranks.
    Host = 16,
    /// A phase: its number, its kind, its name.
    Phase = 17,
    /// One thread's executions of a phase: [`PhaseRow`](super::PhaseRow).
    PhaseRow = 18,
    /// One thread of the team in a region, for one of several event sets: [`SetRow`](super::SetRow).
    SetRow = 19,
    /// Single executions and waits of one thread: [`LogBlock`](super::LogBlock).
    LogBlock = 20,
}

impl Kind {
    const ALL: [Kind; 20] = [
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
        Kind::EnergySource,
        Kind::Energy,
        Kind::WaitSite,
        Kind::WaitRow,
        Kind::Host,
        Kind::Phase,
        Kind::PhaseRow,
        Kind::SetRow,
        Kind::LogBlock,
    ];

    pub(super) fn of(number: u32) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| *kind as u32 == number)
    }
}

/// The identity of an arena. It tells the arena from a later segment with the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// A random number of the arena.
    pub nonce: u128,
    /// The user who made it.
    pub uid: u32,
}

/// Words of the header.
pub(super) mod header {
    pub(in super::super) const MAGIC: usize = 0;
    pub(in super::super) const VERSION: usize = 1;
    pub(in super::super) const NONCE: usize = 2;
    pub(in super::super) const PAGES: usize = 4;
    pub(in super::super) const NEXT: usize = 5;
    pub(in super::super) const REFUSED: usize = 6;
    pub(in super::super) const TICK: usize = 7;
}

fn version_of(key: &Key) -> u64 {
    u64::from(VERSION) | u64::from(key.uid) << 32
}

/// Makes an arena of fresh memory: all zeros, and at least a page.
pub fn prepare(words: &[AtomicU64], key: &Key) {
    store(&words[header::VERSION], version_of(key));
    store(&words[header::NONCE], key.nonce as u64);
    store(&words[header::NONCE + 1], (key.nonce >> 64) as u64);
    store(&words[header::PAGES], (words.len() / WORDS) as u64);
    store(&words[header::NEXT], 1);
    publish(&words[header::MAGIC], MAGIC);
}

/// Sets the length of a TSC tick in seconds, for processes that did not measure it.
pub fn set_tick(words: &[AtomicU64], seconds: f64) {
    store(&words[header::TICK], seconds.to_bits());
}

/// Checks that the memory is the arena of `key`.
///
/// # Errors
/// The first difference.
pub fn check(words: &[AtomicU64], key: &Key) -> Result<(), String> {
    let get = |at: usize| words.get(at).map_or(0, |word| word.load(Ordering::Acquire));
    if words.len() < WORDS || get(header::MAGIC) != MAGIC {
        return Err("it is not an arena".into());
    }
    if get(header::VERSION) as u32 != VERSION {
        return Err(format!("it has version {}, not {VERSION}", get(header::VERSION) as u32));
    }
    let nonce = u128::from(get(header::NONCE)) | u128::from(get(header::NONCE + 1)) << 64;
    let uid = (get(header::VERSION) >> 32) as u32;
    if (Key { nonce, uid }) != *key {
        return Err("it belongs to another run".into());
    }
    Ok(())
}

/// The words that processes have taken so far: those to copy for [`read`](super::read).
pub fn used(words: &[AtomicU64]) -> usize {
    let next = words.get(header::NEXT).map_or(0, |word| word.load(Ordering::Acquire));
    usize::try_from(next).map_or(words.len(), |next| next.saturating_mul(WORDS)).min(words.len())
}

/// A copy of the words that processes have written so far. They may write meanwhile.
///
/// The unused ends of chunks stay 0 in the copy: a look at them would allocate pages.
pub fn copied(words: &[AtomicU64]) -> Vec<u64> {
    let words = &words[..used(words)];
    // The kernel allocates its pages when they are written.
    let mut copy = vec![0; words.len()];
    let mut at = 0;
    while at < words.len() {
        // ATOMICS: acquire, because a chunk is published after its words. Programs may write meanwhile; each word
        // is whole.
        let head = words[at].load(Ordering::Acquire);
        let (length, used) = match head >> 32 {
            kind if kind == u64::from(CHUNK) && at > 0 => {
                let pages = usize::try_from(head & 0xffff_ffff).unwrap_or(usize::MAX).max(1);
                let length = pages.saturating_mul(WORDS).min(words.len() - at);
                let used = words.get(at + 2).map_or(0, |word| word.load(Ordering::Acquire));
                (length, usize::try_from(used).unwrap_or(usize::MAX).min(length))
            }
            // The first page, or one that was taken and has no chunk yet.
            _ => (WORDS.min(words.len() - at), WORDS.min(words.len() - at)),
        };
        let to = &mut copy[at..at + used];
        to.iter_mut().zip(&words[at..]).for_each(|(to, word)| *to = word.load(Ordering::Relaxed));
        // It may have grown meanwhile.
        if let (true, Some(end)) = (used < length, to.get_mut(2)) {
            *end = used as u64;
        }
        at += length;
    }
    copy
}
