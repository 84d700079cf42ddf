//! A call of an entry, and where it goes on; see `forward.rs`.

use std::ffi::c_void;
use std::ptr::null_mut;

use super::records::{Ending, Record};
use crate::function::Function;
use crate::worker::Worker;

/// The entry of a function of that name: code of three instructions, which jumps to `$via` in `forward.rs`.
macro_rules! forwarded {
    ($via:literal $name:ident) => {
        // Inlined into code of this library, the entry would have no return address of its own.
        #[unsafe(export_name = concat!("pacman_omp_entry_", stringify!($name)))]
        #[inline(never)]
        pub unsafe extern "C" fn $name() -> ! {
            // SAFETY: goes on to the real function, which returns to the caller.
            unsafe {
                std::arch::asm!(
                    "lea r10, [rip - 7]",
                    "mov r11d, {number}",
                    concat!("jmp ", $via),
                    number = const $crate::function::Function::$name as u32,
                    options(noreturn)
                )
            }
        }
    };
}
pub(super) use forwarded;

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

/// The first six arguments of a call, in the order of the calling convention. Changes reach the real function.
pub(super) type Registers = [u64; 6];

/// A call of an entry.
pub(super) struct Call {
    pub(super) function: Function,
    /// The return address.
    pub(super) caller: u64,
    /// The address of the slot that has it. Arguments on the stack follow.
    pub(super) slot: *const u64,
}

impl Call {
    /// The argument on the stack of that number, counted from 0.
    ///
    /// # Safety
    /// The caller must have passed it.
    #[inline]
    pub(super) unsafe fn on_stack(&self, number: usize) -> u64 {
        // SAFETY: as the caller guarantees; the first is right behind the return address.
        unsafe { *self.slot.add(1 + number) }
    }

    /// The call in place, at whose end `ending` is due.
    #[inline]
    pub(super) fn in_place(&self, worker: &Worker, real: *mut c_void, ending: Ending) -> Onward {
        let record = worker.records.take(self.slot.addr(), ending);
        Onward { target: real, record }
    }
}
