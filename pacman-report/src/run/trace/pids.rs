//! Numbers of processes and threads in a trace, each of them once.

use std::collections::HashSet;

/// The numbers that are in use.
#[derive(Debug)]
pub(super) struct Pids {
    used: HashSet<u32>,
    free: u32,
    threads: u32,
}

impl Pids {
    pub(super) fn new() -> Pids {
        Pids { used: HashSet::new(), free: ABOVE_KERNEL, threads: 0 }
    }

    /// The number of a process, or another one if a process of another host has it.
    pub(super) fn of(&mut self, pid: u32) -> u32 {
        if self.used.insert(pid) { pid } else { self.made_up() }
    }

    /// A number that no process has.
    pub(super) fn made_up(&mut self) -> u32 {
        self.free += 1;
        self.free
    }

    /// The number of a thread. Importers take threads of one number for the same one.
    pub(super) fn thread(&mut self) -> u32 {
        self.threads += 1;
        ABOVE_KERNEL + self.threads
    }
}

/// Linux has no process with a larger number (`PID_MAX_LIMIT`).
const ABOVE_KERNEL: u32 = 1 << 22;
