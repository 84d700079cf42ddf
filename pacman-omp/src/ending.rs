//! The process ends, becomes another program, or installs a filter of its system calls.

use pacman_core::system_calls;

use crate::adapt;
use crate::arena;
use crate::counting::EventPlan;
use crate::defect;
use crate::energy;
use crate::isolation::{isolated, isolated_memory};
use crate::module;
use crate::notes;
use crate::packing;
use crate::process;
use crate::region;
use crate::scheduling;
use crate::unreached;

/// The process ends through its exit handlers.
pub(crate) extern "C" fn at_exit() {
    if process::is_own() {
        isolated(unreached::note);
        if process::plan().times_waits() && !system_calls::are_forbidden() {
            isolated(scheduling::record);
        }
        if process::plan().meters() {
            isolated(energy::finish);
        }
        if process::plan().adapts() {
            region::all().into_iter().for_each(adapt::record_outcome);
        }
        // The recording above may have failed.
        isolated_memory(|| defect::line().into_iter().for_each(notes::note));
        end(false);
    }
}

/// The program is about to install a filter of its system calls. From here on the library makes only calls that
/// OpenMP programs make: for memory, and to wait for each other.
pub(crate) fn restrict() {
    if system_calls::are_forbidden() || !process::is_own() {
        return;
    }
    adapt::mask_matters();
    packing::end();
    isolated(|| {
        module::meet_all();
        EventPlan::current();
        energy::stop();
        arena::map_ahead();
        notes::note(FILTERED.to_owned());
    });
    system_calls::forbid();
    process::advance_config_epoch();
}

const FILTERED: &str = "the program filters its system calls: from then on no region is adapted, events are \
                        counted where that takes no call, waits are not divided by processors, and child \
                        processes are not recorded";

/// The process ends without its exit handlers, or becomes another program.
///
/// The caller may be a signal handler that interrupted any code, so this only stores numbers.
pub(crate) fn leave(becomes_another: bool) {
    if process::is_own() {
        end(becomes_another);
    }
}

fn end(becomes_another: bool) {
    adapt::leave_shared();
    packing::leave_slot();
    arena::end(becomes_another, process::own(process::clock().now()).1);
}
