//! A watcher: it sleeps until a sample begins, and restores the masks if the sample outlasts its allowance.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::futex;
use super::table::{Slot, Table};
use super::word::{Phase, Seen, Watcher};
use crate::sharing::Owner;

/// A watcher gives a sign of life at least that often.
pub const ALIVE: Duration = Duration::from_millis(200);
/// The command's thread looks that often at executions that are held, which ring no bell.
const POLL: Duration = Duration::from_millis(2);
/// The second watcher is later than the first by so much.
const GRACE: Duration = Duration::from_millis(2);
/// A sample that was asked for and did not begin is forgotten after that.
const PATIENCE: Duration = Duration::from_millis(200);
/// A restorer takes that long only if it was stopped or killed.
const STUCK: Duration = Duration::from_millis(5);

/// The state of a slot as the watcher saw it last.
#[derive(Clone, Copy, Default)]
struct Known {
    /// The latest value of the word, and when it was seen first.
    seen: Option<(Seen, Duration)>,
    /// The owner, once its process was found to be the one that it names.
    owner: Option<Owner>,
}

/// Watches until `is_over` says so, which is asked at least every [`ALIVE`]. Takes no lock.
///
/// A watcher that is over leaves no packed execution: it cuts those that go on.
pub fn watch(table: Table<'_>, watcher: Watcher, is_over: impl Fn() -> bool) {
    wake_soon();
    let mut known = [Known::default(); 16];
    let start = Instant::now();
    loop {
        let bell = table.bell().load(Ordering::Acquire) as u32;
        table.lives(watcher, since_boot());
        let ends = is_over();
        let mut most = ALIVE;
        for (slot, known) in table.slots().zip(&mut known) {
            if slot.owner().is_some() {
                most = most.min(attend(slot, known, watcher, start.elapsed(), ends));
            }
        }
        if ends {
            return;
        }
        futex::wait(table.bell(), bell, most);
    }
}

/// Asks the kernel for short slices. The scheduler chooses a thread with a short slice sooner when it wakes on a busy
/// machine. It gives the thread no more time than others (EEVDF, Linux 6.12 and later). Older kernels ignore it.
fn wake_soon() {
    /// The first form of the kernel's structure.
    #[repr(C)]
    struct Attributes {
        size: u32,
        policy: u32,
        flags: u64,
        nice: i32,
        priority: u32,
        runtime: u64,
        deadline: u64,
        period: u64,
    }
    const SHORTEST: u64 = 100_000;
    let size = size_of::<Attributes>() as u32;
    let mut now = Attributes {
        size,
        policy: 0,
        flags: 0,
        nice: 0,
        priority: 0,
        runtime: 0,
        deadline: 0,
        period: 0,
    };
    // SAFETY: structures of the given size, for the calling thread. A refusal changes nothing.
    unsafe {
        let is_known = libc::syscall(libc::SYS_sched_getattr, 0, &raw mut now, size, 0) == 0;
        // The runtime of a thread with deadlines is something else.
        if is_known && [libc::SCHED_OTHER, libc::SCHED_BATCH].contains(&(now.policy as i32)) {
            now.runtime = SHORTEST;
            libc::syscall(libc::SYS_sched_setattr, 0, &raw const now, 0);
        }
    }
}

/// Since the start of the machine, as all processes measure it.
pub fn since_boot() -> Duration {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: filled by the call.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// Does the work of a slot that is due at `now`. Returns the latest time of the next look.
fn attend(
    slot: Slot<'_>,
    known: &mut Known,
    watcher: Watcher,
    now: Duration,
    ends: bool,
) -> Duration {
    let word = slot.word();
    let mut seen = word.seen();
    if seen.phase() == Phase::Asked && !seen.is_armed_by(watcher) && !ends && is_known(slot, known)
    {
        if watcher == Watcher::Command {
            slot.wakes(since_boot());
        }
        seen = word.arm(seen, watcher).unwrap_or(seen);
    }
    let since = match known.seen {
        Some((before, since)) if before == seen => since,
        _ => {
            known.seen = Some((seen, now));
            now
        }
    };
    let grace = if watcher == Watcher::Second { GRACE } else { Duration::ZERO };
    let passed = now - since;
    let left = |most: Duration| most.checked_sub(passed).filter(|left| !left.is_zero());
    match seen.phase() {
        Phase::Sample | Phase::Held => {
            if let (Some(left), false) = (left(slot.allowance() + grace), ends) {
                return left;
            }
            if let Some(cut) = word.cut(seen) {
                slot.count_cut();
                restore(slot, known);
                slot.restored_at(since_boot());
                word.restored(cut);
            }
            Duration::ZERO
        }
        Phase::Cut => {
            if let (Some(left), false) = (left(STUCK + grace), ends) {
                return left;
            }
            // The one that cut it was stopped or killed. To restore again is harmless.
            restore(slot, known);
            slot.restored_at(since_boot());
            word.restored(seen);
            Duration::ZERO
        }
        Phase::Asked => left(PATIENCE).unwrap_or_else(|| {
            word.forget(seen);
            ALIVE
        }),
        Phase::Idle if slot.is_polled() => POLL + 2 * grace,
        Phase::Idle => ALIVE,
    }
}

/// Whether the owner of the slot is a process that this one may watch: it has another number in another
/// namespace.
fn is_known(slot: Slot<'_>, known: &mut Known) -> bool {
    let Some(owner) = slot.owner() else { return false };
    if known.owner != Some(owner) && owner.is_alive() && may_touch(owner) {
        known.owner = Some(owner);
    }
    known.owner == Some(owner)
}

/// Whether the kernel lets this process set the masks of that process. Its first thread gets the mask that it has.
fn may_touch(owner: Owner) -> bool {
    // SAFETY: signal 0 is none.
    unsafe { libc::kill(owner.number() as libc::pid_t, 0) == 0 }
}

/// Restores the masks of the owner's threads that still are threads of that process.
fn restore(slot: Slot<'_>, known: &Known) {
    let Some(owner) = known.owner.filter(|owner| owner.is_alive()) else { return };
    let process = owner.number() as libc::pid_t;
    slot.restore(|thread| {
        // SAFETY: signal 0 is none: the call says whether the process has the thread.
        unsafe { libc::syscall(libc::SYS_tgkill, process, thread, 0) == 0 }
    });
}
