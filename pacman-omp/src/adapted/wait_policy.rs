//! How idle workers of libomp wait.
//!
//! They spin for 200 ms after a region, on contexts whose siblings work. libomp can block them at once
//! instead. Blocked workers must be woken for the next larger team, which takes longer than many
//! regions. So they block where hardly any team is larger than those that adaptation made smaller,
//! and spin again where that changes.
//!
//! libgomp has no call for this; its surplus workers end instead of spinning.

use std::cell::Cell;

use pacman_regions::arena::Widths;
use pacman_regions::{RuntimeFamily, Waiting};

use crate::block_time::{self, Kept};
use crate::floating;
use crate::notes;
use crate::process;
use crate::runtime::Runtime;

/// Seconds between two checks.
const WINDOW: f64 = 0.05;
/// Seconds to wake the blocked threads of a team: 20 to 90 microseconds with four threads on two
/// contexts of a virtual machine.
const WAKING: f64 = 50e-6;
/// The part of the time in smaller teams that waking others may take. Twice that ends blocking.
const SHARE: f64 = 0.05;

/// How the workers of one primary thread wait.
#[derive(Debug, Default)]
pub(crate) struct WaitPolicy {
    mode: Cell<WaitMode>,
    /// When to check again, in ticks.
    next: Cell<u64>,
    /// The widths and the default team size at the latest check.
    before: Cell<(Widths, u32)>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum WaitMode {
    /// The runtime decides.
    #[default]
    Spin,
    /// They block at once; `before` has the milliseconds that they spun.
    Block { before: i32 },
    /// The runtime decides, for good.
    Keep,
}

impl WaitPolicy {
    /// A region has ended that the calling thread started; `reduced` if it is held at a smaller team.
    /// Checks whether the workers should wait otherwise.
    ///
    /// `widths` answers the widths of the calling thread's teams so far, and their default size.
    #[inline]
    pub(crate) fn check(
        &self,
        seconds_per_tick: f64,
        runtime: &Runtime,
        reduced: bool,
        now: impl FnOnce() -> u64,
        widths: impl FnOnce() -> (Widths, u32),
    ) {
        let matters = match self.mode.get() {
            WaitMode::Spin => reduced,
            WaitMode::Block { .. } => true,
            WaitMode::Keep => false,
        };
        if !matters || runtime.family == RuntimeFamily::Libgomp {
            return;
        }
        let now = now();
        if now >= self.next.get() {
            floating::isolated(|| self.check_again(seconds_per_tick, runtime, now, widths()));
        }
    }

    /// In the child of a fork: its runtime starts anew, and so do its rows.
    pub(crate) fn forget(&self) {
        self.mode.take();
        self.next.take();
        self.before.take();
    }

    #[cold]
    fn check_again(
        &self,
        seconds_per_tick: f64,
        runtime: &Runtime,
        now: u64,
        (widths, usual): (Widths, u32),
    ) {
        let ticks = WINDOW / seconds_per_tick;
        self.next.set(now + ticks as u64);
        let (before, then) = self.before.replace((widths, usual));
        // Wide meant another number of threads for another default size.
        if usual == then {
            // Sizes without a place of their own in a row share one, so a sum may shrink.
            let waking = widths.wide.saturating_sub(before.wide) as f64 * WAKING;
            let narrow = widths.narrow_ticks.saturating_sub(before.narrow_ticks) as f64;
            self.decide(runtime, waking, narrow * seconds_per_tick);
        }
    }

    /// Decides from the seconds that waking blocked threads takes or would take, and those in smaller
    /// teams.
    fn decide(&self, runtime: &Runtime, waking: f64, reduced: f64) {
        let mode = self.mode.get();
        if mode.stays(waking, reduced) {
            return;
        }
        if block_time::is_of_program() {
            return self.mode.set(WaitMode::Keep);
        }
        if let WaitMode::Block { before } = mode {
            block_time::set(runtime, before);
            notes::note("idle workers spin again: too many regions need them".to_owned());
            return self.mode.set(WaitMode::Keep);
        }
        self.mode.set(block(runtime).map_or(WaitMode::Keep, |before| {
            notes::note("idle workers block at once beside reduced regions".to_owned());
            WaitMode::Block { before }
        }));
    }
}

impl WaitMode {
    /// Whether the mode stays, by the same two times.
    fn stays(self, waking: f64, reduced: f64) -> bool {
        match self {
            WaitMode::Spin => waking >= SHARE * reduced,
            WaitMode::Block { .. } => waking <= 2.0 * SHARE * reduced,
            WaitMode::Keep => true,
        }
    }
}

/// Makes workers block at once, and answers the milliseconds that they spun before. `None` if the user
/// forbids it, or if it is [kept](Kept).
#[cold]
fn block(runtime: &Runtime) -> Option<i32> {
    if process::options().waiting == Waiting::Keep {
        return None;
    }
    block_time::end(runtime)
        .inspect_err(|kept| {
            if *kept == Kept::OfUser {
                notes::note("idle workers wait as the user has set it".to_owned());
            }
        })
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_block_where_hardly_any_team_is_wide() {
        let block = WaitMode::Block { before: 200 };
        // Seconds of waking for one second in smaller teams.
        for (mode, stays, moves) in [(WaitMode::Spin, 0.051, 0.049), (block, 0.099, 0.101)] {
            assert!(mode.stays(stays, 1.0) && !mode.stays(moves, 1.0), "{mode:?}");
        }
        assert!(!WaitMode::Spin.stays(0.0, 1e-3), "no other team at all");
        assert!(!block.stays(1e-6, 0.0), "no team is smaller any more");
        assert!(WaitMode::Spin.stays(0.0, 0.0) && block.stays(0.0, 0.0));
        assert!(WaitMode::Keep.stays(0.0, 1.0) && WaitMode::Keep.stays(1.0, 0.0));
    }
}
