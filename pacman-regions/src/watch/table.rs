//! The slots of the processes whose packed executions are watched.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use libc::pid_t;

use super::affinity::{self, Mask, WORDS};
use super::word::{Phase, Watcher, Word};
use crate::sharing::Owner;

/// Threads of a team that may be packed. Larger teams are not.
pub const MEMBERS: usize = 256;
/// Processes that may be watched at once.
const SLOTS: usize = 16;
/// Words before the slots: the format, the bell, and the two watchers' latest signs of life.
const HEAD: usize = 4;
/// `pacmanw`, and the version.
const FORMAT: u64 = u64::from_le_bytes(*b"pacmanw\x02");

const OWNER: usize = 0;
const STATE: usize = 1;
const ALLOWANCE: usize = 2;
const POLLED: usize = 3;
const CUTS: usize = 4;
const ASKED: usize = 5;
const LATE: usize = 6;
const RESTORED: usize = 7;
const WIDE: usize = 8;
const PACKED: usize = WIDE + WORDS;
const TEAM: usize = PACKED + WORDS;
/// Words of a slot.
const SLOT: usize = TEAM + MEMBERS;

/// The slots, in memory that the command and the processes of its run have.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a>(&'a [AtomicU64]);

/// The slot of one process. Only its owner writes it, except for the state word.
#[derive(Clone, Copy, Debug)]
pub struct Slot<'a>(&'a [AtomicU64]);

impl<'a> Table<'a> {
    /// The bytes of a table.
    pub const BYTES: usize = 8 * (HEAD + SLOTS * SLOT);

    /// The table in `words`; zeros are an empty one. `None` if they are of another format, or too few.
    pub fn new(words: &'a [AtomicU64]) -> Option<Table<'a>> {
        if words.len() * 8 < Table::BYTES {
            return None;
        }
        // ATOMICS: the format orders nothing; the state words do.
        let before = words[0].compare_exchange(0, FORMAT, Ordering::Relaxed, Ordering::Relaxed);
        matches!(before, Ok(_) | Err(FORMAT)).then_some(Table(words))
    }

    /// The word that wakes the watchers when it changes.
    pub(super) fn bell(&self) -> &'a AtomicU64 {
        &self.0[1]
    }

    /// Wakes the watchers: one system call.
    pub fn ring(&self) {
        // ATOMICS: the state words order what the watchers read.
        self.bell().fetch_add(1, Ordering::Release);
        super::futex::wake(self.bell());
    }

    fn sign(&self, watcher: Watcher) -> &'a AtomicU64 {
        match watcher {
            Watcher::Command => &self.0[2],
            Watcher::Second => &self.0[3],
        }
    }

    /// The watcher lives at `now`, since the start of the machine.
    pub(super) fn lives(&self, watcher: Watcher, now: Duration) {
        self.sign(watcher).store(now.as_nanos() as u64, Ordering::Relaxed);
    }

    /// Whether both watchers gave a sign of life within `patience` before `now`.
    pub fn is_watched(&self, now: Duration, patience: Duration) -> bool {
        let since = now.saturating_sub(patience).as_nanos() as u64;
        let lives = |watcher| self.sign(watcher).load(Ordering::Relaxed) >= since;
        lives(Watcher::Command) && lives(Watcher::Second)
    }

    /// All slots.
    pub fn slots(&self) -> impl Iterator<Item = Slot<'a>> {
        let slots = &self.0[HEAD..HEAD + SLOTS * SLOT];
        slots.chunks_exact(SLOT).map(Slot)
    }

    /// Takes a slot for the process. The slots of dead processes are free. `None` if no slot is free.
    pub fn enter(&self, owner: Owner) -> Option<Slot<'a>> {
        let own = self.slots().find(|slot| slot.owner() == Some(owner));
        let taken = own.or_else(|| self.slots().find(|slot| slot.take(owner)))?;
        let word = taken.word();
        let seen = word.seen();
        if let Some(cut) = word.cut(seen) {
            word.restored(cut);
        }
        Some(taken)
    }
}

impl<'a> Slot<'a> {
    /// The slot of a process without watchers.
    pub fn alone(words: &'a [AtomicU64]) -> Option<Slot<'a>> {
        words.get(..SLOT).map(Slot)
    }

    /// The words of a slot.
    pub const LENGTH: usize = SLOT;

    fn take(self, owner: Owner) -> bool {
        let before = self.0[OWNER].load(Ordering::Relaxed);
        if Owner::from_bits(before).is_some_and(Owner::is_alive) {
            return false;
        }
        // ATOMICS: one of several takers succeeds.
        let to = owner.to_bits();
        self.0[OWNER].compare_exchange(before, to, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// The process that has it.
    pub fn owner(self) -> Option<Owner> {
        Owner::from_bits(self.0[OWNER].load(Ordering::Relaxed))
    }

    /// The process ends, or becomes another program. Only stores numbers.
    pub fn leave(self) {
        self.0[OWNER].store(0, Ordering::Relaxed);
    }

    /// The state word.
    #[inline]
    pub fn word(self) -> Word<'a> {
        Word::new(&self.0[STATE])
    }

    /// The longest that the packed execution may take. Set before it begins.
    #[inline]
    pub fn set_allowance(self, allowance: Duration) {
        self.0[ALLOWANCE].store(allowance.as_nanos() as u64, Ordering::Relaxed);
    }

    /// See [`set_allowance`](Self::set_allowance).
    pub fn allowance(self) -> Duration {
        Duration::from_nanos(self.0[ALLOWANCE].load(Ordering::Relaxed))
    }

    /// Regions are held, whose executions ring no bell: the watchers look by themselves.
    pub fn set_polled(self, is_polled: bool) {
        self.0[POLLED].store(is_polled.into(), Ordering::Relaxed);
    }

    /// See [`set_polled`](Self::set_polled).
    pub fn is_polled(self) -> bool {
        self.0[POLLED].load(Ordering::Relaxed) != 0
    }

    /// The library asks for a sample, at `now` since the start of the machine. False if it has asked before, or an
    /// execution is packed: the time of the first question counts.
    pub fn ask(self, now: Duration) -> bool {
        let word = self.word();
        if word.seen().phase() != Phase::Idle {
            return false;
        }
        self.0[ASKED].store(now.as_nanos() as u64, Ordering::Relaxed);
        word.ask()
    }

    /// The command's watcher woke for it at `now`. It will wake as late for the end of the sample: a busy machine
    /// lets it wait for its turn. A late wake is forgotten slowly.
    pub(super) fn wakes(self, now: Duration) {
        let asked = self.0[ASKED].load(Ordering::Relaxed);
        let late = (now.as_nanos() as u64).saturating_sub(asked);
        let before = self.0[LATE].load(Ordering::Relaxed);
        self.0[LATE].store(late.max(before / 4 * 3), Ordering::Relaxed);
    }

    /// How late a sample is cut: by the command's watcher, which wakes first.
    pub fn late(self) -> Duration {
        Duration::from_nanos(self.0[LATE].load(Ordering::Relaxed))
    }

    /// A watcher has restored the masks at `now` since the start of the machine.
    pub(super) fn restored_at(self, now: Duration) {
        self.0[RESTORED].store(now.as_nanos() as u64, Ordering::Relaxed);
    }

    /// How long the execution that began at `begun` was packed before a watcher restored the masks; `None` if none has.
    pub fn packed_for(self, begun: Duration) -> Option<Duration> {
        Duration::from_nanos(self.0[RESTORED].load(Ordering::Relaxed)).checked_sub(begun)
    }

    /// The executions that watchers have cut.
    pub fn cuts(self) -> u64 {
        self.0[CUTS].load(Ordering::Relaxed)
    }

    pub(super) fn count_cut(self) {
        self.0[CUTS].fetch_add(1, Ordering::Relaxed);
    }

    fn mask(self, at: usize) -> Mask {
        std::array::from_fn(|word| self.0[at + word].load(Ordering::Relaxed))
    }

    fn set_mask(self, at: usize, mask: &Mask) {
        let words = &self.0[at..at + WORDS];
        words.iter().zip(mask).for_each(|(word, &bits)| word.store(bits, Ordering::Relaxed));
    }

    /// The mask that all members have when they are not packed.
    pub fn wide(self) -> Mask {
        self.mask(WIDE)
    }

    /// Sets it.
    pub fn set_wide(self, mask: &Mask) {
        self.set_mask(WIDE, mask);
    }

    /// The mask of packed members.
    pub fn packed(self) -> Mask {
        self.mask(PACKED)
    }

    /// Sets it, before any member is packed.
    pub fn set_packed(self, mask: &Mask) {
        self.set_mask(PACKED, mask);
    }

    /// Member `number`: its thread, and the context that it was last on while it was not packed.
    #[inline]
    pub fn member(self, number: usize) -> (pid_t, u32) {
        let bits = self.0[TEAM + number].load(Ordering::Relaxed);
        ((bits >> 32) as pid_t, bits as u32)
    }

    /// Sets it.
    #[inline]
    pub fn set_member(self, number: usize, thread: pid_t, cpu: u32) {
        let bits = u64::from(thread as u32) << 32 | u64::from(cpu);
        self.0[TEAM + number].store(bits, Ordering::Relaxed);
    }

    /// The thread that was member `number` has ended.
    pub fn forget_member(self, number: usize, thread: pid_t) {
        if self.member(number).0 == thread {
            self.0[TEAM + number].store(0, Ordering::Relaxed);
        }
    }

    /// Gives all packed members their masks back, spread over the contexts.
    /// `is_there` says whether a thread may be touched.
    pub fn restore(self, is_there: impl Fn(pid_t) -> bool) {
        let (packed, wide) = (self.packed(), self.wide());
        let mut members = [(0, 0); MEMBERS];
        let mut count = 0;
        for (thread, from) in (0..MEMBERS).map(|number| self.member(number)) {
            // Members of an earlier, larger team are not packed.
            if thread != 0 && is_there(thread) && affinity::of(thread) == Some(packed) {
                members[count] = (thread, from);
                count += 1;
            }
        }
        let members = &mut members[..count];
        spread(members, &wide);
        members.iter().for_each(|&(thread, cpu)| affinity::widen(thread, &packed, &wide, cpu));
    }
}

/// Gives each member a context of `wide`: the one that it came from, unless others have taken its share. No context gets
/// two members more than another.
///
/// Threads that wait for each other in a loop take twice as long where three share a context, and the kernel may leave
/// them there for a tenth of a second.
fn spread(members: &mut [(pid_t, u32)], wide: &Mask) {
    let mut on = [0u16; WORDS * 64];
    let share = (members.len() / affinity::contexts(wide).count().max(1)).max(1);
    let mut stays = [false; MEMBERS];
    for (stays, &mut (_, cpu)) in stays.iter_mut().zip(members.iter_mut()) {
        *stays = affinity::has(wide, cpu) && usize::from(on[cpu as usize]) < share;
        if *stays {
            on[cpu as usize] += 1;
        }
    }
    for (_, (_, cpu)) in stays.iter().zip(members).filter(|(stays, _)| !**stays) {
        let least = affinity::contexts(wide).min_by_key(|&it| (on[it as usize], it != *cpu));
        let Some(least) = least else { return };
        *cpu = least;
        on[least as usize] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dead_process_leaves_its_slot() {
        let words: Vec<AtomicU64> = (0..Table::BYTES / 8).map(|_| AtomicU64::new(0)).collect();
        let table = Table::new(&words).expect("a new table");
        // Beyond the largest number of a process.
        let dead = |number| Owner::new(u32::MAX - number, 7).expect("an owner");
        for number in 0..SLOTS as u32 {
            assert_eq!(table.enter(dead(number)).and_then(Slot::owner), Some(dead(number)));
        }
        let own = Owner::of_process(std::process::id()).expect("this process");
        let slot = table.enter(own).expect("the slot of a dead one");
        assert_eq!(
            (slot.owner(), table.enter(own).map(|slot| slot.0.as_ptr())),
            (Some(own), Some(slot.0.as_ptr()))
        );
        slot.leave();
        assert_eq!(slot.owner(), None);
        assert!(!table.is_watched(Duration::from_secs(9), Duration::from_secs(1)));
        table.lives(Watcher::Command, Duration::from_secs(9));
        table.lives(Watcher::Second, Duration::from_secs(7));
        assert!(!table.is_watched(Duration::from_secs(9), Duration::from_secs(1)));
        assert!(table.is_watched(Duration::from_secs(9), Duration::from_secs(2)));
    }

    #[test]
    fn times_of_watchers_reach_the_library() {
        let words: Vec<AtomicU64> = (0..Slot::LENGTH).map(|_| AtomicU64::new(0)).collect();
        let slot = Slot::alone(&words).expect("long enough");
        let at = Duration::from_millis;
        assert!(slot.ask(at(100)) && !slot.ask(at(107)), "asked once");
        slot.wakes(at(108));
        assert_eq!(slot.late(), at(8), "since the first question");
        let word = slot.word();
        assert!(word.forget(word.seen()) && slot.ask(at(200)));
        slot.wakes(at(201));
        assert_eq!(slot.late(), at(6), "a late wake is forgotten slowly");
        assert_eq!(slot.packed_for(at(210)), None, "no mask is restored");
        slot.restored_at(at(214));
        assert_eq!(slot.packed_for(at(210)), Some(at(4)));
        assert_eq!(slot.packed_for(at(220)), None, "that was another one");
    }

    #[test]
    fn members_are_spread_and_stay_where_they_may() {
        let mut wide: Mask = [0; WORDS];
        (wide[0], wide[1]) = (0b1011, 1);
        let spread = |from: &[u32]| {
            let mut members: Vec<(pid_t, u32)> = from.iter().map(|&cpu| (7, cpu)).collect();
            super::spread(&mut members, &wide);
            members.into_iter().map(|(_, cpu)| cpu).collect::<Vec<_>>()
        };
        assert_eq!(spread(&[3, 0]), [3, 0]);
        assert_eq!(spread(&[1, 1, 0]), [1, 3, 0], "two came from the same one");
        assert_eq!(spread(&[2, 99]), [0, 1], "they may not go back");
        assert_eq!(spread(&[0, 0, 64, 64, 64, 3, 1, 1]), [0, 0, 64, 64, 3, 3, 1, 1]);
        assert_eq!(spread(&[0, 0, 0, 0, 0, 0]), [0, 1, 3, 64, 0, 1]);
        assert_eq!(spread(&[0, 0, 3, 3, 64, 1]), [0, 0, 3, 3, 64, 1], "two more than contexts");
        let all: Vec<u32> = (0..4 * MEMBERS as u32).map(|at| at * at % 5).collect();
        for count in 0..MEMBERS {
            let cpus = spread(&all[..count]);
            let on =
                affinity::contexts(&wide).map(|it| cpus.iter().filter(|cpu| **cpu == it).count());
            let on: Vec<usize> = on.collect();
            let (least, most) = (on.iter().min(), on.iter().max());
            assert!(most.zip(least).is_some_and(|(most, least)| most - least <= 1), "{on:?}");
            assert_eq!(on.iter().sum::<usize>(), count);
        }
    }
}
