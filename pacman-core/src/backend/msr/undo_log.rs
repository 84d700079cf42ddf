//! The protocol of the undo log: a fixed table of register values that a signal handler can read.
//!
//! Each open set of counters has one *log* in the table: the hardware context it counts on, and the
//! value of each register before it was programmed. A handler may neither lock nor allocate, so the
//! table is an array of atomics behind a *gate*, a lock of one word:
//!
//! - An owner is inside while it programs and while it restores. All signals are held off its thread
//!   meanwhile, so a handler that waits at the gate never waits for the code that it interrupted.
//! - An owner notes each register before it first writes it.
//! - A handler is inside while it undoes the logs. It marks a log [`GIVEN_BACK`] before the first
//!   write, so that a reader gets an error and never a false count. The owner of a marked log does
//!   not restore: another program may have the registers by then.
//! - If the process is about to end, the handler closes the gate behind it. From then on no owner
//!   programs a register.
//!
//! After a time limit a handler undoes the logs without the gate: a thread that stands still inside
//! must not keep the process from ending. The handler still sees only whole entries, because an
//! owner publishes the length after them.

use crate::primitive::{AtomicU32, AtomicU64, Ordering, own};

/// `bound` after a handler restored the registers.
pub(super) const GIVEN_BACK: u32 = u32::MAX - 1;
/// `bound` in a forked child: the registers are the parent's.
pub(super) const FORKED: u32 = u32::MAX - 2;

/// Values of the gate.
const OPEN: u32 = 0;
const SHUT: u32 = 1;
const CLOSED: u32 = 2;

/// The logs of a process, and the gate to them.
#[derive(Debug)]
pub(super) struct Table<const LOGS: usize, const REGISTERS: usize> {
    gate: AtomicU32,
    /// The logs that were ever taken are the first ones, so many. A log fills pages, and looking at all of them would have the
    /// kernel make hundreds of pages at every fork.
    ever: AtomicU32,
    logs: [Log<REGISTERS>; LOGS],
}

/// One open set of counters.
#[derive(Debug)]
pub(super) struct Log<const REGISTERS: usize> {
    taken: AtomicU32,
    bound: AtomicU32,
    /// The device for the handler's writes. The first word is 0 if a handler cannot write.
    device: [AtomicU64; 3],
    len: AtomicU64,
    registers: [Register; REGISTERS],
}

#[derive(Debug)]
struct Register {
    msr: AtomicU32,
    mask: AtomicU64,
    before: AtomicU64,
}

/// The touched bits of a register, as they were before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Before {
    pub(super) msr: u32,
    pub(super) mask: u64,
    pub(super) value: u64,
}

impl Before {
    /// The value that restores the touched bits and keeps the others as they are now.
    pub(super) fn merged(&self, now: u64) -> u64 {
        now & !self.mask | self.value & self.mask
    }
}

/// Defines `new` functions: `const` but for loom, whose atomics cannot be made at compile time.
macro_rules! new {
    ($(#[$of:meta])* $name:ident = $value:expr, of loom $loom:expr) => {
        $(#[$of])*
        #[cfg(not(loom))]
        pub(super) const fn $name() -> Self {
            $value
        }

        #[cfg(loom)]
        pub(super) fn $name() -> Self {
            $loom
        }
    };
}

impl Register {
    new!(new = Register {
        msr: AtomicU32::new(0),
        mask: AtomicU64::new(0),
        before: AtomicU64::new(0),
    }, of loom Register {
        msr: AtomicU32::new(0),
        mask: AtomicU64::new(0),
        before: AtomicU64::new(0),
    });
}

impl<const REGISTERS: usize> Log<REGISTERS> {
    new!(new = Log {
        taken: AtomicU32::new(0),
        bound: AtomicU32::new(0),
        device: [const { AtomicU64::new(0) }; 3],
        len: AtomicU64::new(0),
        registers: [const { Register::new() }; REGISTERS],
    }, of loom Log {
        taken: AtomicU32::new(0),
        bound: AtomicU32::new(0),
        device: std::array::from_fn(|_| AtomicU64::new(0)),
        len: AtomicU64::new(0),
        registers: std::array::from_fn(|_| Register::new()),
    });

    /// The hardware context whose registers are held, or the reason why there is none any more.
    #[inline(always)]
    pub(super) fn bound(&self) -> u32 {
        // ATOMICS: changed by a handler on this or another thread; the value alone
        // decides, nothing is read through it.
        self.bound.load(Ordering::Relaxed)
    }

    /// Whether a handler restored the registers, so that the owner must not.
    pub(super) fn is_undone(&self) -> bool {
        self.bound() == GIVEN_BACK
    }

    /// Notes a register that is about to be written; false if there is no room.
    pub(super) fn note(&self, before: Before) -> bool {
        let at = own(&self.len);
        let Some(register) = self.registers.get(at as usize) else { return false };
        register.msr.store(before.msr, Ordering::Relaxed);
        register.mask.store(before.mask, Ordering::Relaxed);
        register.before.store(before.value, Ordering::Relaxed);
        // ATOMICS: Release, for a handler without the gate: if it sees the new length, it sees the
        // entry and the log's device.
        self.len.store(at + 1, Ordering::Release);
        true
    }

    /// Restores all noted registers, unless that was done before.
    fn undo(&self, restore: &mut impl FnMut([u64; 3], Before)) {
        // ATOMICS: Acquire pairs with the Release of `note`.
        let len = self.len.load(Ordering::Acquire);
        if len == 0 || self.is_undone() {
            return;
        }
        let device = [0, 1, 2].map(|word: usize| self.device[word].load(Ordering::Relaxed));
        // The owner restores these registers.
        if device[0] == 0 {
            return;
        }
        // ATOMICS: see `bound`. Threads that decide by it read it inside the gate.
        self.bound.store(GIVEN_BACK, Ordering::Relaxed);
        for register in self.registers.iter().take(len as usize) {
            let before = Before {
                msr: register.msr.load(Ordering::Relaxed),
                mask: register.mask.load(Ordering::Relaxed),
                value: register.before.load(Ordering::Relaxed),
            };
            restore(device, before);
        }
    }
}

impl<const LOGS: usize, const REGISTERS: usize> Table<LOGS, REGISTERS> {
    new!(
        /// With an open gate and free logs. All bits are zero: a static table takes no room in the
        /// program's file, and no memory where it is not used.
        new = Table {
            gate: AtomicU32::new(OPEN),
            ever: AtomicU32::new(0),
            logs: [const { Log::new() }; LOGS],
        },
        of loom Table {
            gate: AtomicU32::new(OPEN),
            ever: AtomicU32::new(0),
            logs: std::array::from_fn(|_| Log::new()),
        }
    );

    /// The logs that were ever taken.
    fn ever(&self) -> &[Log<REGISTERS>] {
        // ATOMICS: Acquire, for a handler without the gate; see `GateGuard::take`.
        &self.logs[..self.ever.load(Ordering::Acquire) as usize]
    }

    /// Waits at the gate; `None` if it was closed for good.
    ///
    /// While another thread or handler is inside, this calls `wait`. If `wait` returns false, the
    /// caller enters beside the other one.
    pub(super) fn enter(
        &self,
        mut wait: impl FnMut() -> bool,
    ) -> Option<GateGuard<'_, LOGS, REGISTERS>> {
        loop {
            // ATOMICS: Acquire pairs with the Release of the guard that was inside before.
            let gate = &self.gate;
            match gate.compare_exchange(OPEN, SHUT, Ordering::Acquire, Ordering::Acquire) {
                Ok(_) => return Some(GateGuard { table: self, alone: true }),
                Err(CLOSED) => return None,
                Err(_) if wait() => {}
                Err(_) => return Some(GateGuard { table: self, alone: false }),
            }
        }
    }

    /// Gives up all logs in a forked child, while it has one thread: the registers are the
    /// parent's.
    pub(super) fn disown_all(&self) {
        for log in self.ever().iter().filter(|log| log.taken.load(Ordering::Relaxed) != 0) {
            log.len.store(0, Ordering::Relaxed);
            log.bound.store(FORKED, Ordering::Relaxed);
        }
        // The thread inside the gate is one of the parent's.
        self.gate.store(OPEN, Ordering::Relaxed);
    }
}

/// The right to take, change and undo logs. Dropping it opens the gate.
#[derive(Debug)]
pub(super) struct GateGuard<'a, const LOGS: usize, const REGISTERS: usize> {
    table: &'a Table<LOGS, REGISTERS>,
    /// No other thread or handler is inside.
    alone: bool,
}

impl<'a, const LOGS: usize, const REGISTERS: usize> GateGuard<'a, LOGS, REGISTERS> {
    /// A free log, for counters on `cpu`; `None` when all are taken.
    pub(super) fn take(&self, cpu: u32, device: [u64; 3]) -> Option<&'a Log<REGISTERS>> {
        // ATOMICS: Relaxed here and in `leave`, because the gate orders them.
        let free = |log: &&Log<REGISTERS>| log.taken.load(Ordering::Relaxed) == 0;
        let ever = self.table.ever();
        let log = match ever.iter().find(free) {
            Some(log) => log,
            None => {
                let log = self.table.logs.get(ever.len())?;
                // ATOMICS: Release. No register of the log is noted yet, so a handler without the gate that does not see
                // this misses nothing.
                self.table.ever.store(ever.len() as u32 + 1, Ordering::Release);
                log
            }
        };
        log.taken.store(1, Ordering::Relaxed);
        log.device
            .iter()
            .zip(device)
            .for_each(|(word, value)| word.store(value, Ordering::Relaxed));
        log.bound.store(cpu, Ordering::Relaxed);
        Some(log)
    }

    /// Frees a log whose registers are restored.
    pub(super) fn leave(&self, log: &Log<REGISTERS>) {
        log.len.store(0, Ordering::Relaxed);
        log.taken.store(0, Ordering::Relaxed);
    }

    /// Passes every entry that is not undone to `restore`, with the device of its log.
    pub(super) fn undo_all(&self, mut restore: impl FnMut([u64; 3], Before)) {
        self.table.ever().iter().for_each(|log| log.undo(&mut restore));
    }

    /// Leaves and closes the gate for good, because the process is about to end.
    pub(super) fn close(self) {
        // ATOMICS: Release, so that a thread that finds the gate closed sees the undone logs.
        self.table.gate.store(CLOSED, Ordering::Release);
    }
}

impl<const LOGS: usize, const REGISTERS: usize> Drop for GateGuard<'_, LOGS, REGISTERS> {
    fn drop(&mut self) {
        if self.alone {
            // ATOMICS: Release pairs with the Acquire of the next `enter`. A closed gate stays
            // closed.
            let gate = &self.table.gate;
            let _ = gate.compare_exchange(SHUT, OPEN, Ordering::Release, Ordering::Relaxed);
        }
    }
}

#[cfg(all(test, loom))]
mod model;
