//! The waits of one thread by region and construct, before they are in the rows.

use std::ptr;

use pacman_regions::Cause;
use pacman_regions::arena::{WaitRow, state};

use super::sites;
use crate::rows;

/// Identifies a row of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    /// The return address of the call, or one of the numbers in [`state`].
    pub(super) caller: u64,
    pub(super) region: u32,
    pub(super) thread: u32,
}

impl Key {
    /// Whether it is no construct, but a state.
    fn is_state(&self) -> bool {
        self.caller < u64::from(state::SITES)
    }

    fn hash(&self) -> usize {
        let part = u64::from(self.region) << 32 | u64::from(self.thread);
        // Fibonacci hashing; calls in one function are close to each other.
        let mixed = (self.caller ^ part.wrapping_mul(0xd6e8_feb8_6659_fd93))
            .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 32) as usize
    }
}

struct Entry {
    key: Key,
    /// It has the waits of the part under way apart: a process may end in it.
    row: &'static WaitRow,
    /// See [`sites::forgotten`].
    forgotten: u32,
}

impl Entry {
    /// Whether the construct is still there, after modules were unloaded.
    #[cold]
    fn is_there(&mut self) -> bool {
        let is_there = self.key.is_state() || sites::is(self.key.caller, self.row.key().2);
        if is_there {
            self.forgotten = sites::forgotten();
        }
        is_there
    }
}

/// Waits get into the sums of the rows when their part ends, as the part's time does.
#[derive(Default)]
pub(super) struct Table {
    entries: Vec<Entry>,
    /// One more than the place in `entries`; 0 where it is free. The length is a power of two.
    index: Vec<u32>,
    /// The places of entries with waits of parts under way.
    touched: Vec<u32>,
}

impl Table {
    /// Adds waits, or a state; not both numbers are 0. Without the entry, or if the construct is another one by now,
    /// it answers false.
    #[inline]
    pub(super) fn add(&mut self, key: &Key, count: u64, ticks: u64) -> bool {
        let Some(place) = self.find(key) else { return false };
        let entry = &mut self.entries[place];
        if entry.forgotten != sites::forgotten() && !entry.row.is_open() && !entry.is_there() {
            return false;
        }
        if entry.row.add_open(count, ticks) {
            // `enter` has reserved the room.
            self.touched.push(place as u32);
        }
        true
    }

    #[inline]
    fn find(&self, key: &Key) -> Option<usize> {
        let mask = self.index.len().checked_sub(1)?;
        let mut at = key.hash() & mask;
        loop {
            let place = (self.index[at] as usize).checked_sub(1)?;
            if self.entries[place].key == *key {
                return Some(place);
            }
            at = (at + 1) & mask;
        }
    }

    /// The number of a construct that the thread has met in that region.
    pub(super) fn site(&self, key: &Key) -> Option<u32> {
        Some(self.entries[self.find(key)?].row.key().2)
    }

    /// Makes the entry of a construct that the thread has not met in that region.
    pub(super) fn enter(&mut self, key: &Key, cause: Cause) {
        let site = match u32::try_from(key.caller) {
            Ok(number) if number < state::SITES => number,
            _ => sites::number(key.region, key.caller, cause),
        };
        let known = self.find(key);
        if let Some(place) = known {
            // Another construct is at this address now.
            rows::give_back_waits(std::iter::once(self.entries[place].row));
        }
        let row = rows::wait_row(key.region, key.thread, site);
        let entry = Entry { key: *key, row, forgotten: sites::forgotten() };
        if let Some(place) = known {
            self.entries[place] = entry;
            return;
        }
        self.entries.push(entry);
        let room = self.entries.capacity() - self.touched.len();
        self.touched.reserve(room);
        if self.entries.len() * 2 > self.index.len() {
            let length = (self.entries.len() * 4).next_power_of_two().max(32);
            self.index = vec![0; length];
            (0..self.entries.len()).for_each(|place| self.link(place));
        } else {
            self.link(self.entries.len() - 1);
        }
    }

    fn link(&mut self, place: usize) {
        let mask = self.index.len() - 1;
        let mut at = self.entries[place].key.hash() & mask;
        while self.index[at] != 0 {
            at = (at + 1) & mask;
        }
        self.index[at] = place as u32 + 1;
    }

    /// The number of entries with waits of parts under way.
    #[inline]
    pub(super) fn mark(&self) -> usize {
        self.touched.len()
    }

    /// Moves the waits and states since `mark` into the sums of the rows, each `weight` times. Answers the number of
    /// the waits.
    #[inline]
    pub(super) fn flush(&mut self, mark: usize, weight: u64) -> u64 {
        let mut timed = 0;
        while self.touched.len() > mark {
            let Some(place) = self.touched.pop() else { break };
            let entry = &self.entries[place as usize];
            let count = entry.row.close(weight);
            // Below are the numbers of states.
            if entry.key.caller >= u64::from(state::SITES) {
                timed += count;
            }
        }
        timed
    }

    /// Moves waits outside of regions into the rows. They ended at `until`.
    #[inline]
    pub(super) fn flush_outside(&mut self, until: u64) {
        for &place in &self.touched {
            self.entries[place as usize].row.ended(until);
        }
        self.flush(0, 1);
    }

    /// The rows of the thread.
    pub(super) fn rows(&self) -> impl Iterator<Item = &'static WaitRow> {
        self.entries.iter().map(|entry| entry.row)
    }

    /// In the child of a fork: all rows are the parent's.
    pub(super) fn forget(&mut self) {
        *self = Table::default();
    }
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table").field("at", &ptr::from_ref(self)).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_reach_their_rows_when_the_part_ends() {
        let mut table = Table::default();
        let key = |caller: u64, thread: u32| Key { caller, region: 3, thread };
        let keys: Vec<Key> =
            (0..500).map(|place| key(0x40_0000 + 5 * place, (place % 7) as u32)).collect();
        for own in &keys {
            assert!(!table.add(own, 1, 1), "{own:?} is new");
            table.enter(own, Cause::Barrier);
            assert!(table.add(own, 1, 4) && table.add(own, 1, 5));
        }
        assert_eq!(table.mark(), keys.len());
        let inner = key(u64::from(state::LATE_TASKS), 9);
        table.enter(&inner, Cause::Barrier);
        let mark = table.mark();
        table.add(&inner, 1, 6);
        assert_eq!(table.flush(mark, 3), 0, "a state is no wait");
        assert_eq!(table.mark(), keys.len(), "the outer part's are not in the rows");
        assert_eq!(table.flush(0, 1), 2 * 500);
        assert_eq!(table.mark(), 0);
        let known: Vec<_> = table.rows().map(|row| (row.key(), row.sum())).collect();
        assert_eq!(known.len(), keys.len() + 1);
        assert_eq!(known[500], ((3, 9, state::LATE_TASKS), (3, 18)));
        assert!(known[..500].iter().all(|(key, sum)| key.0 == 3 && *sum == (2, 9)));
        let sites: std::collections::BTreeSet<u32> = known.iter().map(|(key, _)| key.2).collect();
        assert_eq!(sites.len(), 501, "each construct has a number");
    }
}
