//! How many rounds a waiting thread should spin before it sleeps.
//!
//! Spinning for as long as a sleep and a wake cost loses at most as much again as the best of both would:
//! the rule of competitive spinning (Karlin, Li, Manasse and Owicki, 1991). Twice that is used here, because
//! a sleeping thread also returns to cold caches.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Wakes of a thread that sleeps; the least of them is what no other process disturbed.
const WAKES: usize = 40;
/// Rounds of spinning that are timed.
const TIMED: u32 = 2000;
/// libgomp's own default is 300,000. Below the least, regions of microseconds sleep too soon.
const LEAST: f64 = 100.0;
const MOST: f64 = 20_000.0;
/// Time after which the machine is too busy to measure.
const PATIENCE: Duration = Duration::from_millis(20);

/// Twice what a sleep and a wake cost, in rounds of a loop that pauses; `None` if it cannot be measured.
pub(super) fn rounds() -> Option<u64> {
    let wake = sleep_and_wake()?;
    let round = (0..5).map(|_| spin_time()).min()?.as_secs_f64() / f64::from(TIMED);
    Some((2.0 * wake.as_secs_f64() / round).clamp(LEAST, MOST) as u64)
}

/// The time in which a thread that sleeps is woken and another one then sleeps.
fn sleep_and_wake() -> Option<Duration> {
    let turn = AtomicU32::new(0);
    thread::scope(|scope| {
        let other = thread::Builder::new().spawn_scoped(scope, || {
            for round in 0..WAKES as u32 {
                wait_while(&turn, 2 * round);
                pass(&turn, 2 * round + 2);
            }
        });
        other.ok()?;
        let begun = Instant::now();
        let mut least = None;
        for round in 0..WAKES as u32 {
            let before = Instant::now();
            pass(&turn, 2 * round + 1);
            wait_while(&turn, 2 * round + 1);
            let there_and_back = before.elapsed();
            if begun.elapsed() < PATIENCE {
                least = least
                    .map_or(Some(there_and_back), |best: Duration| Some(best.min(there_and_back)));
            }
        }
        // There and back are two sleeps and two wakes, half of which are at the same time.
        least.map(|least| least / 2)
    })
}

/// Sets the word and wakes whoever sleeps on it.
fn pass(turn: &AtomicU32, next: u32) {
    turn.store(next, Ordering::Release);
    futex(turn, libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, 1);
}

fn wait_while(turn: &AtomicU32, value: u32) {
    while turn.load(Ordering::Acquire) == value {
        futex(turn, libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG, value);
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
    #[test]
    fn rounds_are_measured_within_their_limits() {
        // None on a machine too busy to measure.
        if let Some(rounds) = super::rounds() {
            assert!((100..=20_000).contains(&rounds), "{rounds}");
        }
    }
}
