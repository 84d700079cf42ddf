//! Static loops inside one parallel region get threads of their own number.
//!
//! Programs that hoist their time loop into one region offer nothing to adapt by the size of
//! teams. But clang has every thread ask libomp for its share of a static loop, and the answer
//! may as well be that of a smaller team: the first threads share the iterations, the others get
//! none and wait at the next barrier. This folder's README.md has the protocol and what is safe.

mod barrier_interval;
mod entries;
mod execution;
mod partition;
mod region_run;
mod ring;
mod schedule;

use std::sync::OnceLock;

use pacman_core::adapt::Rules;
use pacman_core::{Topology, sim};
use pacman_regions::{Guard, RuntimeFamily};

use crate::adapt::wait_policy;
use crate::fork;
use crate::function::Function;
use crate::isolation::isolated;
use crate::module::Module;
use crate::process;
use crate::region::{Region, Seen};
use crate::runtime::Question;
use crate::worker::Worker;
use barrier_interval::Setup;
use execution::TeamQueries;

pub(crate) use execution::Loops;

/// An execution of a region of the program.
pub(crate) type Execution = execution::Execution<RuntimeQueries>;

/// The part of a thread of the program; its worker keeps it.
pub(crate) type Member = execution::Member<RuntimeQueries>;

/// Intervals shorter than this are left alone: what they could gain drowns in the noise of a
/// barrier.
const BREAK_EVEN: f64 = 20e-6;

/// Widths to go through, as `1,2,3`: for tests.
pub(crate) const FORCED: &str = "PACMAN_OMP_LOOP_THREADS";

static SETUP: OnceLock<Option<Setup>> = OnceLock::new();

/// Begins an execution of `region` by a thread that is inside of `depth` others; `None` where its
/// loops are not looked at.
pub(crate) fn begin(region: &'static Region, depth: u32) -> Option<Execution> {
    let setup = fork::once(&SETUP, || isolated(prepare)).as_ref()?;
    if depth > 0 || region.runtime.family != RuntimeFamily::Libomp {
        return None;
    }
    let lifted = process::options().lifted.contains(&Guard::ThreadLocal);
    let refused = ((region.module.thread_local > 0 || process::has_data_by_thread()) && !lifted)
        .then_some("its module has thread-local storage, which may have to stay with a share");
    region.loops.begin(setup, refused, RuntimeQueries::of(region)?)
}

/// Whether loops of `region` are not looked at, and will not be.
#[inline]
pub(crate) fn leaves_alone(region: &Region) -> bool {
    region.runtime.family != RuntimeFamily::Libomp || region.loops.are_left_alone()
}

/// Whether loops of `region` are adapted one by one, so that its team had better keep its size.
#[inline]
pub(crate) fn adapts(region: &Region) -> bool {
    region.runtime.family == RuntimeFamily::Libomp && region.loops.adapt()
}

/// A thread of the team does its part.
#[inline]
pub(crate) fn take_part(execution: &Execution, thread: u32, body: impl FnOnce()) {
    execution.take_part(&Worker::here().member, thread, body);
}

/// What was done with the loops of `region`, for the recording.
pub(crate) fn recorded(region: &Region) -> Vec<pacman_regions::Loop> {
    region.loops.recorded(|site| {
        let module = Module::of(site);
        format!("{}+{:#x}", module.path.display(), site.wrapping_sub(module.bias))
    })
}

#[cold]
fn prepare() -> Option<Setup> {
    let forced: Vec<u16> = std::env::var(FORCED)
        .map(|list| list.split(',').filter_map(|one| one.parse().ok()).collect())
        .unwrap_or_default();
    if process::options().adapt.is_none() && forced.is_empty() {
        return None;
    }
    let topology = sim::install().and_then(|()| Topology::detect()).ok()?;
    let mut rules = Rules::default();
    rules.break_even = BREAK_EVEN;
    let seconds_per_tick = process::clock().nanos_per_tick() * 1e-9;
    Some(Setup { seconds_per_tick, rules, topology, forced })
}

/// The runtime's answers about the calling thread, without asking through our own entries.
pub(crate) struct RuntimeQueries {
    region: &'static Region,
    level: Question,
    threads: Question,
}

impl RuntimeQueries {
    fn of(region: &'static Region) -> Option<RuntimeQueries> {
        let ask = |function| region.runtime.question(function);
        let (level, threads) = (ask(Function::omp_get_level)?, ask(Function::omp_get_num_threads)?);
        Some(RuntimeQueries { region, level, threads })
    }
}

impl TeamQueries for RuntimeQueries {
    #[inline]
    fn level(&self) -> i32 {
        (self.level)()
    }

    #[inline]
    fn threads(&self) -> u32 {
        (self.threads)() as u32
    }

    #[inline]
    fn asks_for_number(&self) -> bool {
        if process::options().lifted.contains(&Guard::ThreadNumber) {
            return false;
        }
        let asked = Seen::THREAD_NUMBER | Seen::BOTH_NUMBERS;
        (Worker::here().seen() | self.region.seen.get()) & asked != 0
    }

    #[inline]
    fn now(&self) -> u64 {
        Worker::here().now()
    }

    #[inline]
    fn idles(&self) {
        // Where threads outnumber the contexts libomp's give way to each other, and waking them for
        // the next wider interval takes longer.
        wait_policy::block_here(self.region.runtime, || {
            let topology = SETUP.get().and_then(Option::as_ref).map(|setup| &setup.topology);
            topology.is_some_and(|topology| topology.contexts_per_core() > 1)
        });
    }
}
