//! The records of calls that the library makes in place; see `forward.rs`.
//!
//! A record has the return address of its call, so it serves no other call before that one is over. The
//! order in which calls end does not matter: a coroutine may leave its thread in a call. A call that the
//! program leaves by `longjmp` shows when its slot on the stack is used again.

use std::cell::Cell;
use std::ffi::{c_char, c_void};
use std::mem::MaybeUninit;
use std::ptr::null_mut;

use pacman_regions::PhaseKind;

use crate::isolation::isolated_memory;
use crate::lock::Lock;
use crate::waits::{OpenWait, PartKey};

/// Words of a task's data for which a record has room.
pub(crate) const FEW: usize = 48;

/// One call in place. The assembly uses the first two fields.
#[repr(C)]
pub(crate) struct Record {
    return_address: u64,
    /// The register that has the record during the call.
    register: u64,
    /// The address of the slot that had the return address.
    slot: usize,
    next: *mut Record,
    pub(crate) ending: Ending,
    /// The data of a task.
    pub(crate) few: [MaybeUninit<u64>; FEW],
}

/// The work that is due at the end of a call.
#[derive(Default)]
pub(crate) enum Ending {
    #[default]
    Nothing,
    Wait(OpenWait),
    Mpi(OpenWait),
    /// When the request for a chunk began.
    Chunk(u64),
    /// The wait for the group of a taskloop, and data for which the record has no room. The runtime has
    /// copied or used them by then.
    Task(Option<OpenWait>, Vec<MaybeUninit<u64>>),
    Block(BlockOrigin),
    /// The phase that a marker begins, with its name.
    Marker(PhaseKind, *const c_char),
}

/// A task of libomp that is being made.
pub(crate) struct BlockOrigin {
    pub(crate) part: PartKey,
    pub(crate) body: *const c_void,
    /// The size of the block, with room for what the library keeps in it.
    pub(crate) size: usize,
}

/// The records of one thread. Only that thread uses them.
pub(crate) struct Records {
    free: Cell<*mut Record>,
    /// Of calls that have not ended, the latest first.
    live: Cell<*mut Record>,
}

impl Default for Records {
    fn default() -> Records {
        Records { free: Cell::new(null_mut()), live: Cell::new(null_mut()) }
    }
}

/// A list of records of threads that have ended.
struct List(*mut Record);

// SAFETY: no thread has a record of the list.
unsafe impl Send for List {}

static LEFT: Lock<List> = Lock::new(List(null_mut()));

impl Records {
    /// A record for a call whose return address is in `slot`.
    #[inline]
    pub(crate) fn take(&self, slot: usize, ending: Ending) -> *mut Record {
        self.forget_left(slot);
        let mut record = self.free.get();
        if record.is_null() {
            record = more();
        }
        // SAFETY: a record of the free list or a new one, which no call has. Records are never freed.
        unsafe {
            self.free.set((*record).next);
            (*record).slot = slot;
            (*record).ending = ending;
            (*record).next = self.live.get();
        }
        self.live.set(record);
        record
    }

    /// Takes back the record of a call whose slot `slot` is in use again. A live call has another address
    /// there: one that the real function continues with a jump is not made in place. Calls around the new
    /// one have higher slots on the same stack.
    #[inline]
    fn forget_left(&self, slot: usize) {
        let mut record = self.live.get();
        // SAFETY: as in `take`.
        unsafe {
            while !record.is_null() && (*record).slot <= slot {
                let next = (*record).next;
                if (*record).slot == slot {
                    drop_ending(&mut *record);
                    self.give_back(record);
                }
                record = next;
            }
        }
    }

    /// A call has ended. One that began on another thread leaves its record there.
    #[inline]
    pub(crate) fn give_back(&self, record: *mut Record) {
        // SAFETY: as in `take`.
        unsafe {
            if self.live.get() == record {
                self.live.set((*record).next);
            } else if let Some(before) = self.before(record) {
                (*before).next = (*record).next;
            } else {
                return;
            }
            (*record).next = self.free.get();
        }
        self.free.set(record);
    }

    #[cold]
    fn before(&self, record: *mut Record) -> Option<*mut Record> {
        let mut before = self.live.get();
        // SAFETY: as in `take`.
        unsafe {
            while !before.is_null() && (*before).next != record {
                before = (*before).next;
            }
        }
        (!before.is_null()).then_some(before)
    }

    /// The record at that address, if a call of this thread has it.
    pub(crate) fn live_at(&self, address: usize) -> Option<*mut Record> {
        let mut record = self.live.get();
        // SAFETY: as in `take`.
        unsafe {
            while !record.is_null() && record.addr() != address {
                record = (*record).next;
            }
        }
        (!record.is_null()).then_some(record)
    }

    /// The thread ends. Records of calls that have not ended are in no list from now on.
    pub(crate) fn retire(&self) {
        let mut record = self.free.replace(null_mut());
        if record.is_null() {
            return;
        }
        let mut left = LEFT.lock();
        while !record.is_null() {
            // SAFETY: as in `take`.
            unsafe {
                let next = (*record).next;
                (*record).next = left.0;
                left.0 = record;
                record = next;
            }
        }
    }
}

/// A call that nothing ends has data of its own only if it made a large task.
fn drop_ending(record: &mut Record) {
    if let Ending::Task(_, many) = std::mem::take(&mut record.ending) {
        free(many);
    }
}

/// Frees data for which a record has no room.
pub(crate) fn free(many: Vec<MaybeUninit<u64>>) {
    if many.capacity() > 0 {
        isolated_memory(|| drop(many));
    }
}

/// A record that no thread has.
#[cold]
#[inline(never)]
fn more() -> *mut Record {
    isolated_memory(|| {
        let mut left = LEFT.lock();
        let record = left.0;
        if record.is_null() {
            return Box::into_raw(Box::new(Record {
                return_address: 0,
                register: 0,
                slot: 0,
                next: null_mut(),
                ending: Ending::Nothing,
                few: [MaybeUninit::uninit(); FEW],
            }));
        }
        // SAFETY: no thread has a record of the list.
        unsafe {
            left.0 = (*record).next;
            (*record).next = null_mut();
        }
        record
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The slots of the live calls, the latest first.
    fn live(records: &Records) -> Vec<usize> {
        let mut slots = Vec::new();
        let mut record = records.live.get();
        // SAFETY: records are never freed.
        unsafe {
            while !record.is_null() {
                slots.push((*record).slot);
                record = (*record).next;
            }
        }
        slots
    }

    #[test]
    fn calls_end_in_any_order_and_records_are_used_again() {
        let records = Records::default();
        let calls = [900, 800, 700].map(|slot| records.take(slot, Ending::Nothing));
        assert_eq!(live(&records), [700, 800, 900]);
        records.give_back(calls[1]);
        assert_eq!(live(&records), [700, 900]);
        let again = records.take(600, Ending::Nothing);
        assert_eq!(again, calls[1]);
        [calls[0], again, calls[2]].into_iter().for_each(|call| records.give_back(call));
        assert_eq!(live(&records), [0; 0]);
    }

    #[test]
    fn a_call_that_was_left_by_a_jump_gives_its_record_to_the_next_one_at_its_place() {
        let records = Records::default();
        let outer = records.take(900, Ending::Nothing);
        let left = records.take(700, Ending::Nothing);
        // Another one, deeper, is left behind: nothing says that it is not a coroutine's.
        records.take(600, Ending::Nothing);
        assert_eq!(records.take(700, Ending::Nothing), left);
        assert_eq!(live(&records), [700, 600, 900]);
        assert_eq!(records.live_at(outer.addr()), Some(outer));
        assert_eq!(records.live_at(outer.addr() + 8), None);
    }

    #[test]
    fn a_call_that_ends_on_another_thread_leaves_that_thread_s_records_alone() {
        let (first, second) = (Records::default(), Records::default());
        let moved = first.take(900, Ending::Nothing);
        let own = second.take(800, Ending::Nothing);
        second.give_back(moved);
        assert_eq!((live(&first), live(&second)), (vec![900], vec![800]));
        second.give_back(own);
        assert_ne!(second.take(700, Ending::Nothing), moved);
    }
}
