//! How many rounds a waiting thread should spin before it sleeps.
//!
//! Spinning for as long as a sleep and a wake cost loses at most as much again as the best of both would:
//! the rule of competitive spinning (Karlin, Li, Manasse and Owicki, 1991). Twice that is used here, because
//! a sleeping thread also returns to cold caches.
//!
//! Beside other programs a woken thread also waits for its processor. That is no cost of the wake: a thread that
//! spins instead takes the same processor from others, and waits for its turn later. So a busy machine must not make
//! the spin longer. The least of many wakes is one that nobody disturbed. Where there is no time for many, the
//! processor time counts, which has no waiting.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::system;

/// Wakes of a thread that sleeps; the least of them is what no other process disturbed.
const WAKES: u32 = 40;
/// The first wakes also bring code and data into caches.
const FEW: u32 = 3;
/// Rounds of spinning that are timed.
const TIMED: u32 = 2000;
/// libgomp's own default is 300,000. Below the least, regions of microseconds sleep too soon.
const LEAST: f64 = 100.0;
const MOST: f64 = 20_000.0;
/// Time for all wakes. A machine on which they take longer is busy.
const PATIENCE: Duration = Duration::from_millis(20);
/// The word of a thread that sleeps no more.
const OVER: u32 = u32::MAX;

/// Twice what a sleep and a wake cost, in rounds of a loop that pauses; `None` if it cannot be measured.
pub(super) fn rounds() -> Option<u64> {
    let wake = sleep_and_wake(PATIENCE)?;
    let round = (0..5).map(|_| spin_time()).min()?.as_secs_f64() / f64::from(TIMED);
    Some((2.0 * wake.as_secs_f64() / round).clamp(LEAST, MOST) as u64)
}

/// The least time in which a thread that sleeps is woken and another one then sleeps. If not all wakes end within
/// `patience`, the least processor time that one thread takes for both.
fn sleep_and_wake(patience: Duration) -> Option<Duration> {
    let turn = AtomicU32::new(0);
    thread::scope(|scope| {
        let other = thread::Builder::new().spawn_scoped(scope, || {
            for round in 0..WAKES {
                if wait_while(&turn, 2 * round) == OVER {
                    break;
                }
                pass(&turn, 2 * round + 2);
            }
        });
        other.ok()?;
        let begun = Instant::now();
        let (mut least, mut least_own) = (Duration::MAX, Duration::MAX);
        for round in 0..WAKES {
            let (before, own) = (Instant::now(), processor_time());
            pass(&turn, 2 * round + 1);
            wait_while(&turn, 2 * round + 1);
            least_own = least_own.min(processor_time().saturating_sub(own));
            // There and back are two sleeps and two wakes, half of which are at the same time.
            least = least.min(before.elapsed() / 2);
            if begun.elapsed() > patience && round + 1 >= FEW {
                pass(&turn, OVER);
                return Some(least_own.min(least));
            }
        }
        Some(least)
    })
}

/// The time for which the calling thread had a processor.
fn processor_time() -> Duration {
    system::clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Sets the word and wakes whoever sleeps on it.
fn pass(turn: &AtomicU32, next: u32) {
    turn.store(next, Ordering::Release);
    futex(turn, libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, 1);
}

/// Sleeps while the word has that value. Answers its next one.
fn wait_while(turn: &AtomicU32, value: u32) -> u32 {
    loop {
        match turn.load(Ordering::Acquire) {
            same if same == value => {
                futex(turn, libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG, value)
            }
            next => return next,
        }
    }
}

fn futex(word: &AtomicU32, operation: i32, value: u32) {
    // SAFETY: the word lives during the call. A wait without a time limit returns when the word has changed
    // or a wake comes; its callers look at the word again.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            operation,
            value,
            std::ptr::null::<libc::timespec>(),
        )
    };
}

fn spin_time() -> Duration {
    let word = AtomicU32::new(0);
    let begun = Instant::now();
    for _ in 0..TIMED {
        // As libgomp's loop: a look at the word, and a pause.
        std::hint::black_box(word.load(Ordering::Acquire));
        std::hint::spin_loop();
    }
    begun.elapsed()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{PATIENCE, TIMED, sleep_and_wake, spin_time};

    #[test]
    fn rounds_are_measured_within_their_limits() {
        let rounds = super::rounds().expect("a second thread");
        assert!((100..=20_000).contains(&rounds), "{rounds}");
    }

    #[test]
    fn without_time_for_all_wakes_the_processor_time_counts() {
        // No time at all: as on a machine on which the first wake takes longer than all should.
        let costs: Vec<Duration> =
            (0..5).map(|_| sleep_and_wake(Duration::ZERO).expect("a second thread")).collect();
        let least = costs.iter().min().expect("five");
        let round = (0..5).map(|_| spin_time()).min().expect("five") / TIMED;
        assert!(round < *least && *least < PATIENCE, "{round:?} a round, wakes of {costs:?}");
    }
}
