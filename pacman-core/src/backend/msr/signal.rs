//! Restoring the registers when the process is told to end.
//!
//! While any set of counters is open, SIGINT and SIGTERM come to a handler that puts
//! every register back with `pwrite(2)` (README.md has the protocol) and then does what would have been done without
//! it: the program's own handler is called, as its flags and mask ask for, or the process
//! ends by the signal. A signal that the program ignores stays ignored. `exit(3)` restores as well, for threads that
//! never got to drop their counters; a forked child lets go of them.
//!
//! SIGKILL, and a panic in a program built with `panic = "abort"`, leave the registers
//! programmed: counters that run on harm nobody, but the next program finds them taken.

use std::cell::UnsafeCell;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::undo;

/// The signals that end a process in an orderly way, and that a program may handle.
const SIGNALS: [i32; 2] = [libc::SIGINT, libc::SIGTERM];

/// Handlers for as long as anything is open; counts its users.
#[derive(Debug, Default)]
pub(super) struct Handlers {
    users: usize,
}

impl Handlers {
    /// None installed.
    pub(super) const NONE: Handlers = Handlers { users: 0 };

    /// One more set of counters is open.
    pub(super) fn enter(&mut self) {
        static WHOLE_PROCESS: Once = Once::new();
        WHOLE_PROCESS.call_once(|| {
            // SAFETY: the function lives as long as the program.
            unsafe { libc::atexit(at_exit) };
        });
        self.users += 1;
        if self.users == 1 {
            for (signal, previous) in SIGNALS.into_iter().zip(&PREVIOUS) {
                previous.replace(signal);
            }
        }
    }

    /// One set of counters less.
    pub(super) fn leave(&mut self) {
        self.users -= 1;
        if self.users == 0 {
            for (signal, previous) in SIGNALS.into_iter().zip(&PREVIOUS) {
                previous.reinstate(signal);
            }
        }
    }

    /// In a forked child: nothing is open there.
    pub(super) fn disown(&mut self) {
        while self.users > 0 {
            self.leave();
        }
    }
}

/// The disposition of a signal before this library's.
struct Previous {
    /// As `sigaction(2)` told it; written only while no handler of ours is installed.
    action: UnsafeCell<Option<libc::sigaction>>,
    /// Its handler, for ours to call.
    handler: AtomicUsize,
}

// SAFETY: `action` is touched only by `replace` and `reinstate`, under the claims's
// lock; the signal handler reads `handler` alone.
unsafe impl Sync for Previous {}

impl Previous {
    const fn new() -> Previous {
        Previous { action: UnsafeCell::new(None), handler: AtomicUsize::new(libc::SIG_DFL) }
    }

    fn replace(&self, signal: i32) {
        // SAFETY: zeros are a valid `sigaction`, filled in by the call below.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: asks only; the structure is live.
        let asked = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut action) };
        if asked != 0 || action.sa_sigaction == libc::SIG_IGN {
            return;
        }
        // ATOMICS: stored before the handler is installed, which orders it for the
        // handler; SeqCst costs nothing here.
        self.handler.store(action.sa_sigaction, Ordering::SeqCst);
        // SAFETY: under the claims' lock, see `Sync`.
        unsafe { *self.action.get() = Some(action) };
        let mut ours = action;
        ours.sa_sigaction = on_signal as *const () as usize;
        ours.sa_flags = match action.sa_sigaction {
            libc::SIG_DFL => libc::SA_SIGINFO | libc::SA_ONSTACK,
            // The program's handler runs inside of ours: on the stack, with the signals blocked
            // and with the disposition left behind that its own flags and mask ask for.
            _ => libc::SA_SIGINFO | action.sa_flags,
        };
        // SAFETY: `on_signal` has the signature of a SA_SIGINFO handler and is
        // async-signal-safe.
        unsafe { libc::sigaction(signal, &raw const ours, std::ptr::null_mut()) };
    }

    fn reinstate(&self, signal: i32) {
        // SAFETY: under the claims' lock, see `Sync`.
        let Some(before) = (unsafe { (*self.action.get()).take() }) else { return };
        // SAFETY: zeros are a valid `sigaction`, filled in by the call below.
        let mut now: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: both structures are live; what is put back came from the kernel.
        unsafe {
            libc::sigaction(signal, std::ptr::null(), &raw mut now);
            // A handler that was installed since calls this one as its previous one.
            if now.sa_sigaction == on_signal as *const () as usize {
                libc::sigaction(signal, &raw const before, std::ptr::null_mut());
            }
        }
    }
}

static PREVIOUS: [Previous; 2] = [const { Previous::new() }; 2];

extern "C" fn on_signal(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: errno is the thread's own; the interrupted code finds it unchanged.
    let errno = unsafe { *libc::__errno_location() };
    let at = SIGNALS.iter().position(|known| *known == signal).unwrap_or(0);
    let handler = PREVIOUS[at].handler.load(Ordering::SeqCst);
    let ends = handler == libc::SIG_DFL;
    undo::undo_all(ends);
    if ends {
        // SAFETY: both calls are async-signal-safe. The signal is blocked until this
        // handler returns, and then ends the process.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    } else {
        type Handler = extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void);
        // SAFETY: the kernel gave this address as the handler. One that takes only the
        // signal's number ignores the other two registers.
        let handler = unsafe { std::mem::transmute::<usize, Handler>(handler) };
        handler(signal, info, context);
    }
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}

extern "C" fn at_exit() {
    undo::undo_all(true);
}
