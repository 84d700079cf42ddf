//! The undo log of this process, and the register writes of a signal handler.

use std::os::fd::RawFd;
use std::time::Duration;

use super::undo_log::{self, Before, GateGuard, Table};

/// Enough for any plan: sixteen events of a NetBurst core with a tagging ESCR and a waking counter
/// each.
const REGISTERS: usize = 96;
/// The most sets of counters that are open at once in a process: one per hardware context.
const LOGS: usize = 1024;

/// The log of one open set of counters.
pub(super) type UndoLog = undo_log::Log<REGISTERS>;

#[cfg(not(loom))]
static TABLE: Table<LOGS, REGISTERS> = Table::new();
/// Never created: models have tables of their own.
#[cfg(loom)]
static TABLE: std::sync::LazyLock<Table<LOGS, REGISTERS>> = std::sync::LazyLock::new(Table::new);

/// The right to program and restore registers. No signal reaches the thread meanwhile.
#[derive(Debug)]
pub(super) struct Programming {
    // Dropped first, so that a pending signal finds the gate open.
    inside: GateGuard<'static, LOGS, REGISTERS>,
    _signals: SignalsHeldOff,
}

impl Programming {
    /// Waits until no handler is at work; `None` if the process is about to end.
    pub(super) fn begin() -> Option<Programming> {
        let signals = SignalsHeldOff::new();
        let wait = || {
            std::thread::yield_now();
            true
        };
        Some(Programming { inside: TABLE.enter(wait)?, _signals: signals })
    }

    /// A log for counters on `cpu`; `None` when all are taken.
    ///
    /// A handler writes the registers of `cpu` through `fd`.
    pub(super) fn take(&self, cpu: u32, fd: Option<RawFd>) -> Option<&'static UndoLog> {
        let found = fd.and_then(|fd| Some((fd, identity(fd)?)));
        // The descriptor plus 1, because 0 stands for none.
        let device = found.map_or([0; 3], |(fd, [device, inode])| [fd as u64 + 1, device, inode]);
        self.inside.take(cpu, device)
    }

    /// Frees a log whose registers are restored.
    pub(super) fn leave(&self, log: &UndoLog) {
        self.inside.leave(log);
    }
}

/// Restores every register that is programmed. For signal handlers and the end of the process:
/// loads, stores, `rt_sigprocmask(2)`, `nanosleep(2)`, `fstat(2)`, `pread(2)` and `pwrite(2)` only.
///
/// If the process `ends`, no thread programs any register afterwards.
pub(super) fn undo_all(ends: bool) {
    // A second signal must not find this thread inside.
    let _signals = SignalsHeldOff::new();
    let mut patience = PATIENCE;
    let wait = || {
        let nap = libc::timespec { tv_sec: 0, tv_nsec: NAP.as_nanos() as _ };
        // SAFETY: the time is live; a null pointer means that the remaining time is not needed.
        unsafe { libc::nanosleep(&raw const nap, std::ptr::null_mut()) };
        patience = patience.saturating_sub(NAP);
        !patience.is_zero()
    };
    let Some(inside) = TABLE.enter(wait) else { return };
    inside.undo_all(|[fd, device, inode], before| {
        let fd = (fd - 1) as RawFd;
        // The program may close the descriptor, and open another file under its number.
        if identity(fd) == Some([device, inode]) {
            restore(fd, &before);
        }
    });
    if ends {
        inside.close();
    }
}

/// The time that a handler waits for a thread that programs registers, which takes microseconds.
const PATIENCE: Duration = Duration::from_secs(1);
const NAP: Duration = Duration::from_micros(50);

/// Disowns all logs in a forked child, while it has one thread: the registers are the parent's.
pub(super) fn disown_all() {
    TABLE.disown_all();
}

/// Blocks all signals of the calling thread while it lives.
#[derive(Debug)]
struct SignalsHeldOff {
    before: libc::sigset_t,
}

impl SignalsHeldOff {
    fn new() -> SignalsHeldOff {
        // SAFETY: all-zero sets are valid, and both are live; the calls may be made in handlers. They
        // cannot fail with these arguments.
        unsafe {
            let (mut all, mut before): (libc::sigset_t, libc::sigset_t) =
                (std::mem::zeroed(), std::mem::zeroed());
            libc::sigfillset(&raw mut all);
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, &raw mut before);
            SignalsHeldOff { before }
        }
    }
}

impl Drop for SignalsHeldOff {
    fn drop(&mut self) {
        let before = &raw const self.before;
        // SAFETY: the mask that the thread had.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before, std::ptr::null_mut()) };
    }
}

/// The device and the inode behind a descriptor.
fn identity(fd: RawFd) -> Option<[u64; 2]> {
    // SAFETY: all zeros is a valid description, which the call fills in.
    let mut found: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: as above; the call may be made in signal handlers.
    let known = unsafe { libc::fstat(fd, &raw mut found) } == 0;
    known.then_some([found.st_dev, found.st_ino])
}

fn restore(fd: RawFd, before: &Before) {
    let (mut now, at) = (0u64, i64::from(before.msr));
    if before.mask != u64::MAX {
        // SAFETY: the buffer is valid for the 8 bytes that the call may write.
        if unsafe { libc::pread(fd, (&raw mut now).cast(), 8, at) } != 8 {
            return;
        }
    }
    let value = before.merged(now);
    for _ in 0..writes(before.msr) {
        // SAFETY: the buffer is valid for the 8 bytes that the call reads. A failure leaves
        // nothing to be done: the context is offline, and comes back with fresh registers.
        unsafe { libc::pwrite(fd, (&raw const value).cast(), 8, at) };
    }
}

/// The number of writes until a register certainly holds the value. On NetBurst the first write of
/// a counter may not reach the upper bits (erratum N15). Other processors have other counters under
/// some of these numbers, for which a second write has no effect.
pub(super) fn writes(msr: u32) -> usize {
    if (0x300..0x312).contains(&msr) { 2 } else { 1 }
}
