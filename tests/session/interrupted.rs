//! Phases of a signal handler beside phases of the thread that it interrupts.

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use pacman_core::session::Phase;
use pacman_core::{Attached, ErrorKind, Session};

static THREAD: AtomicPtr<(Attached, Phase)> = AtomicPtr::new(std::ptr::null_mut());
static COUNTED: AtomicU64 = AtomicU64::new(0);
static REFUSED: AtomicU64 = AtomicU64::new(0);
static FAILED: AtomicU64 = AtomicU64::new(0);
/// Executions of the interrupted phase, and their number at the latest signal.
static EXECUTIONS: AtomicU64 = AtomicU64::new(0);
static AT: AtomicU64 = AtomicU64::new(0);

extern "C" fn on_signal(_: i32) {
    // SAFETY: the thread is the one that the signal is sent to, and outlives the signals.
    let Some((thread, phase)) = (unsafe { THREAD.load(Ordering::SeqCst).as_ref() }) else { return };
    let counter = match thread.begin(*phase).map_err(|error| error.kind()) {
        Ok(()) if thread.end(*phase).is_ok() => &COUNTED,
        Err(ErrorKind::Reentered) => {
            let ended = thread.end(*phase).map_err(|error| error.kind());
            if ended == Err(ErrorKind::Reentered) { &REFUSED } else { &FAILED }
        }
        _ => &FAILED,
    };
    AT.store(EXECUTIONS.load(Ordering::SeqCst), Ordering::SeqCst);
    counter.fetch_add(1, Ordering::SeqCst);
}

/// The signals that were handled.
fn handlers() -> u64 {
    [&COUNTED, &REFUSED, &FAILED].map(|of| of.load(Ordering::SeqCst)).iter().sum()
}

#[test]
fn a_handler_counts_or_is_refused_and_corrupts_nothing() {
    const EACH: u64 = 10;
    let session = Session::builder("interrupted").events("task-clock,page-faults");
    let session = session.start().unwrap();
    let (work, handled) = (session.phase("work").unwrap(), session.phase("handled").unwrap());
    let mut both = (session.attach().unwrap(), handled);
    THREAD.store(&raw mut both, Ordering::SeqCst);
    // SAFETY: the handler lives as long as the program; nobody else uses the signal here.
    unsafe { libc::signal(libc::SIGUSR2, on_signal as *const () as usize) };
    // SAFETY: takes nothing and cannot fail.
    let target = unsafe { libc::pthread_self() };
    let enough =
        || COUNTED.load(Ordering::SeqCst) >= EACH && REFUSED.load(Ordering::SeqCst) >= EACH;
    let deadline = Instant::now() + Duration::from_secs(60);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut sent = 0;
            while !done.load(Ordering::SeqCst) {
                // One signal an execution: handlers that follow each other between the reading of
                // the clock and that of the counters make an execution that no clock allows.
                let is_over = || EXECUTIONS.load(Ordering::SeqCst) > AT.load(Ordering::SeqCst);
                if handlers() == sent && is_over() {
                    // SAFETY: the thread waits for this one before it ends.
                    unsafe { libc::pthread_kill(target, libc::SIGUSR2) };
                    sent += 1;
                }
                std::thread::yield_now();
            }
        });
        while !enough() && Instant::now() < deadline {
            // SAFETY: only this thread and its handlers use the pair, by shared references.
            let thread = unsafe { &(*THREAD.load(Ordering::SeqCst)).0 };
            for _ in 0..100 {
                thread.begin(work).unwrap();
                thread.end(work).unwrap();
                EXECUTIONS.fetch_add(1, Ordering::SeqCst);
            }
        }
        done.store(true, Ordering::SeqCst);
    });
    let (deadline_met, executions) = (enough(), EXECUTIONS.load(Ordering::SeqCst));
    THREAD.store(std::ptr::null_mut(), Ordering::SeqCst);
    let (counted, refused) = (COUNTED.load(Ordering::SeqCst), REFUSED.load(Ordering::SeqCst));
    assert!(deadline_met, "{counted} counted, {refused} refused");
    assert_eq!(FAILED.load(Ordering::SeqCst), 0);
    let report = session.report();
    let thread = &report.threads[0];
    let [of_work, of_handler] = &thread.phases[..] else { panic!("{:?}", thread.phases) };
    for row in &thread.phases {
        assert_eq!((row.open, &row.implausible), (0, &None), "{row:?}");
        assert!(row.time.sum <= thread.attached, "{row:?}");
        assert!(row.counts[0].raw.sum <= thread.attached, "{row:?}");
    }
    assert_eq!((of_work.executions, of_handler.executions), (executions, counted));
    drop(both);
}
