//! The format of an arena: header, chunks and kinds of records.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::cell::{publish, store};

/// Bytes of a page.
pub const PAGE: usize = 4096;
/// Words of a page.
pub(super) const WORDS: usize = PAGE / 8;
/// Words of a cache line: two threads' records share none.
pub(super) const LINE: usize = 8;

/// The pages at which pieces begin, and the most pages of an arena. The first piece is as large as the stack of
/// one thread; each other one is at most three times as large as all before it.
const PIECES: [usize; 6] = [0, 1 << 11, 1 << 13, 1 << 15, 1 << 17, MOST_PAGES];
/// The most pages of an arena, a GiB: 8,192 regions on 256 threads need less.
pub const MOST_PAGES: usize = 1 << 18;

/// The pieces of an arena of `pages` pages: processes map each one by itself, once they need it.
pub fn pieces(pages: usize) -> impl Iterator<Item = Range<usize>> + Clone {
    let bounded = move |ends: &[usize]| ends[0]..ends[1].min(pages);
    PIECES.windows(2).map(bounded).take_while(|piece| !piece.is_empty())
}

/// The first word of an arena: `pacmanar`.
pub(super) const MAGIC: u64 = u64::from_le_bytes(*b"pacmanar");
/// The version of the format; a reader refuses others.
pub const VERSION: u32 = 12;
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
    /// The events. Their number; for each its name, 1 or 0, and the reason if it is not counted, its canonical name,
    /// its unit, whether hardware counts it, 1 or 0, and why its counts may be wrong. Then the number of event sets;
    /// for each the number of its counts, and the index of the event of each.
    Events = 6,
    /// A region: its number, the number of its runtime, address, module with its identity, 1 or 0, source,
    /// entry. Then one more than the number of the phase whose label it has, or 0.
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
    /// A waiting construct: its number, its cause, address, module with its identity, 1 or 0, and the name
    /// of an MPI call.
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
    /// The machine: the names of processor and system, 1 or 0, the title of a simulated machine, 1 or 0, the quota,
    /// the number of contexts; for each its CPU, package, core and place among its siblings.
    Machine = 21,
}

impl Kind {
    const ALL: [Kind; 21] = [
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
        Kind::Machine,
    ];

    pub(super) fn of(number: u32) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| *kind as u32 == number)
    }
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

/// Makes a piece of an arena of `pages` pages from fresh memory: all zeros, and at least a page. The random
/// number distinguishes the piece from a later segment with the same number.
pub fn prepare(piece: &[AtomicU64], pages: usize, nonce: u128) {
    store(&piece[header::VERSION], u64::from(VERSION));
    store(&piece[header::NONCE], nonce as u64);
    store(&piece[header::NONCE + 1], (nonce >> 64) as u64);
    store(&piece[header::PAGES], pages as u64);
    store(&piece[header::NEXT], 1);
    publish(&piece[header::MAGIC], MAGIC);
}

/// Sets the length of a TSC tick in seconds, for processes that did not measure it.
pub fn set_tick(words: &[AtomicU64], seconds: f64) {
    store(&words[header::TICK], seconds.to_bits());
}

/// The pages of the arena that has this piece.
pub fn page_count(piece: &[AtomicU64]) -> usize {
    let pages = piece.get(header::PAGES).map_or(0, |word| word.load(Ordering::Relaxed));
    usize::try_from(pages).map_or(MOST_PAGES, |pages| pages.min(MOST_PAGES))
}

/// Checks that the memory is a piece of the arena with that random number.
///
/// # Errors
/// The first difference.
pub fn check(words: &[AtomicU64], nonce: u128) -> Result<(), String> {
    let get = |at: usize| words.get(at).map_or(0, |word| word.load(Ordering::Acquire));
    if words.len() < WORDS || get(header::MAGIC) != MAGIC {
        return Err("it is not an arena".into());
    }
    if get(header::VERSION) != u64::from(VERSION) {
        return Err(format!("it has version {}, not {VERSION}", get(header::VERSION)));
    }
    if (u128::from(get(header::NONCE)) | u128::from(get(header::NONCE + 1)) << 64) != nonce {
        return Err("it belongs to another run".into());
    }
    Ok(())
}

/// The words of all pieces that processes have taken so far, by the first one.
pub(super) fn taken(first: &[AtomicU64]) -> usize {
    let next = first.get(header::NEXT).map_or(0, |word| word.load(Ordering::Acquire));
    usize::try_from(next).map_or(usize::MAX, |next| next.saturating_mul(WORDS))
}

/// A copy of the words that processes have written so far to an arena of these pieces. They may write meanwhile.
///
/// The unused ends of chunks stay 0 in the copy: a look at them would allocate pages.
pub fn copied(pieces: &[&[AtomicU64]]) -> Vec<u64> {
    let taken = pieces.first().map_or(0, |first| taken(first));
    let all: usize = pieces.iter().map(|piece| piece.len()).sum();
    // The kernel allocates its pages when they are written.
    let mut copy = vec![0; taken.min(all)];
    let mut rest = &mut copy[..];
    for piece in pieces {
        let (own, behind) = rest.split_at_mut(piece.len().min(rest.len()));
        copy_piece(own, piece);
        rest = behind;
    }
    copy
}

fn copy_piece(copy: &mut [u64], words: &[AtomicU64]) {
    let mut at = 0;
    while at < copy.len() {
        // ATOMICS: acquire, because a chunk is published after its words. Programs may write meanwhile; each word
        // is whole.
        let head = words[at].load(Ordering::Acquire);
        let (length, used) = match head >> 32 {
            kind if kind == u64::from(CHUNK) && at > 0 => {
                let pages = usize::try_from(head & 0xffff_ffff).unwrap_or(usize::MAX).max(1);
                let length = pages.saturating_mul(WORDS).min(copy.len() - at);
                let used = words.get(at + 2).map_or(0, |word| word.load(Ordering::Acquire));
                (length, usize::try_from(used).unwrap_or(usize::MAX).min(length))
            }
            // The first page, or one that was taken and has no chunk yet.
            _ => (WORDS.min(copy.len() - at), WORDS.min(copy.len() - at)),
        };
        let to = &mut copy[at..at + used];
        to.iter_mut().zip(&words[at..]).for_each(|(to, word)| *to = word.load(Ordering::Relaxed));
        // It may have grown meanwhile.
        if let (true, Some(end)) = (used < length, to.get_mut(2)) {
            *end = used as u64;
        }
        at += length;
    }
}
