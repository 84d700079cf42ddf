//! The waiting constructs of the process.

use std::collections::BTreeMap;

use pacman_core::fork::Lock;
use pacman_regions::Cause;
use pacman_regions::arena::state;

use crate::module::Module;
use crate::recording;

/// The numbers of constructs, by return address and cause.
pub(crate) static SITES: Lock<BTreeMap<(u64, Cause), u32>> = Lock::new(BTreeMap::new());

/// The number of the construct whose call returns to `caller`. Records a new one.
#[cold]
pub(super) fn number(caller: u64, cause: Cause) -> u32 {
    // Search before the lock: the search has a lock of its own.
    let address = caller.saturating_sub(1);
    let module = Module::of(address);
    let mut sites = SITES.lock();
    let next = state::SITES + sites.len() as u32;
    *sites.entry((caller, cause)).or_insert_with(|| {
        recording::wait_site(next, cause, address.wrapping_sub(module.bias), &module.path);
        next
    })
}
