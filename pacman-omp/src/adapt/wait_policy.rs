//! Idle workers of libomp spin for 200 ms after a region, on contexts whose siblings work.
//!
//! They can be had to block at once, and must then be woken for the next wider team, which takes
//! longer than many a region does. So they block where hardly any team is wider than those that
//! were narrowed, and spin again where that turns out to be otherwise.
//!
//! libgomp has no call for that; its surplus workers end instead of spinning.

use std::cell::Cell;

use pacman_regions::arena::Widths;
use pacman_regions::{RuntimeFamily, Waiting};

use super::Adapting;
use crate::floating;
use crate::function::Function;
use crate::process;
use crate::runtime::Runtime;
use crate::worker::Worker;

thread_local! {
    /// The thread has been through [`block_here`].
    static ASKED: Cell<bool> = const { Cell::new(false) };
}

/// Seconds after which it is looked at again how many teams were wide.
const WINDOW: f64 = 0.05;
/// Seconds that a team of threads that block takes longer to come: 20 to 90 microseconds with four
/// threads on two contexts of a virtual machine.
const WAKING: f64 = 50e-6;
/// Of the time in narrowed teams, what waking others may take; twice that ends it.
const SHARE: f64 = 0.05;

/// How the workers wait of teams that one thread starts.
#[derive(Debug, Default)]
pub(crate) struct WaitPolicy {
    how: Cell<WaitMode>,
    /// When to look again, in ticks.
    next: Cell<u64>,
    /// What had run when it was looked last, and how many threads teams usually had.
    before: Cell<(Widths, u32)>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum WaitMode {
    /// As the runtime has it.
    #[default]
    Spin,
    /// At once; they spun for so many milliseconds before.
    Block { before: i32 },
    /// As the runtime has it, for good.
    Keep,
}

impl WaitPolicy {
    /// A region has ended that `worker` has started, and that is `narrowed` and held or not: looks
    /// whether workers had better wait otherwise.
    pub(super) fn look(
        &self,
        adapting: &Adapting,
        worker: &Worker,
        runtime: &Runtime,
        narrowed: bool,
    ) {
        let matters = match self.how.get() {
            WaitMode::Spin => narrowed,
            WaitMode::Block { .. } => true,
            WaitMode::Keep => false,
        };
        if !matters || runtime.family == RuntimeFamily::Libgomp {
            return;
        }
        let now = worker.now();
        if now >= self.next.get() {
            floating::isolated(|| self.look_again(adapting, worker, runtime, now));
        }
    }

    /// In the child of a fork: its runtime begins anew, and so do its rows.
    pub(crate) fn forget(&self) {
        self.how.take();
        self.next.take();
        self.before.take();
    }

    #[cold]
    fn look_again(&self, adapting: &Adapting, worker: &Worker, runtime: &Runtime, now: u64) {
        let ticks = WINDOW / adapting.seconds_per_tick;
        self.next.set(now + ticks as u64);
        let usual = worker.pool.usual_size();
        let widths = worker.widths(usual);
        let (before, then) = self.before.replace((widths, usual));
        // What was wide for another size of teams is no measure.
        if usual == then {
            // Sizes that a row has no place for share one, which may go from the one to the other.
            let waking = widths.wide.saturating_sub(before.wide) as f64 * WAKING;
            let narrow = widths.narrow_ticks.saturating_sub(before.narrow_ticks) as f64;
            self.decide(runtime, waking, narrow * adapting.seconds_per_tick);
        }
    }

    /// Waking blocked threads would take, or takes, so many seconds beside so many in narrowed teams.
    fn decide(&self, runtime: &Runtime, waking: f64, narrowed: f64) {
        let how = self.how.get();
        if how.stays(waking, narrowed) {
            return;
        }
        if let WaitMode::Block { before } = how {
            set(runtime, before);
            process::note("idle workers spin again: too many regions need them".to_owned());
            return self.how.set(WaitMode::Keep);
        }
        self.how.set(block(runtime).map_or(WaitMode::Keep, |before| {
            process::note("idle workers block at once beside narrowed regions".to_owned());
            WaitMode::Block { before }
        }));
    }
}

impl WaitMode {
    /// Whether it stays so where waking blocked threads takes so many seconds beside so many in
    /// narrowed teams.
    fn stays(self, waking: f64, narrowed: f64) -> bool {
        match self {
            WaitMode::Spin => waking >= SHARE * narrowed,
            WaitMode::Block { .. } => waking <= 2.0 * SHARE * narrowed,
            WaitMode::Keep => true,
        }
    }
}

/// The same for the calling thread, which is left without work in a region that goes on. libomp
/// keeps the time by thread, so that each has to say it for itself; once.
#[inline]
pub(crate) fn block_here(runtime: &Runtime, needed: impl FnOnce() -> bool) {
    if !ASKED.replace(true) && needed() && block(runtime).is_some() {
        process::note("threads without a share of a loop block at once".to_owned());
    }
}

/// Has workers block at once, and answers for how many milliseconds they spun before; `None` if that
/// is forbidden, the user's own choice, or cannot be had.
#[cold]
fn block(runtime: &Runtime) -> Option<i32> {
    if process::options().waiting == Waiting::Keep {
        return None;
    }
    if std::env::var_os("KMP_BLOCKTIME").is_some() || std::env::var_os("OMP_WAIT_POLICY").is_some()
    {
        process::note("idle workers wait as the user has set it".to_owned());
        return None;
    }
    let before = runtime.question(Function::kmp_get_blocktime)?();
    set(runtime, 0).then_some(before)
}

/// Has them spin for so many milliseconds; whether the runtime can.
fn set(runtime: &Runtime, milliseconds: i32) -> bool {
    let Some(real) = runtime.real(Function::kmp_set_blocktime) else { return false };
    // SAFETY: libomp's function of that name takes milliseconds.
    let real: extern "C" fn(i32) = unsafe { std::mem::transmute(real) };
    real(milliseconds);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_block_where_hardly_any_team_is_wide() {
        let block = WaitMode::Block { before: 200 };
        // Seconds that waking takes beside one second in narrowed teams.
        for (how, stays, moves) in [(WaitMode::Spin, 0.051, 0.049), (block, 0.099, 0.101)] {
            assert!(how.stays(stays, 1.0) && !how.stays(moves, 1.0), "{how:?}");
        }
        assert!(!WaitMode::Spin.stays(0.0, 1e-3), "no other team at all");
        assert!(!block.stays(1e-6, 0.0), "nothing is narrowed any more");
        assert!(WaitMode::Spin.stays(0.0, 0.0) && block.stays(0.0, 0.0));
        assert!(WaitMode::Keep.stays(0.0, 1.0) && WaitMode::Keep.stays(1.0, 0.0));
    }
}
