//! State of the process that every region reads: options, clock, start, configuration epoch.

use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU16, AtomicU32, AtomicU64, Ordering};

use pacman_core::clock::Clock;
use pacman_core::system_calls;
use pacman_regions::{Options, Rank};

use crate::plan::Plan;

struct Setup {
    options: Options,
    clock: Clock,
}

/// Read at every region, on a cache line that nothing else writes to.
#[repr(align(64))]
pub(crate) struct Shared {
    observed: AtomicBool,
    /// See [`plan`], in bits.
    plan: AtomicU16,
    /// When this process began, in ticks; a forked child has its own.
    begun: AtomicU64,
    /// Calls of the program that may change the size of its teams.
    changes: AtomicU32,
    /// See [`config_epoch`].
    config_epoch: AtomicU32,
    /// See [`may_time_waits`]. The executions under way whose waits are timed for adaptation, and one more if
    /// the waits of all executions are timed.
    timed: AtomicU32,
}

static SETUP: OnceLock<Setup> = OnceLock::new();
static RANK: OnceLock<Rank> = OnceLock::new();
pub(crate) static SHARED: Shared = Shared {
    observed: AtomicBool::new(false),
    plan: AtomicU16::new(0),
    begun: AtomicU64::new(0),
    changes: AtomicU32::new(0),
    config_epoch: AtomicU32::new(1),
    timed: AtomicU32::new(0),
};
/// Where [`may_time_waits`] reads, for entries in assembly.
pub(crate) const TIMED_AT: usize = std::mem::offset_of!(Shared, timed);

/// The process that this state belongs to: the child of a `vfork` has another number.
static PID: AtomicU32 = AtomicU32::new(0);

/// A word that is not 0 in the process that this state belongs to. The kernel clears it in the child of any `fork`. Null
/// where the kernel does not (before Linux 4.14).
static OWN: AtomicPtr<AtomicU32> = AtomicPtr::new(ptr::null_mut());

/// Whether another process may use this memory, because the program has called `vfork` or `clone`.
static MAY_SHARE_MEMORY: AtomicBool = AtomicBool::new(false);

/// Sets the options, once; false if they are set already.
pub(crate) fn set_up(options: Options, clock: Clock) -> bool {
    let plan = Plan::of(&options);
    SHARED.plan.store(plan.bits(), Ordering::Relaxed);
    SHARED.timed.store(u32::from(plan.times_waits()), Ordering::Relaxed);
    SETUP.set(Setup { options, clock }).is_ok()
}

/// The work of this process at its regions.
#[inline(always)]
pub(crate) fn plan() -> Plan {
    Plan::from_bits(SHARED.plan.load(Ordering::Relaxed))
}

/// A part of the plan shows now.
pub(crate) fn finds(part: Plan) {
    SHARED.plan.fetch_or(part.bits(), Ordering::Relaxed);
}

/// Sets the rank that a launcher gave, once.
pub(crate) fn set_rank(rank: Option<Rank>) {
    if let Some(rank) = rank {
        let _ = RANK.set(rank);
    }
}

/// The rank that a launcher gave.
pub(crate) fn rank() -> Option<Rank> {
    RANK.get().copied()
}

/// The process has run for `ran` ticks, or has just been forked.
pub(crate) fn begin(ran: u64) {
    SHARED.begun.store(clock().now().saturating_sub(ran), Ordering::Relaxed);
    // The members of the parent's teams do not end in a child.
    SHARED.timed.store(u32::from(plan().times_waits()), Ordering::Relaxed);
    PID.store(std::process::id(), Ordering::Relaxed);
    mark_own();
}

/// Sets [`OWN`].
fn mark_own() {
    const BYTES: usize = 4096;
    let mut own = OWN.load(Ordering::Relaxed);
    if own.is_null() {
        let (access, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping at an address that the kernel chooses.
        let page = unsafe { libc::mmap(ptr::null_mut(), BYTES, access, flags, -1, 0) };
        if page == libc::MAP_FAILED {
            return;
        }
        // SAFETY: the mapping above, which nobody uses yet.
        unsafe {
            if libc::madvise(page, BYTES, libc::MADV_WIPEONFORK) != 0 {
                libc::munmap(page, BYTES);
                return;
            }
        }
        own = page.cast();
        OWN.store(own, Ordering::Relaxed);
    }
    // SAFETY: a word of the page, which is never unmapped.
    unsafe { &*own }.store(1, Ordering::Relaxed);
}

/// The program calls `vfork` or `clone`: from now on a process that shares its memory may call this library.
pub(crate) fn may_share_memory() {
    MAY_SHARE_MEMORY.store(true, Ordering::Relaxed);
}

/// Starts to observe regions.
pub(crate) fn observe() {
    SHARED.observed.store(true, Ordering::Release);
}

/// Observes no region any more, after an error of this library. The recording stays.
#[cold]
pub(crate) fn end_observing() {
    SHARED.observed.store(false, Ordering::Relaxed);
    SHARED.timed.store(0, Ordering::Relaxed);
    HAS_FAILED.store(true, Ordering::Release);
    advance_config_epoch();
}

/// Whether regions are observed at all.
#[inline]
pub(crate) fn is_observed() -> bool {
    // ATOMICS: set once before the program begins; acquire for `SETUP` behind it.
    SHARED.observed.load(Ordering::Acquire)
}

/// Whether some thread may be in a part whose waits are timed: on request, or for adaptation.
#[inline]
pub(crate) fn may_time_waits() -> bool {
    // ATOMICS: the primary thread sets it before the runtime starts the other members.
    SHARED.timed.load(Ordering::Relaxed) != 0
}

/// Runs `execution`, whose waits are timed for adaptation.
pub(crate) fn time_waits_of<R>(execution: impl FnOnce() -> R) -> R {
    SHARED.timed.fetch_add(1, Ordering::Relaxed);
    let answer = execution();
    // The child of a fork inside has begun anew.
    let less = |timed: u32| timed.checked_sub(1);
    let _ = SHARED.timed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    answer
}

/// See [`end_observing`].
static HAS_FAILED: AtomicBool = AtomicBool::new(false);

/// Whether an error of this library has ended observing.
pub(crate) fn has_failed() -> bool {
    HAS_FAILED.load(Ordering::Acquire)
}

/// Whether the program has marked a phase.
static MARKS_PHASES: AtomicBool = AtomicBool::new(false);

/// Whether the program has marked a phase, as far as this thread has seen.
#[inline]
pub(crate) fn has_phases() -> bool {
    MARKS_PHASES.load(Ordering::Relaxed)
}

/// The program marks a phase.
pub(crate) fn marks_phases() {
    MARKS_PHASES.store(true, Ordering::Relaxed);
}

/// Whether memory is this process's own: the child of a `vfork` has its parent's. The system is asked only where such a
/// child is possible, because a filter of system calls may end a program that asks. A process that is known to filter
/// its system calls is not asked at all.
pub(crate) fn is_own() -> bool {
    let is_own = || {
        let own = OWN.load(Ordering::Relaxed);
        if own.is_null() || MAY_SHARE_MEMORY.load(Ordering::Relaxed) {
            return std::process::id() == PID.load(Ordering::Relaxed);
        }
        // SAFETY: a word of a page that is never unmapped.
        unsafe { &*own }.load(Ordering::Relaxed) != 0
    };
    (is_observed() || has_failed()) && (system_calls::are_forbidden() || is_own())
}

pub(crate) fn options() -> &'static Options {
    static NONE: OnceLock<Options> = OnceLock::new();
    SETUP.get().map_or_else(|| NONE.get_or_init(Options::default), |setup| &setup.options)
}

/// The clock of all times.
#[inline]
pub(crate) fn clock() -> Clock {
    SETUP.get().map_or_else(Clock::detect, |setup| setup.clock)
}

/// The part of a time that belongs to this process: `begun` or the start of the process, whichever
/// is later, and the ticks from the start of the process to it.
///
/// A child that was forked inside a region is in an execution that its parent began.
#[inline(always)]
pub(crate) fn own(begun: u64) -> (u64, u64) {
    let process = SHARED.begun.load(Ordering::Relaxed);
    let begun = begun.max(process);
    (begun, begun - process)
}

/// Ticks from `begun` to `ended` within this process.
#[inline(always)]
pub(crate) fn between(begun: u64, ended: u64) -> u64 {
    ended.saturating_sub(own(begun).0)
}

/// The program calls a function that may change the size of its teams.
pub(crate) fn may_change_teams() {
    SHARED.changes.fetch_add(1, Ordering::Relaxed);
    advance_config_epoch();
}

/// The number of such calls. A runtime's answer about team sizes holds, on the same thread, as long
/// as this number does.
#[inline]
pub(crate) fn changes() -> u32 {
    SHARED.changes.load(Ordering::Relaxed)
}

/// The number of events after which a region may no longer run as it did before. Never 0.
///
/// The program calls a function that may change its teams, a choice changes, or threads are bound. A decision stays valid while the number stays the same.
/// Read the number before you check the conditions of the decision.
#[inline(always)]
pub(crate) fn config_epoch() -> u32 {
    // ATOMICS: an event on another thread may be noticed one region later. Pairs with the release in
    // `advance_config_epoch`: who sees the number sees the event.
    SHARED.config_epoch.load(Ordering::Acquire)
}

/// Invalidates all cached decisions.
#[cold]
pub(crate) fn advance_config_epoch() {
    let next = |epoch: u32| Some(epoch.checked_add(1).unwrap_or(1));
    let _ = SHARED.config_epoch.fetch_update(Ordering::Release, Ordering::Relaxed, next);
}

/// Sets `flag`. The first time advances the configuration epoch.
#[inline]
pub(crate) fn set_once(flag: &AtomicBool) {
    if !flag.load(Ordering::Relaxed) {
        flag.store(true, Ordering::Relaxed);
        advance_config_epoch();
    }
}
