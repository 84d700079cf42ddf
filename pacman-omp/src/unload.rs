//! The end of modules: nothing that the library knows by an address outlives the module at that address.
//!
//! Executions do not check it. [`look`] runs after each `dlclose`, and compares the loader's list with the modules
//! that were met: one call may unload several modules, or none. [`ended`] runs when a module has done its last
//! act, before its memory is free for another one. It also hears of modules that the C library unloads by
//! itself.

use std::ops::Range;

use crate::interpose;
use crate::isolation::isolated;
use crate::listed;
use crate::module;
use crate::process;
use crate::region;
use crate::runtime;
use crate::users;
use crate::waits;
use crate::worker;

/// Modules may have been unloaded.
pub(crate) fn look() {
    isolated(|| {
        loop {
            let gone = module::gone();
            gone.iter().for_each(forget);
            // Others may go with their last user.
            if !gone.iter().any(users::release) {
                break;
            }
        }
    });
}

/// The module that has `address` in its data has run its destructors. At the end of the process its code may
/// run all the same, and is met again then.
pub(crate) fn ended(address: u64) {
    if !interpose::is_own(address) {
        isolated(|| {
            listed::forget(address);
            module::met_at(address).iter().for_each(forget);
        });
    }
}

/// Forgets all that is known by the addresses of a module.
fn forget(addresses: &Range<u64>) {
    region::end(addresses);
    interpose::forget(addresses);
    runtime::forget(addresses);
    waits::forget_sites(addresses);
    worker::forget_bodies(addresses);
    // Decisions hold for a runtime that is there, and for the teams that it has.
    process::may_change_teams();
}
