//! The members and the owner of a [group](crate::adapt) of short regions.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// The membership of a region in a group.
#[derive(Debug, Default)]
pub(crate) struct Member {
    /// The serial number of its group; 0 if it belongs to none.
    group: AtomicU32,
    /// See [`usual`](Self::usual).
    usual: AtomicU32,
}

impl Member {
    /// Whether the region belongs to the group of that serial number.
    pub(crate) fn is_of(&self, group: u32) -> bool {
        self.group.load(Ordering::Relaxed) == group
    }

    /// Whether the region was ever decided with others.
    pub(crate) fn is_of_any(&self) -> bool {
        !self.is_of(0)
    }

    /// The ticks of a usual execution with the program's own team.
    pub(crate) fn usual(&self) -> u32 {
        self.usual.load(Ordering::Relaxed)
    }

    /// The region becomes a member of `group`. Its executions usually take `usual` ticks.
    pub(crate) fn join(&self, group: u32, usual: u32) {
        self.usual.store(usual, Ordering::Relaxed);
        self.group.store(group, Ordering::Relaxed);
    }
}

/// The address of the worker of the thread that has the group; 0 if none has.
static OWNER: AtomicUsize = AtomicUsize::new(0);

/// Whether the thread with that worker has the group. It has from now on if no other thread does.
pub(crate) fn has_group(worker: usize) -> bool {
    match OWNER.compare_exchange(0, worker, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => true,
        Err(owner) => owner == worker,
    }
}

/// The thread with that worker ends: another one may have the group.
pub(crate) fn leave(worker: usize) {
    let _ = OWNER.compare_exchange(worker, 0, Ordering::Relaxed, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_has_the_group_until_it_ends() {
        assert!(has_group(8) && has_group(8) && !has_group(16));
        leave(16);
        assert!(!has_group(16));
        leave(8);
        assert!(has_group(16) && !has_group(8));
        leave(16);
    }
}
