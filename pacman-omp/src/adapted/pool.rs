//! The threads that a runtime keeps between teams.

use std::cell::Cell;
use std::ptr;

use super::region_state::Adapted;
use crate::function::Function;
use crate::process;
use crate::runtime::Runtime;

/// The threads that a runtime keeps for one primary thread.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Pool {
    /// The size of the latest team of two or more. The field is first, so that it is on the worker's
    /// first cache line.
    size: Cell<u32>,
    /// The runtime that answered last, [`process::changes`] at that time, and its default team size.
    usual: Cell<Option<(&'static Runtime, u32, u32)>>,
    reduced_by: Cell<Option<&'static Adapted>>,
    /// The executions of short regions that are decided together.
    pub(crate) group_sums: GroupSums,
}

/// Sums over the executions of a [group](crate::adapt) since its latest report.
#[derive(Debug, Default)]
pub(crate) struct GroupSums {
    ticks: Cell<u64>,
    /// The ticks that these executions usually take with the program's own teams.
    usual: Cell<u64>,
    /// The usual ticks at which the sums are reported.
    due: Cell<u64>,
}

impl GroupSums {
    /// Adds an execution. False if the sums are due: the caller then reports the execution with them.
    #[inline(always)]
    pub(crate) fn add(&self, ticks: u64, usual: u32) -> bool {
        let sum = self.usual.get() + u64::from(usual);
        let fits = sum < self.due.get();
        if fits {
            self.usual.set(sum);
            self.ticks.set(self.ticks.get() + ticks);
        }
        fits
    }

    /// Adds an execution that is reported. Answers the ticks and the usual ticks if they are due; both sums
    /// begin anew then.
    pub(crate) fn add_and_take(&self, ticks: u64, usual: u32) -> Option<(u64, u64)> {
        let sums = (self.ticks.get() + ticks, self.usual.get() + u64::from(usual));
        let is_due = sums.1 >= self.due.get();
        let kept = if is_due { (0, 0) } else { sums };
        self.ticks.set(kept.0);
        self.usual.set(kept.1);
        is_due.then_some(sums)
    }

    /// The sums are due after so many usual ticks. If that was another number, the sums begin anew.
    pub(crate) fn set_due(&self, due: u64) {
        if self.due.replace(due) != due {
            self.ticks.set(0);
            self.usual.set(0);
        }
    }
}

impl Pool {
    /// The default size of teams that the calling thread starts outside of regions. The pool keeps
    /// it, because libomp's answer takes longer than the rest of a decision.
    #[inline]
    pub(crate) fn usual(&self, runtime: &'static Runtime) -> Option<u32> {
        let changes = process::changes();
        match self.usual.get() {
            Some((said, then, threads)) if then == changes && ptr::eq(said, runtime) => {
                Some(threads)
            }
            _ => self.ask(runtime, changes),
        }
    }

    /// The latest answer of [`usual`](Self::usual); 1 if there is none.
    pub(crate) fn usual_size(&self) -> u32 {
        self.usual.get().map_or(1, |(_, _, threads)| threads)
    }

    #[cold]
    fn ask(&self, runtime: &'static Runtime, changes: u32) -> Option<u32> {
        let threads = runtime.ask(Function::omp_get_max_threads)?;
        self.usual.set(Some((runtime, changes, threads)));
        Some(threads)
    }

    /// Whether a team of `size` needs other threads than the team before it.
    #[inline(always)]
    pub(crate) fn changes_to(&self, size: u32) -> bool {
        size >= 2 && size != self.size.get()
    }

    /// Notes that a team of `size` has run `region`. `reduced` says whether adaptation chose the size.
    pub(crate) fn team_of(&self, region: &'static Adapted, size: u32, reduced: bool) -> Change {
        if !self.changes_to(size) {
            return Change::None;
        }
        let before = self.size.replace(size);
        if size < before {
            self.reduced_by.set(reduced.then_some(region));
            return Change::Narrower(before - size);
        }
        match self.reduced_by.take() {
            Some(cause) => Change::Wider(size - before, cause),
            None => Change::None,
        }
    }
}

/// A change of the threads that a runtime keeps.
#[derive(Clone, Copy)]
pub(crate) enum Change {
    None,
    /// This number of threads ended.
    Narrower(u32),
    /// This number of threads started anew, because the smaller team of the region had ended them.
    Wider(u32, &'static Adapted),
}
