//! The waiting constructs of the process.

use std::collections::BTreeMap;

use pacman_core::fork::Lock;
use pacman_regions::Cause;
use pacman_regions::arena::state;

use crate::function::Function;
use crate::interpose;
use crate::module::Module;
use crate::recording;
use crate::region;

/// The numbers of constructs, by return address and cause.
pub(crate) static SITES: Lock<BTreeMap<(u64, Cause), u32>> = Lock::new(BTreeMap::new());

/// The bits of an address of code.
const ADDRESS: u32 = 48;

/// The return address of a call of MPI together with the function: calls of several functions may return
/// to one place, which calls by a pointer.
#[inline]
pub(super) fn tagged(caller: u64, function: Function) -> u64 {
    caller | (function as u64 + 1) << ADDRESS
}

/// The number of the construct in `region` whose call returns to `caller`, or the number of a call of
/// MPI by its [`tagged`] address. Records a new one.
///
/// The last call of a body is a jump in optimised programs, and returns to this library. The body is its
/// place.
#[cold]
pub(super) fn number(region: u32, caller: u64, cause: Cause) -> u32 {
    let caller = match region::numbered(region) {
        Some(region) if interpose::is_own(caller & ((1 << ADDRESS) - 1)) => {
            caller >> ADDRESS << ADDRESS | (region.body + 1)
        }
        _ => caller,
    };
    let tag = (caller >> ADDRESS).checked_sub(1).filter(|_| cause == Cause::Mpi);
    let call = tag.map(|number| Function::numbered(number as u32).mpi_name());
    // Search before the lock: the search has a lock of its own.
    let address = (caller & ((1 << ADDRESS) - 1)).saturating_sub(1);
    let module = Module::of(address);
    let mut sites = SITES.lock();
    let next = state::SITES + sites.len() as u32;
    *sites.entry((caller, cause)).or_insert_with(|| {
        recording::wait_site(next, (cause, call), address.wrapping_sub(module.bias), &module.path);
        next
    })
}
