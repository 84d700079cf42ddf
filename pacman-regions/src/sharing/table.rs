//! The slots of the processes that share.
//!
//! A process takes a free slot by one compare-and-swap of its owner, writes its mask and wants, and then
//! advances the generation. A reader may find a new owner with the mask of the previous one. It then
//! computes a wrong share, and computes it again when the generation has changed.

use std::sync::atomic::{AtomicU64, Ordering};

use pacman_topology::process_files;

use super::fairness::shares;

/// The contexts of a process: a bit for each number that the kernel gives them.
pub type Mask = [u64; MASK];

/// Words of a mask.
const MASK: usize = 16;
/// Processes that may take part.
const SLOTS: usize = 64;
/// Words of a slot: owner, wants and mask.
const SLOT: usize = 2 + MASK;
/// Words before the slots: the format and the generation.
const HEAD: usize = 2;
/// `pacmans`, and the version.
const FORMAT: u64 = u64::from_le_bytes(*b"pacmans\x01");

/// A process: its number and the low half of its start time, so that a reused number is another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner(u64);

impl Owner {
    /// The process `number` that the kernel started at `start` ticks; `None` for 0.
    pub fn new(number: u32, start: u64) -> Option<Owner> {
        (number > 0).then_some(Owner(u64::from(number) << 32 | start & 0xffff_ffff))
    }

    /// The process of that number; `None` if there is no such process, or it has ended.
    pub fn of_process(number: u32) -> Option<Owner> {
        let folder = process_files::of_process(number)?;
        let stat = std::fs::read_to_string(format!("{folder}/stat")).ok()?;
        // The name precedes these fields. The program chooses it, and it may contain parentheses.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let state = fields.next()?;
        // proc_pid_stat(5): the 22nd field; the state is the third.
        let start = fields.nth(18)?.parse().ok()?;
        Owner::new(number, start).filter(|_| !matches!(state, "Z" | "X"))
    }

    /// Whether the process has not ended. Where `/proc` is of another namespace, a later process of its number counts
    /// as this one.
    pub fn is_alive(self) -> bool {
        let own = self.number() == std::process::id();
        if own || process_files::are_ours() {
            return Owner::of_process(self.number()) == Some(self);
        }
        // SAFETY: signal 0 is none.
        let found = unsafe { libc::kill(self.number() as libc::pid_t, 0) } == 0;
        found || std::io::Error::last_os_error().raw_os_error() == Some(libc::EPERM)
    }

    /// As a number, to be kept in an atomic; never 0.
    pub fn to_bits(self) -> u64 {
        self.0
    }

    /// The owner of these bits; `None` for 0.
    pub fn from_bits(bits: u64) -> Option<Owner> {
        (bits != 0).then_some(Owner(bits))
    }

    /// The number of the process.
    pub fn number(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// A process's entry in its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// The process.
    pub owner: Owner,
    /// The most threads of its teams.
    pub wants: u32,
    /// The contexts that it may use.
    pub mask: Mask,
}

/// The processes that share, in memory that all of them have.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a>(&'a [AtomicU64]);

impl<'a> Table<'a> {
    /// The bytes of a table.
    pub const BYTES: usize = 8 * (HEAD + SLOTS * SLOT);

    /// The table in `words`; zeros are an empty one. `None` if they are of another format, or too few.
    pub fn new(words: &'a [AtomicU64]) -> Option<Table<'a>> {
        if words.len() * 8 < Table::BYTES {
            return None;
        }
        // ATOMICS: the format orders nothing; the owners do.
        let before = words[0].compare_exchange(0, FORMAT, Ordering::Relaxed, Ordering::Relaxed);
        matches!(before, Ok(_) | Err(FORMAT)).then_some(Table(words))
    }

    /// Counts the changes.
    pub fn generation(&self) -> u64 {
        // ATOMICS: pairs with the release in `changed`. A thread that sees the new generation sees all
        // stores before it.
        self.0[1].load(Ordering::Acquire)
    }

    fn changed(&self) {
        self.0[1].fetch_add(1, Ordering::Release);
    }

    fn slot(&self, number: usize) -> &'a [AtomicU64] {
        let begin = HEAD + number * SLOT;
        &self.0[begin..begin + SLOT]
    }

    /// Takes a slot for `member`, or updates its slot. The slots of dead processes are free. `None` if no
    /// slot is free.
    pub fn enter(&self, member: &Member, is_alive: impl Fn(Owner) -> bool) -> Option<usize> {
        let own = (0..SLOTS).find(|&slot| self.owner(slot) == Some(member.owner));
        let taken = own.or_else(|| (0..SLOTS).find(|&slot| self.take(slot, member, &is_alive)))?;
        let words = self.slot(taken);
        // ATOMICS: published by the generation.
        words[1].store(member.wants.into(), Ordering::Relaxed);
        words[2..]
            .iter()
            .zip(member.mask)
            .for_each(|(word, bits)| word.store(bits, Ordering::Relaxed));
        self.changed();
        Some(taken)
    }

    fn take(&self, slot: usize, member: &Member, is_alive: impl Fn(Owner) -> bool) -> bool {
        let owner = &self.slot(slot)[0];
        let before = owner.load(Ordering::Relaxed);
        if before != 0 && is_alive(Owner(before)) {
            return false;
        }
        // ATOMICS: one of several takers succeeds.
        owner.compare_exchange(before, member.owner.0, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Frees the slot of `owner`. A signal handler may call it, because it only changes atomics.
    pub fn leave(&self, owner: Owner) {
        for slot in 0..SLOTS {
            let word = &self.slot(slot)[0];
            if word.compare_exchange(owner.0, 0, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                self.changed();
            }
        }
    }

    fn owner(&self, slot: usize) -> Option<Owner> {
        Owner::from_bits(self.slot(slot)[0].load(Ordering::Relaxed))
    }

    /// The contexts that `member` gets, and the number of other processes that use some of its contexts.
    ///
    /// A process that may use only part of them wants at most that part.
    pub fn share(&self, member: &Member, is_alive: impl Fn(Owner) -> bool) -> (u32, u32) {
        let contexts = count(&member.mask);
        let mut own = 0;
        let mut wants = Vec::new();
        for number in 0..SLOTS {
            let Some(owner) = self.owner(number) else { continue };
            if owner == member.owner {
                own = wants.len();
                wants.push(member.wants.min(contexts));
            } else if is_alive(owner) {
                let words = self.slot(number);
                let mut common = member.mask;
                common
                    .iter_mut()
                    .zip(&words[2..])
                    .for_each(|(bits, word)| *bits &= word.load(Ordering::Relaxed));
                let wanted = words[1].load(Ordering::Relaxed).min(u64::from(u32::MAX)) as u32;
                let wanted = wanted.min(count(&common));
                if wanted > 0 {
                    wants.push(wanted);
                }
            }
        }
        match shares(contexts, &wants).get(own) {
            Some(&share) => (share, wants.len() as u32 - 1),
            // It has no slot, so it shares with no process.
            None => (contexts, 0),
        }
    }
}

fn count(mask: &Mask) -> u32 {
    mask.iter().map(|bits| bits.count_ones()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words() -> Vec<AtomicU64> {
        (0..Table::BYTES / 8).map(|_| AtomicU64::new(0)).collect()
    }

    fn member(number: u32, wants: u32, contexts: std::ops::Range<u32>) -> Member {
        let mut mask = Mask::default();
        contexts.for_each(|at| mask[at as usize / 64] |= 1 << (at % 64));
        Member { owner: Owner::new(number, 7).unwrap(), wants, mask }
    }

    #[test]
    fn processes_that_use_the_same_contexts_share_them() {
        let words = words();
        let table = Table::new(&words).unwrap();
        let (one, other) = (member(10, 8, 0..8), member(11, 2, 0..8));
        let apart = member(12, 8, 64..72);
        for each in [&one, &other, &apart] {
            table.enter(each, |_| true).unwrap();
        }
        assert_eq!(table.share(&one, |_| true), (6, 1));
        assert_eq!(table.share(&other, |_| true), (2, 1));
        assert_eq!(table.share(&apart, |_| true), (8, 0));
        // It has half of its contexts in common with the first one.
        let across = member(13, 8, 4..12);
        table.enter(&across, |_| true).unwrap();
        assert_eq!(table.share(&across, |_| true), (3, 2));
        let generation = table.generation();
        table.leave(other.owner);
        assert!(table.generation() > generation);
        assert_eq!(table.share(&one, |_| true), (4, 1));
    }

    #[test]
    fn a_dead_process_wants_nothing_and_its_slot_is_free() {
        let words = words();
        let table = Table::new(&words).unwrap();
        let (one, dead) = (member(10, 8, 0..8), member(11, 8, 0..8));
        let is_alive = |owner: Owner| owner.number() != 11;
        let of_dead = table.enter(&dead, is_alive).unwrap();
        let own = table.enter(&one, |_| true).unwrap();
        assert_eq!(table.share(&one, is_alive), (8, 0));
        assert_eq!(table.enter(&member(12, 1, 0..1), is_alive), Some(of_dead));
        assert_eq!(table.enter(&one, is_alive), Some(own), "its own again");
    }

    #[test]
    fn a_process_is_known_by_its_number_and_start() {
        let own = Owner::of_process(std::process::id()).unwrap();
        assert!(own.is_alive());
        assert!(!Owner(own.0 ^ 1).is_alive(), "another start");
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let of_child = Owner::of_process(child.id());
        child.wait().unwrap();
        assert!(of_child.is_none_or(|child| !child.is_alive()));
        assert_eq!(Owner::of_process(0), None);
    }

    #[test]
    fn a_full_table_and_a_foreign_one_are_refused() {
        let words = words();
        let table = Table::new(&words).unwrap();
        let mut slots: Vec<usize> = std::thread::scope(|scope| {
            let threads: Vec<_> = (1..=SLOTS as u32)
                .map(|number| scope.spawn(move || table.enter(&member(number, 1, 0..1), |_| true)))
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap().expect("a slot")).collect()
        });
        slots.sort_unstable();
        slots.dedup();
        assert_eq!(slots.len(), SLOTS, "each has a slot of its own");
        assert_eq!(table.enter(&member(1000, 1, 0..1), |_| true), None);
        assert!(Table::new(&words[1..]).is_none());
        words[0].store(5, Ordering::Relaxed);
        assert!(Table::new(&words).is_none());
    }
}
