//! Restores the registers when a signal or `exit(3)` ends the process.
//!
//! While any set of counters is open, this library handles SIGINT and SIGTERM. The handler
//! restores every register with `pwrite(2)`; README.md has the protocol. It then calls the
//! program's own handler, with that handler's flags and mask, or lets the signal end the
//! process. A signal that the program ignores stays ignored. `exit(3)` restores as well, for
//! threads that did not drop their counters. A forked child releases its inherited counters.
//!
//! SIGKILL leaves the registers programmed. So does a panic in a program built with
//! `panic = "abort"`. Running counters do no harm, but the next program finds them taken.

use std::cell::UnsafeCell;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::undo;

/// The signals that ask a process to end, and that a program may handle.
const SIGNALS: [i32; 2] = [libc::SIGINT, libc::SIGTERM];

/// The signal handlers, which are installed while a set of counters is open.
#[derive(Debug, Default)]
pub(super) struct Handlers {
    users: usize,
}

impl Handlers {
    /// No handler is installed.
    pub(super) const NONE: Handlers = Handlers { users: 0 };

    /// Counts a newly opened set of counters; the first one installs the handlers.
    pub(super) fn enter(&mut self) {
        static WHOLE_PROCESS: Once = Once::new();
        WHOLE_PROCESS.call_once(|| {
            // SAFETY: `at_exit` is a function of the program.
            unsafe { libc::atexit(at_exit) };
        });
        self.users += 1;
        if self.users == 1 {
            for (signal, previous) in SIGNALS.into_iter().zip(&PREVIOUS) {
                previous.replace(signal);
            }
        }
    }

    /// Counts off a closed set of counters; the last one reinstates the previous handlers.
    pub(super) fn leave(&mut self) {
        self.users -= 1;
        if self.users == 0 {
            for (signal, previous) in SIGNALS.into_iter().zip(&PREVIOUS) {
                previous.reinstate(signal);
            }
        }
    }

    /// Reinstates the previous handlers in a forked child, which has no open counters.
    pub(super) fn disown(&mut self) {
        while self.users > 0 {
            self.leave();
        }
    }
}

/// The disposition of a signal before this library replaced it.
struct Previous {
    /// The answer of `sigaction(2)`; written only while our handler is not installed.
    action: UnsafeCell<Option<libc::sigaction>>,
    /// The previous handler, which ours calls.
    handler: AtomicUsize,
}

// SAFETY: only `replace` and `reinstate` access `action`, under the claims' lock. The signal
// handler reads only `handler`.
unsafe impl Sync for Previous {}

impl Previous {
    const fn new() -> Previous {
        Previous { action: UnsafeCell::new(None), handler: AtomicUsize::new(libc::SIG_DFL) }
    }

    fn replace(&self, signal: i32) {
        // SAFETY: zeros are a valid `sigaction`, filled in by the call below.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: the call only queries the disposition; the structure is live.
        let asked = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut action) };
        if asked != 0 || action.sa_sigaction == libc::SIG_IGN {
            return;
        }
        // ATOMICS: the installation below orders this store before any call of the handler;
        // SeqCst costs nothing here.
        self.handler.store(action.sa_sigaction, Ordering::SeqCst);
        // SAFETY: under the claims' lock, see `Sync`.
        unsafe { *self.action.get() = Some(action) };
        let mut ours = action;
        ours.sa_sigaction = on_signal as *const () as usize;
        ours.sa_flags = match action.sa_sigaction {
            libc::SIG_DFL => libc::SA_SIGINFO | libc::SA_ONSTACK,
            // The program's handler runs inside of ours. So ours has its flags and mask, which
            // give it the stack, the blocked signals and the later disposition that it expects.
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
        // SAFETY: both structures are live, and `before` came from the kernel.
        unsafe {
            libc::sigaction(signal, std::ptr::null(), &raw mut now);
            // A handler that was installed after ours may call ours: leave it in place.
            if now.sa_sigaction == on_signal as *const () as usize {
                libc::sigaction(signal, &raw const before, std::ptr::null_mut());
            }
        }
    }
}

static PREVIOUS: [Previous; 2] = [const { Previous::new() }; 2];

extern "C" fn on_signal(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: errno belongs to this thread. It is restored below for the interrupted code.
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
        // SAFETY: the kernel gave this address as the handler. A handler that takes only the
        // signal's number ignores the other two argument registers.
        let handler = unsafe { std::mem::transmute::<usize, Handler>(handler) };
        handler(signal, info, context);
    }
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}

extern "C" fn at_exit() {
    undo::undo_all(true);
}
