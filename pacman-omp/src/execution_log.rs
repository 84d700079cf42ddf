//! Single executions and waits of one thread, for traces.
//!
//! A thread writes blocks in the arena. The blocks of a process are limited, so that neither its memory nor
//! the trace grows with the number of executions: the log has the first ones.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

use pacman_regions::arena::{EVENTS, LogBlock, LogEntry};

use crate::counting::EventPlan;
use crate::isolation::isolated;
use crate::process;
use crate::rows::{self, OwnLog};

/// The blocks of a process: 65,536 entries.
const BLOCKS: u32 = 1024;

/// The blocks that are left.
static LEFT: AtomicU32 = AtomicU32::new(BLOCKS);

/// The log of one thread. Only that thread uses it.
#[derive(Debug, Default)]
pub(crate) struct ExecutionLog {
    own: Cell<Option<OwnLog>>,
    /// There is no place for another block.
    full: Cell<bool>,
}

/// A thread's part of an execution.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoggedPart {
    pub(crate) region: u32,
    /// The number in the team.
    pub(crate) thread: u32,
    /// The begin, by the clock, and the ticks. Those of the library's own work are before the begin.
    pub(crate) begun: u64,
    pub(crate) ticks: u64,
    pub(crate) own_work: u64,
    /// The executions that it stands for.
    pub(crate) weight: u32,
}

impl ExecutionLog {
    /// Adds a part. `counts` are the sums of its row before and after it, with the number of counted
    /// executions.
    pub(crate) fn part(&self, part: &LoggedPart, counts: Option<&[(u64, [u64; EVENTS]); 2]>) {
        let mut own = [0; EVENTS];
        let counted = counts.filter(|[before, after]| before.0 != after.0);
        if let Some([before, after]) = counted {
            let sums = before.1.iter().zip(&after.1);
            own.iter_mut()
                .zip(sums)
                .for_each(|(own, (one, other))| *own = other.wrapping_sub(*one));
        }
        let LoggedPart { region, thread, begun, ticks, own_work, weight } = *part;
        let begun = process::own(begun.saturating_sub(own_work)).1;
        let times = (begun, ticks, own_work);
        let counts = counted.map(|_| &own[..]);
        self.push(&LogEntry::execution((region, thread), times, weight, counts));
    }

    /// Adds a wait at the construct of that number, with the ticks of tasks in it.
    pub(crate) fn wait(&self, site: u32, (begun, ticks): (u64, u64), tasks: u64) {
        self.push(&LogEntry::wait(site, (process::own(begun).1, ticks), tasks));
    }

    fn push(&self, entry: &LogEntry<'_>) {
        if self.own.get().is_some_and(|own| own.block.push(entry)) || self.full.get() {
            return;
        }
        match isolated(|| self.next_block()) {
            Some(block) => drop(block.push(entry)),
            None => self.full.set(true),
        }
    }

    #[cold]
    fn next_block(&self) -> Option<LogBlock> {
        if let Some(spare) = self.own.get().is_none().then(rows::spare_log).flatten() {
            self.own.set(Some(spare));
            // Another thread ended with it, so it may be full.
            return Some(spare.block)
                .filter(|block| !block.is_full())
                .or_else(|| self.next_block());
        }
        let left = |left: u32| left.checked_sub(1);
        LEFT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left).ok()?;
        let number = self.own.get().map(|own| own.number);
        let own = rows::log(number, EventPlan::made().map_or(0, |plan| plan.counted.len()))?;
        self.own.set(Some(own));
        Some(own.block)
    }

    /// The log of the thread, which ends.
    pub(crate) fn taken(&self) -> Option<OwnLog> {
        self.own.take()
    }

    /// In the child of a fork: the log is the parent's.
    pub(crate) fn forget(&self) {
        self.own.set(None);
        self.full.set(false);
        LEFT.store(BLOCKS, Ordering::Relaxed);
    }
}
