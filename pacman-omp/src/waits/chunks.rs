//! Requests of a thread for the next chunk of a loop.
//!
//! A request takes some ten nanoseconds, and a loop may make millions. So all are counted, and few are timed. Three
//! times are known then: that of a timed request, that of the work of a chunk after it, and that of several
//! requests and chunks between two timed ones. Timing disturbs: a timed request finds the counter of the loop in another
//! thread's cache, or meets no thread that changes it at the same time, and a timed chunk begins with an empty pipeline. An
//! interval without the work of its chunks gives another time of a request. The longer of both counts, up to the time that the
//! interval has for each request with its chunk. How far that is from the truth is not known, but it is never more than the
//! thread's time outside of its waits: of few requests one may be timed, and the thread may lose its processor in that one.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Requests that pass between two timed ones, at least and at most: after the first [`EARLY`] timed ones of a part, and
/// later. The number is random, so that no rhythm of a loop meets that of the timing.
const SOON: (u32, u32) = (2, 8);
const LATER: (u32, u32) = (32, 96);
const EARLY: u32 = 16;
/// Ticks, 5 to 8 µs. A request that takes longer was interrupted, and chunks that take longer are not small.
const LONG: u64 = 16_384;
/// So many requests pass outside of parts before one looks for a part again.
const OUTSIDE: i32 = i32::MAX;

/// Times that vary, in ticks.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    sum: u64,
    squares: u64,
    count: u64,
}

impl Times {
    fn add(&mut self, ticks: u64) {
        self.sum += ticks;
        self.squares = self.squares.saturating_add(ticks * ticks);
        self.count += 1;
    }

    fn mean(&self) -> Option<u64> {
        self.sum.checked_div(self.count)
    }

    /// How far the mean may be from that of many times, squared: four times its variance.
    fn margin_squared(&self) -> u64 {
        let Some(mean) = self.mean() else { return 0 };
        let variance = (self.squares / self.count).saturating_sub(mean * mean);
        4 * variance / self.count
    }
}

/// The requests of one loop in the present part.
#[derive(Clone, Copy, Debug, Default)]
struct Loop {
    /// The return address; 0 before the first request.
    caller: u64,
    count: u64,
    /// Timed requests: those below [`LONG`], and the others.
    requests: Times,
    long: Times,
    /// The work of a chunk.
    works: Times,
    /// A request with its chunk, each by an interval between timed ones.
    cycles: Times,
}

impl Loop {
    /// The ticks of a request, from what was timed.
    fn request(&self) -> u64 {
        // If most take long, they were not interrupted.
        let usual = if self.long.count > self.requests.count { self.long } else { self.requests };
        let timed = usual.mean().unwrap_or(0);
        let (Some(cycle), Some(work)) = (self.cycles.mean(), self.works.mean()) else {
            return timed;
        };
        let margin = (self.cycles.margin_squared() + self.works.margin_squared()).isqrt();
        timed.max(cycle.saturating_sub(work + margin)).min(cycle)
    }

    /// The requests of the loop, which take at most `most` ticks.
    fn told(&self, most: u64) -> Option<Requests> {
        let (caller, count) = (self.caller, self.count);
        let ticks = count.saturating_mul(self.request()).min(most);
        (count > 0).then_some(Requests { caller, count, ticks })
    }
}

/// Where uninterrupted work of a part began, and the time of the thread's waits until then.
#[derive(Clone, Copy, Debug, Default)]
struct Stretch {
    began: u64,
    waited: u64,
}

impl Stretch {
    /// The ticks until `now` in which the thread did not wait.
    fn worked(self, now: u64, waited: u64) -> u64 {
        now.saturating_sub(self.began).saturating_sub(waited.saturating_sub(self.waited))
    }
}

/// The latest timed request of a part.
#[derive(Clone, Copy, Debug, Default)]
struct Latest {
    /// The number of timed requests of the part with it.
    number: u32,
    /// Its end; 0 if no interval begins there, because the loop ended.
    ended: u64,
    /// The time of the thread's waits until then.
    waited: u64,
    /// The ticks of the interval before it, and its own.
    interval: u64,
    request: u64,
}

/// The requests of one thread. Only that thread uses it.
#[derive(Debug)]
pub(crate) struct ChunkRequests {
    /// The requests that pass before one is timed. The entry in assembly counts it down.
    pub(crate) left: Cell<i32>,
    /// Its value after the latest timed request.
    gap: Cell<i32>,
    stretch: Cell<Stretch>,
    present: Cell<Loop>,
    latest: Cell<Latest>,
    timed: Cell<u64>,
    random: Cell<u64>,
    is_calibrating: Cell<bool>,
}

impl Default for ChunkRequests {
    fn default() -> ChunkRequests {
        ChunkRequests {
            left: Cell::new(OUTSIDE),
            gap: Cell::new(OUTSIDE),
            stretch: Cell::default(),
            present: Cell::default(),
            latest: Cell::default(),
            timed: Cell::new(0),
            random: Cell::new(0),
            is_calibrating: Cell::new(false),
        }
    }
}

/// The requests of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Requests {
    pub(super) caller: u64,
    pub(super) count: u64,
    pub(super) ticks: u64,
}

impl ChunkRequests {
    /// A part begins at `began`, or goes on after one inside of it. The thread has waited for `waited` ticks so far.
    pub(super) fn begin(&self, began: u64, waited: u64) {
        self.stretch.set(Stretch { began, waited });
        self.present.set(Loop::default());
        self.latest.set(Latest::default());
        self.wait_for(0);
    }

    /// A request was made in no part. Later ones pass until a part begins.
    pub(crate) fn outside(&self) {
        self.present.set(Loop::default());
        self.wait_for(OUTSIDE);
    }

    fn wait_for(&self, gap: i32) {
        self.left.set(gap);
        self.gap.set(gap);
    }

    /// A request that returns to `caller` is to be timed, at `now`. The thread has waited for `waited` ticks so far.
    /// Answers the requests of another loop before, which has ended.
    pub(super) fn arrives(&self, caller: u64, now: u64, waited: u64) -> Option<Requests> {
        let (mut present, mut latest) = (self.present.get(), self.latest.get());
        let is_another = present.caller != caller;
        let passed = self.gap.get().max(0) as u64;
        let before = if is_another {
            // Most of those that passed are most likely of the loop that goes on.
            let told = present.told(self.stretch.get().worked(now, waited));
            present = Loop { caller, ..Loop::default() };
            told
        } else {
            None
        };
        present.count += passed + 1;
        latest.interval =
            now.saturating_sub(latest.ended).saturating_sub(INTERVAL_COST.load(Ordering::Relaxed));
        let is_whole = !is_another && latest.ended != 0 && latest.waited == waited;
        if is_whole && latest.interval < LONG * (passed + 1) {
            match passed {
                0 => present.works.add(latest.interval),
                // The interval has the work of one more chunk, which many requests outweigh.
                _ => present.cycles.add(latest.interval / (passed + 1)),
            }
        }
        self.present.set(present);
        self.latest.set(latest);
        self.timed.set(self.timed.get() + 1);
        before
    }

    /// The timed request took `ticks`. It got no chunk if it `is_last`. `now` reads the clock.
    pub(super) fn ended(&self, ticks: u64, is_last: bool, waited: u64, now: impl Fn() -> u64) {
        let (mut present, mut latest) = (self.present.get(), self.latest.get());
        latest.request = ticks.saturating_sub(REQUEST_COST.load(Ordering::Relaxed));
        latest.number += 1;
        match latest.request {
            LONG.. => present.long.add(latest.request),
            _ => present.requests.add(latest.request),
        }
        // The work of one chunk follows each interval.
        let gap = if latest.number % 2 == 1 { 0 } else { self.draw(latest.number) };
        latest.waited = waited;
        self.present.set(present);
        self.wait_for(gap);
        latest.ended = if is_last { 0 } else { now() };
        self.latest.set(latest);
    }

    /// The requests of the present loop, at the end of the part, at `now`.
    pub(super) fn rest(&self, now: u64, waited: u64) -> Option<Requests> {
        let mut present = self.present.take();
        let passed = u64::try_from(self.gap.get() - self.left.get()).unwrap_or(0);
        if present.caller != 0 {
            present.count += passed;
        }
        self.outside();
        present.told(self.stretch.get().worked(now, waited))
    }

    /// The number of requests that were timed since it was asked last.
    pub(super) fn take_timed(&self) -> u64 {
        self.timed.take()
    }

    fn draw(&self, number: u32) -> i32 {
        let random = self.random.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.random.set(random);
        let (least, most) = if number < EARLY { SOON } else { LATER };
        (least + (random >> 33) as u32 % (most - least + 1)) as i32
    }

    /// Whether a request is one of [`calibrate`](Self::calibrate).
    pub(crate) fn is_calibrating(&self) -> bool {
        self.is_calibrating.get()
    }

    /// Measures what timing takes, once in a process. `request` makes a timed request that does nothing.
    pub(crate) fn calibrate(&self, request: impl Fn()) {
        if IS_CALIBRATED.load(Ordering::Relaxed) || IS_CALIBRATED.swap(true, Ordering::Relaxed) {
            return;
        }
        let (left, gap) = (self.left.get(), self.gap.get());
        let (present, latest, timed) = (self.present.take(), self.latest.take(), self.timed.get());
        self.is_calibrating.set(true);
        let (mut least, mut least_interval) = (u64::MAX, u64::MAX);
        for number in 0..CALIBRATIONS {
            self.wait_for(0);
            request();
            let latest = self.latest.get();
            least = least.min(latest.request);
            if number > 0 {
                least_interval = least_interval.min(latest.interval);
            }
        }
        self.is_calibrating.set(false);
        REQUEST_COST.store(least, Ordering::Relaxed);
        INTERVAL_COST.store(least_interval, Ordering::Relaxed);
        self.present.set(present);
        self.latest.set(latest);
        self.timed.set(timed);
        self.left.set(left);
        self.gap.set(gap);
    }
}

/// An interrupt makes one longer, never shorter.
const CALIBRATIONS: u64 = 32;
static IS_CALIBRATED: AtomicBool = AtomicBool::new(false);
/// The ticks of a timed request that does nothing, and of the interval between two of them.
static REQUEST_COST: AtomicU64 = AtomicU64::new(0);
static INTERVAL_COST: AtomicU64 = AtomicU64::new(0);

#[cfg(test)]
mod tests;
