//! Watched calls, which go on to the real function unchanged.

use std::ffi::c_void;

use super::call::{Call, Registers};
use super::mpi;
use crate::adapt;
use crate::adapted;
use crate::arch;
use crate::arch::forwarded;
use crate::block_time;
use crate::ending;
use crate::first_region;
use crate::function::{CallKind, Function, functions};
use crate::interpose;
use crate::packing;
use crate::process;
use crate::seen::Seen;
use crate::worker::Worker;

macro_rules! entries {
    ({ $($called:ident)+ } $($kind:ident { $($name:ident)+ })+) => {
        $($(entries!($kind $name);)+)+
    };
    // The library has no entry of these names.
    (Called $name:ident) => {};
    // `mpi` has these.
    (Mpi $name:ident) => {};
    // `unloads` has these.
    (Unloads $name:ident) => {};
    // `kokkos` and `markers` have these.
    (Marks $name:ident) => {};
    // `waits` has these.
    (Waits $name:ident) => {};
    // `tasks` has these.
    (Task $name:ident) => {};
    (Taskloop $name:ident) => {};
    (TaskBlock $name:ident) => {};
    // Most are only counted.
    (Chunks $name:ident) => {
        forwarded!("pacman_omp_chunks" $name);
    };
    // Only the first call matters.
    (Neutral $name:ident) => {
        forwarded!("pacman_omp_passed" $name);
    };
    (CountsThreads $name:ident) => {
        forwarded!("pacman_omp_passed" $name);
    };
    // libgomp waits by it on some architectures.
    (Filters syscall) => {
        forwarded!("pacman_omp_system_calls" syscall);
    };
    ($kind:ident $name:ident) => {
        forwarded!("pacman_omp_watched" $name);
    };
}

functions!(entries);

/// Handles a call by which the program leaves this process, or the library's idea of its
/// affinity. Answers the function to go on to; `None` for calls of other kinds.
pub(super) fn leaves_process(call: &Call, arguments: &Registers) -> Option<*const c_void> {
    let function = match call.function {
        Function::syscall => stands_for(arguments[0] as i64),
        other => other,
    };
    match function.kind() {
        CallKind::Exits => ending::leave(false),
        CallKind::Execs => {
            adapt::mask_matters();
            packing::hands_on_mask();
            ending::leave(true);
        }
        CallKind::UsesAffinity => {
            adapt::mask_matters();
            if function.sets_mask() {
                first_region::mask_changes();
            }
            if packing::has_packed() {
                packing::end();
            }
        }
        // It asks for something else, such as the size of a page.
        CallKind::HandsOnMask if function == Function::sysconf && !asks_processors(arguments) => {}
        CallKind::HandsOnMask => {
            adapt::mask_matters();
            if function.shares_memory() {
                process::may_share_memory();
            }
            packing::hands_on_mask();
        }
        CallKind::Filters => {
            if installs_filter(call.function, arguments) {
                ending::restrict();
            }
        }
        _ => return None,
    }
    // libomp has functions for affinity, which may be a module's own.
    let next = interpose::next(call.function);
    let next = next.or_else(|| interpose::real_for(call.caller, call.function));
    Some(next.map_or(nothing as *const c_void, <*mut c_void>::cast_const))
}

/// The function that `syscall` stands for with that number. libnuma, for one, reads masks so.
const fn stands_for(number: i64) -> Function {
    match number {
        libc::SYS_sched_getaffinity => Function::sched_getaffinity,
        libc::SYS_sched_setaffinity => Function::sched_setaffinity,
        // The kernel gives a deadline to a thread with all contexts only.
        libc::SYS_sched_setattr => Function::sched_getaffinity,
        libc::SYS_clone | libc::SYS_clone3 => Function::clone,
        other if is(other, arch::FORK) => Function::posix_spawn,
        other if is(other, arch::VFORK) => Function::vfork,
        libc::SYS_execve | libc::SYS_execveat => Function::execve,
        libc::SYS_exit_group => Function::_exit,
        _ => Function::syscall,
    }
}

const fn is(number: i64, optional: Option<i64>) -> bool {
    matches!(optional, Some(known) if known == number)
}

/// Whether a system call of each number may mean anything to [`leaves_process`]: the entry lets the others go on.
pub(super) static HAS_MEANING: [bool; 512] = {
    let mut has_meaning = [false; 512];
    let mut number = 0;
    while number < has_meaning.len() {
        let call = number as i64;
        has_meaning[number] =
            filter_by(call).is_some() || !matches!(stands_for(call), Function::syscall);
        number += 1;
    }
    has_meaning
};

/// Whether a call of `sysconf` asks how many processors there are.
fn asks_processors(arguments: &Registers) -> bool {
    [libc::_SC_NPROCESSORS_ONLN, libc::_SC_NPROCESSORS_CONF].contains(&(arguments[0] as i32))
}

/// The system calls that can install a filter of system calls.
enum FilterCall {
    Prctl,
    Seccomp,
}

/// The one that has that number.
const fn filter_by(number: i64) -> Option<FilterCall> {
    match number {
        libc::SYS_prctl => Some(FilterCall::Prctl),
        libc::SYS_seccomp => Some(FilterCall::Seccomp),
        _ => None,
    }
}

/// Whether a call of `prctl` or `syscall` installs a filter of system calls. Without a program for the filter it
/// only asks whether the kernel knows the call.
fn installs_filter(function: Function, arguments: &Registers) -> bool {
    let &[first, second, third, fourth, ..] = arguments;
    let by_prctl = |option: u64| option as i32 == libc::PR_SET_SECCOMP;
    match function {
        Function::prctl => {
            by_prctl(first) && (second as u32 == libc::SECCOMP_MODE_STRICT || third != 0)
        }
        _ => match filter_by(first as i64) {
            Some(FilterCall::Prctl) => by_prctl(second),
            Some(FilterCall::Seccomp) => {
                let strict = second as u32 == libc::SECCOMP_SET_MODE_STRICT;
                strict || second as u32 == libc::SECCOMP_SET_MODE_FILTER && fourth != 0
            }
            None => false,
        },
    }
}

/// Notes a call of that kind.
#[inline]
pub(super) fn watch(kind: CallKind) {
    match kind {
        CallKind::Task | CallKind::Taskloop | CallKind::MakesTask => {
            if let Some(worker) = Worker::known().filter(|worker| worker.depth() > 0) {
                worker.saw(Seen::TASKS);
            }
        }
        CallKind::PushesNumThreads => Worker::here().pushes_size(),
        CallKind::SetsNumThreads => {
            // Inside of a region the program sets the size of the regions inside.
            let worker = process::plan().adapts().then(Worker::here);
            if let Some(worker) = worker.filter(|worker| worker.depth() == 0) {
                worker.sets_size();
            }
            process::may_change_teams();
        }
        CallKind::ChangesTeams => process::may_change_teams(),
        CallKind::Teams => adapted::runs_leagues(),
        CallKind::Changed | CallKind::Neutral | CallKind::Called => {}
        CallKind::CountsThreads => {}
        CallKind::Exits | CallKind::Execs | CallKind::Filters => {}
        CallKind::UsesAffinity | CallKind::HandsOnMask => {}
        CallKind::BlockTime => {
            let worker = Worker::known().map(Worker::address);
            block_time::is_asked_for(worker.is_some_and(packing::starts_teams));
        }
        CallKind::Mpi | CallKind::Marks | CallKind::Unloads => {}
        CallKind::Waits | CallKind::Chunks | CallKind::TaskBlock => {}
    }
}

/// Stands for a function that the process does not have. Such programs call it only if they find it, and with
/// this library loaded they find it.
pub(super) fn without_runtime(kind: CallKind) -> *const c_void {
    match kind {
        CallKind::CountsThreads => one as *const c_void,
        CallKind::Mpi => mpi::failed as *const c_void,
        _ => nothing as *const c_void,
    }
}

pub(super) extern "C" fn one() -> i32 {
    1
}

/// Also the null pointer.
extern "C" fn nothing() -> usize {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_system_calls_have_no_meaning() {
        for (call, has_meaning) in [
            (libc::SYS_futex, false),
            (libc::SYS_read, false),
            (libc::SYS_gettid, false),
            (libc::SYS_sched_setaffinity, true),
            (libc::SYS_clone3, true),
            (libc::SYS_execve, true),
            (libc::SYS_exit_group, true),
            (libc::SYS_prctl, true),
            (libc::SYS_seccomp, true),
        ] {
            assert_eq!(HAS_MEANING[call as usize], has_meaning, "{call}");
        }
        assert!(HAS_MEANING.iter().filter(|has_meaning| **has_meaning).count() < 16);
    }
}
