//! Calls of the runtimes in which threads wait.
//!
//! Without a request for waits an entry only goes on to the real function. `barriers` has libomp's barriers.

use std::ffi::c_void;

use pacman_regions::Cause;

use super::call::{Call, Onward};
use super::watched;
use crate::arch::forwarded;
use crate::function::Function;
use crate::worker::Worker;
use crate::worker::records::Ending;
use crate::worker::waits;

macro_rules! waits {
    ($($cause:ident { $($name:ident)+ })+) => {
        $($(forwarded!("pacman_omp_waits" $name);)+)+

        /// The cause of a wait in a function of the kind `Waits`.
        fn cause(function: Function) -> Option<Cause> {
            match function {
                $($(Function::$name)|+ => Some(Cause::$cause),)+
                _ => None,
            }
        }
    };
}

waits! {
    Barrier { GOMP_barrier GOMP_barrier_cancel __kmpc_barrier_master __kmpc_barrier_master_nowait }
    Loop { GOMP_loop_end GOMP_loop_end_cancel }
    Worksharing { GOMP_workshare_task_reduction_unregister }
    Sections { GOMP_sections_end GOMP_sections_end_cancel }
    // Of libgomp's two, threads that do not run the block wait in the first, and the one that does in the
    // second.
    Single {
        GOMP_single_copy_start GOMP_single_copy_end __kmpc_copyprivate __kmpc_copyprivate_light
    }
    Critical {
        GOMP_critical_start GOMP_critical_name_start __kmpc_critical __kmpc_critical_with_hint
    }
    Atomic { GOMP_atomic_start __kmpc_atomic_start }
    Ordered {
        GOMP_ordered_start GOMP_doacross_wait GOMP_doacross_ull_wait
        __kmpc_ordered __kmpc_doacross_wait
    }
    Taskwait {
        GOMP_taskwait GOMP_taskwait_depend
        __kmpc_omp_taskwait __kmpc_omp_taskwait_deps_51 __kmpc_omp_wait_deps
    }
    Taskgroup { GOMP_taskgroup_end __kmpc_end_taskgroup }
    Lock {
        omp_set_lock omp_set_lock_ omp_set_nest_lock omp_set_nest_lock_
        __kmpc_set_lock __kmpc_set_nest_lock
    }
    // The first may wait for a lock, the others for the team as well.
    Reduction { __kmpc_reduce_nowait __kmpc_reduce __kmpc_end_reduce }
}

/// Begins to time a call of a function of the kind `Waits`, if it is timed.
pub(super) fn begin(call: &Call, real: *mut c_void) -> Option<Onward> {
    let worker = Worker::known()?;
    let open = waits::begin(worker, cause(call.function)?, call.caller, call.slot.addr())?;
    Some(call.in_place(worker, real, Ending::Wait(open)))
}

/// Begins to time a request for a chunk of a loop, if the thread is in a part.
pub(super) fn begin_chunk(call: &Call, real: *mut c_void) -> Option<Onward> {
    let worker = Worker::known()?;
    if !worker.waits.part().is_none() {
        worker.waits.chunks.calibrate(request_nothing);
    }
    let begun = waits::begin_chunk(worker, call.caller, call.slot.addr())?;
    Some(call.in_place(worker, real, Ending::Chunk(begun)))
}

/// Whether a request of this thread measures what timing takes.
pub(super) fn is_calibrating() -> bool {
    Worker::known().is_some_and(|worker| worker.waits.chunks.is_calibrating())
}

/// Makes a request for a chunk that does nothing: the thread [`is_calibrating`].
fn request_nothing() {
    let entry: unsafe extern "C" fn() -> ! = watched::GOMP_loop_static_next;
    // SAFETY: the entry returns to its caller, as the function that it stands for does. That one is not called.
    unsafe {
        let request: extern "C" fn() -> bool = std::mem::transmute(std::hint::black_box(entry));
        request();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function::CallKind;

    #[test]
    fn each_function_of_the_kind_has_a_cause_and_no_other() {
        for number in 0..Function::COUNT as u32 {
            let function = Function::numbered(number);
            let waits = function.kind() == CallKind::Waits;
            assert_eq!(cause(function).is_some(), waits, "{}", function.name());
        }
    }
}
