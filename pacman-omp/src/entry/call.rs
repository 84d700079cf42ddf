//! A call of an entry, and where it goes on; see `forward.rs`.

use std::ffi::c_void;
use std::ptr::null_mut;

use crate::arch::REGISTERS;
use crate::function::Function;
use crate::worker::Worker;
use crate::worker::records::{Ending, Record};

/// Where a call goes.
#[repr(C)]
pub(super) struct Onward {
    pub(super) target: *const c_void,
    /// Null if the call is a jump.
    pub(super) record: *mut Record,
}

impl Onward {
    pub(super) fn jump(target: *const c_void) -> Onward {
        Onward { target, record: null_mut() }
    }
}

/// The arguments of a call in registers, in their order. Changes reach the real function.
pub(super) type Registers = [u64; REGISTERS];

/// A call of an entry.
pub(super) struct Call {
    pub(super) function: Function,
    /// The return address.
    pub(super) caller: u64,
    /// The address of the slot that has it, or a copy of it. Arguments on the stack follow.
    pub(super) slot: *const u64,
}

impl Call {
    /// The argument of that number, counted from 0.
    ///
    /// # Safety
    /// The caller must have passed it. The registers must be those of the call.
    #[inline]
    pub(super) unsafe fn argument(&self, number: usize, registers: &Registers) -> u64 {
        match registers.get(number) {
            Some(&argument) => argument,
            // SAFETY: as the caller guarantees; the first is right behind the return address.
            None => unsafe { *self.slot.add(1 + number - REGISTERS) },
        }
    }

    /// The call in place, at whose end `ending` is due.
    #[inline]
    pub(super) fn in_place(&self, worker: &Worker, real: *mut c_void, ending: Ending) -> Onward {
        let record = worker.records.take(self.slot.addr(), ending);
        Onward { target: real, record }
    }
}
