//! The waiting constructs of the process.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use pacman_regions::Cause;
use pacman_regions::arena::state;

use crate::function::Function;
use crate::interpose;
use crate::lock::Lock;
use crate::module::Module;
use crate::recording;
use crate::region;

pub(crate) static SITES: Lock<Sites> =
    Lock::new(Sites { by_address: BTreeMap::new(), by_place: BTreeMap::new() });

/// The numbers of constructs.
#[derive(Debug)]
pub(crate) struct Sites {
    /// By return address and cause; of modules that are loaded now.
    by_address: BTreeMap<(u64, Cause), u32>,
    by_place: BTreeMap<(Place, Cause), u32>,
}

/// The place of a call: the address of the file's facts, the address in the file's symbol table, and the tag of a
/// function.
type Place = (usize, u64, u64);

/// Counts the times at which addresses of constructs were forgotten.
static FORGOTTEN: AtomicU32 = AtomicU32::new(0);

/// The bits of an address of code.
const ADDRESS: u32 = 48;

/// The return address of a call of MPI together with the function: calls of several functions may return
/// to one place, which calls by a pointer.
#[inline]
pub(crate) fn tagged(caller: u64, function: Function) -> u64 {
    caller | (function as u64 + 1) << ADDRESS
}

/// The number of the construct in `region` whose call returns to `caller`, or the number of a call of
/// MPI by its [`tagged`] address. Records a new one.
///
/// The last call of a body is a jump in optimised programs, and returns to this library. The body is its
/// place.
#[cold]
pub(crate) fn number(region: u32, caller: u64, cause: Cause) -> u32 {
    let caller = match region::numbered(region) {
        Some(region) if interpose::is_own(caller & ((1 << ADDRESS) - 1)) => {
            caller >> ADDRESS << ADDRESS | (region.body() + 1)
        }
        _ => caller,
    };
    let tag = (caller >> ADDRESS).checked_sub(1).filter(|_| cause == Cause::Mpi);
    let call = tag.map(|number| Function::numbered(number as u32).mpi_name());
    // Search before the lock: the search has a lock of its own.
    let address = (caller & ((1 << ADDRESS) - 1)).saturating_sub(1);
    let module = Module::of(address);
    let at = address.wrapping_sub(module.bias);
    let place = ((std::ptr::from_ref(module.file).addr(), at, caller >> ADDRESS), cause);
    let mut sites = SITES.lock();
    let Sites { by_address, by_place } = &mut *sites;
    let next = state::SITES + by_place.len() as u32;
    *by_address.entry((caller, cause)).or_insert_with(|| {
        *by_place.entry(place).or_insert_with(|| {
            let file = (&*module.path, module.identity.as_ref());
            recording::wait_site(next, (cause, call), at, file);
            next
        })
    })
}

/// The number of times at which constructs were forgotten. While it stays the same, a construct that a thread
/// has met is still there.
#[inline(always)]
pub(crate) fn forgotten() -> u32 {
    // ATOMICS: no thread waits in code that is gone.
    FORGOTTEN.load(Ordering::Relaxed)
}

/// Whether a call that returns to `caller` is the construct of that number.
#[cold]
pub(crate) fn is(caller: u64, number: u32) -> bool {
    let sites = SITES.lock();
    let known = sites.by_address.range((caller, Cause::ALL[0])..);
    let mut known = known.take_while(|((address, _), _)| *address == caller);
    known.any(|(_, known)| *known == number)
}

/// Forgets the constructs whose calls are at `addresses`: their module is not there any more, or is about to go.
pub(crate) fn forget(addresses: &Range<u64>) {
    let mut sites = SITES.lock();
    let before = sites.by_address.len();
    sites.by_address.retain(|(caller, _), _| !addresses.contains(&(caller & ((1 << ADDRESS) - 1))));
    if sites.by_address.len() < before {
        FORGOTTEN.fetch_add(1, Ordering::Relaxed);
    }
}
