//! Adaptation of the loops inside a region of the program.

use std::sync::OnceLock;

use pacman_adapt::Rules;
use pacman_regions::{Guard, RuntimeFamily};

use super::barrier_interval::Setup;
use super::execution::TeamQueries;
use super::queries::{Execution, RuntimeQueries};
use crate::adapt::{block_here, loss_limits};
use crate::isolation::isolated;
use crate::machine;
use crate::module::Module;
use crate::once::once;
use crate::process;
use crate::program;
use crate::region::Region;
use crate::seen::Seen;
use crate::worker::Worker;

/// Shorter intervals are left alone: their gain would be lost in the noise of a barrier.
const BREAK_EVEN: f64 = 20e-6;

/// The variable that forces widths, as `1,2,3`, for tests.
pub(crate) const FORCED: &str = "PACMAN_OMP_LOOP_THREADS";

static SETUP: OnceLock<Option<Setup>> = OnceLock::new();

/// Begins an execution of `region` by a thread at nesting `depth`; `None` if its loops are not observed.
pub(crate) fn begin(region: &'static Region, depth: u32) -> Option<Execution> {
    if depth > 0 || region.runtime.family != RuntimeFamily::Libomp {
        return None;
    }
    let setup = once(&SETUP, || isolated(prepare)).as_ref()?;
    let lifted = process::options().lifted.contains(&Guard::ThreadLocal);
    let refused = ((region.module.thread_local > 0 || program::has_data_by_thread()) && !lifted)
        .then_some("its module has thread-local storage, which may have to stay with a share");
    region.loops.begin(setup, refused, RuntimeQueries::of(region)?)
}

/// Whether the loops of `region` are not observed, and never will be.
#[inline]
pub(crate) fn leaves_alone(region: &Region) -> bool {
    region.runtime.family != RuntimeFamily::Libomp || region.loops.are_left_alone()
}

/// Whether the loops of `region` are adapted one by one, so that its team must keep its size.
#[inline]
pub(crate) fn adapts(region: &Region) -> bool {
    region.runtime.family == RuntimeFamily::Libomp && region.loops.adapt()
}

/// Runs the part of a member.
#[inline]
pub(crate) fn take_part(execution: &Execution, thread: u32, body: impl FnOnce()) {
    execution.take_part(&Worker::here().member, thread, body);
}

/// The record of the loops of `region`.
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
    if !process::narrows() && forced.is_empty() {
        return None;
    }
    let topology = machine::topology().ok()?;
    let mut rules = Rules::default();
    rules.break_even = BREAK_EVEN;
    rules.bound = loss_limits();
    let seconds_per_tick = process::clock().nanos_per_tick() * 1e-9;
    Some(Setup { seconds_per_tick, rules, topology, forced })
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
        // Only with SMT: where threads outnumber contexts, libomp's spinning threads yield to each
        // other, and waking them for the next wider interval takes longer.
        block_here(self.region.runtime, || {
            let topology = SETUP.get().and_then(Option::as_ref).map(|setup| &setup.topology);
            topology.is_some_and(|topology| topology.contexts_per_core() > 1)
        });
    }
}
