//! Facts of the machine and the runtime, taken at the first region.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use pacman_core::system_calls;
use pacman_core::topology::CpuSet;

use crate::function::Function;
use crate::isolation::isolated;
use crate::lock::Lock;
use crate::recording::{self, EmptyPart};
use crate::runtime::Runtime;
use crate::worker::Worker;

pub(crate) static FIRST_REGION: Lock<Option<FirstRegion>> = Lock::new(None);

static TICKS_OF_A_PART: AtomicU64 = AtomicU64::new(0);

#[derive(Clone, Debug)]
pub(crate) struct FirstRegion {
    /// Threads of a team by default.
    threads: u32,
    /// The logical CPUs that the process may use.
    pub(crate) cpus: CpuSet,
    cost: EmptyPart,
}

impl FirstRegion {
    fn record(&self) {
        recording::first_region(self.threads, self.cpus.len(), &self.cost);
        isolated(recording::machine);
    }
}

/// The facts, if a region has run.
pub(crate) fn known() -> Option<FirstRegion> {
    FIRST_REGION.lock().clone()
}

/// The ticks of a part's begin and end without its region's data; a wait takes about as long.
pub(crate) fn ticks_of_a_part() -> u64 {
    TICKS_OF_A_PART.load(Ordering::Relaxed)
}

/// Records the facts again, in a forked process.
pub(crate) fn record_again() {
    if let Some(known) = known() {
        known.record();
    }
}

/// Takes the facts, unless they are known.
///
/// `requested` stands for the default team size where the runtime cannot be asked.
pub(crate) fn meet(runtime: &'static Runtime, requested: u32) {
    if FIRST_REGION.lock().is_some() {
        return;
    }
    // Ask without our lock. libomp may initialise itself now, under its own lock. It holds that lock
    // over forks as well, and takes it before ours.
    let threads = runtime.ask(Function::omp_get_max_threads).unwrap_or(requested);
    // A runtime that binds threads has bound this one by now.
    let cpus: CpuSet = own_mask().chain(runtime.places()).collect();
    // A handler of a signal that forks would wait for the lock.
    isolated(|| {
        let mut first = FIRST_REGION.lock();
        if first.is_some() {
            return;
        }
        let measured = isolated(|| Some(Worker::here().measured()));
        let cost = measured.unwrap_or(EmptyPart { ticks: 0, reads: "none", counts: Vec::new() });
        TICKS_OF_A_PART.store(cost.ticks, Ordering::Relaxed);
        first.insert(FirstRegion { threads, cpus, cost }).record();
    });
}

/// The mask at the start of the process.
static MASK: OnceLock<libc::cpu_set_t> = OnceLock::new();

/// Whether a thread may have another one since.
static HAS_CHANGED: AtomicBool = AtomicBool::new(false);

/// Reads the mask while that is possible: later the program may filter its system calls.
pub(crate) fn take_mask() {
    MASK.get_or_init(current_mask);
}

/// The program or its runtime sets the mask of a thread.
pub(crate) fn mask_changes() {
    HAS_CHANGED.store(true, Ordering::Relaxed);
}

/// The logical CPUs that the calling thread may use.
fn own_mask() -> impl Iterator<Item = u32> {
    // A process that filters its system calls has its mask read before.
    let is_known = !HAS_CHANGED.load(Ordering::Relaxed) || system_calls::are_forbidden();
    let mask = MASK.get().copied().filter(|_| is_known).unwrap_or_else(current_mask);
    // SAFETY: each of these CPUs has a bit in the set.
    (0..libc::CPU_SETSIZE as u32)
        .filter(move |cpu| unsafe { libc::CPU_ISSET(*cpu as usize, &mask) })
}

fn current_mask() -> libc::cpu_set_t {
    // SAFETY: a plain set of bits, filled by the call.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::sched_getaffinity(0, std::mem::size_of_val(&set), &raw mut set);
        set
    }
}
