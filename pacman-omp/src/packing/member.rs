//! The number of a thread in the team that may be packed.

use std::cell::Cell;

use libc::pid_t;

/// The membership of one thread.
#[derive(Debug, Default)]
pub(crate) struct CrewMember {
    thread: Cell<pid_t>,
    /// Its number in its latest team, and the context that it was on.
    number: Cell<Option<(u32, u32)>>,
}

impl CrewMember {
    /// The number of the thread for the kernel.
    pub(super) fn thread(&self) -> pid_t {
        if self.thread.get() == 0 {
            // SAFETY: it only returns a number.
            self.thread.set(unsafe { libc::gettid() });
        }
        self.thread.get()
    }

    /// The thread takes part as `number`, on context `cpu`. False if that is known.
    pub(super) fn becomes(&self, number: u32, cpu: u32) -> bool {
        self.number.replace(Some((number, cpu))) != Some((number, cpu))
    }

    /// The number of the thread, and its number in its latest team.
    pub(super) fn known(&self) -> Option<(pid_t, u32)> {
        self.number.get().map(|(number, _)| (self.thread.get(), number))
    }

    /// In the child of a fork.
    pub(crate) fn forget(&self) {
        self.thread.set(0);
        self.number.set(None);
    }
}
