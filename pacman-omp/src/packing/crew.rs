//! The threads that may be packed, and their masks. `pacman_regions::watch` has the protocol.
//!
//! The members of a team write their numbers to the [slot](Slot) of this process when they take part. The primary
//! thread sets their masks before the next team starts, and only while the state word says that an execution
//! runs. Whoever cuts that execution gives the masks back: a watcher, or a thread of the program that uses masks.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use libc::pid_t;
use pacman_core::system_calls;
use pacman_regions::watch::affinity::{self, Mask};
use pacman_regions::watch::{ALIVE, MEMBERS, Phase, Seen, Slot, Table, since_boot};

use super::state::{CrewMember, Target};
use crate::defect::Unknown;

/// The slot of this process, and the table that has it.
#[derive(Clone, Copy)]
pub(crate) struct PackingSlot {
    pub(crate) slot: Slot<'static>,
    pub(crate) table: Table<'static>,
}

static CREW: OnceLock<Option<PackingSlot>> = OnceLock::new();
/// Nothing is packed any more in this process.
static ENDED: AtomicBool = AtomicBool::new(false);
/// Some member may be packed.
static PACKED: AtomicBool = AtomicBool::new(false);
/// Changes of the members or of their masks that the primary thread did not make.
static CHANGES: AtomicU32 = AtomicU32::new(0);
/// The address of the worker of the thread that starts all teams; 0 if none has.
static ROOT: AtomicUsize = AtomicUsize::new(0);

/// A watcher restores the masks within that time, unless it was stopped.
const STUCK: Duration = Duration::from_millis(20);
/// Both watchers gave a sign of life within that time, or nothing is held.
const WATCHED: Duration = Duration::from_millis(5 * ALIVE.as_millis() as u64);

/// Runs `act`, whose system calls may fail.
fn keeping_errno(act: impl FnOnce()) {
    // SAFETY: a word of this thread.
    unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        act();
        *errno = before;
    }
}

/// The crew, also when nothing is packed any more.
pub(crate) fn ever() -> Option<&'static PackingSlot> {
    CREW.get().and_then(Option::as_ref)
}

/// The crew, once it is prepared.
#[inline]
pub(crate) fn known() -> Option<&'static PackingSlot> {
    if ENDED.load(Ordering::Relaxed) { None } else { CREW.get().and_then(Option::as_ref) }
}

/// Prepares it, once.
pub(crate) fn prepare(make: impl FnOnce() -> Option<PackingSlot>) -> Option<&'static PackingSlot> {
    CREW.get_or_init(make);
    known()
}

/// Whether it was prepared, or found to be impossible.
pub(crate) fn is_prepared() -> bool {
    ENDED.load(Ordering::Relaxed) || CREW.get().is_some()
}

/// Whether the thread with the worker at that address starts all teams of this process.
#[inline]
pub(crate) fn is_root(worker: usize) -> bool {
    match ROOT.load(Ordering::Relaxed) {
        0 => ROOT.compare_exchange(0, worker, Ordering::Relaxed, Ordering::Relaxed).is_ok(),
        root => root == worker,
    }
}

/// Whether the thread with the worker at that address is known to start all teams.
pub(crate) fn starts_teams(worker: usize) -> bool {
    ROOT.load(Ordering::Relaxed) == worker
}

/// The calling thread takes part in a team as `number`.
#[inline]
pub(crate) fn take_part(member: &CrewMember, number: u32, cpu: impl FnOnce() -> Option<u32>) {
    let Some(crew) = known() else { return };
    if number as usize >= MEMBERS {
        return;
    }
    let (thread, (before, from)) = (member.thread(), crew.slot.member(number as usize));
    // Where it is while it is packed is not where it comes from.
    let is_packed = PACKED.load(Ordering::Relaxed) && before == thread;
    let cpu = if is_packed { from } else { cpu().unwrap_or(from) };
    if member.becomes(number, cpu) || before != thread {
        crew.slot.set_member(number as usize, thread, cpu);
        if before != thread {
            CHANGES.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The thread ends.
pub(crate) fn leave(member: &CrewMember) {
    if let (Some((thread, number)), Some(Some(crew))) = (member.known(), CREW.get()) {
        crew.slot.forget_member(number as usize, thread);
        CHANGES.fetch_add(1, Ordering::Relaxed);
    }
}

/// The changes that the primary thread did not make.
pub(crate) fn changes() -> u32 {
    CHANGES.load(Ordering::Relaxed)
}

/// Whether some member may be packed.
#[inline]
pub(crate) fn has_packed() -> bool {
    PACKED.load(Ordering::Relaxed)
}

/// The calling thread starts a thread or process, which inherits its mask. It gets its own mask back.
pub(crate) fn hands_on_mask() {
    let (true, Some(Some(crew))) = (has_packed(), CREW.get()) else { return };
    // SAFETY: these only return numbers.
    let (thread, here) = unsafe { (libc::gettid(), libc::sched_getcpu()) };
    let (packed, wide) = (crew.slot.packed(), crew.slot.wide());
    keeping_errno(|| affinity::widen(thread, &packed, &wide, here as u32));
    CHANGES.fetch_add(1, Ordering::Relaxed);
}

/// The program uses masks, or the process ends: all threads get their own masks back, and keep them.
pub(crate) fn end() {
    ENDED.store(true, Ordering::Relaxed);
    let Some(Some(crew)) = CREW.get() else { return };
    let word = crew.slot.word();
    while has_packed() {
        let seen = word.seen();
        if seen.phase() == Phase::Cut {
            wait_for(crew, seen);
        } else if let Some(cut) = word.cut(seen) {
            crew.restore();
            word.restored(cut);
        }
    }
    crew.slot.set_polled(false);
}

/// The process ends, or becomes another program. Only stores numbers.
pub(crate) fn leave_slot() {
    if let Some(Some(crew)) = CREW.get() {
        crew.slot.leave();
    }
}

/// In the child of a fork, whose only thread has its own mask: the slot is the parent's.
pub(crate) fn forked(member: Option<&CrewMember>) {
    ENDED.store(true, Ordering::Relaxed);
    PACKED.store(false, Ordering::Relaxed);
    if let Some(member) = member {
        member.forget();
    }
}

/// Waits until whoever cut `seen` has restored the masks. If it was stopped or killed, the caller goes on.
fn wait_for(crew: &PackingSlot, seen: Seen) {
    let word = crew.slot.word();
    let since = since_boot();
    while word.seen() == seen {
        if since_boot() - since > STUCK {
            word.restored(seen);
            return;
        }
        // SAFETY: takes nothing.
        unsafe { libc::sched_yield() };
    }
}

/// Whether threads were packed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packed {
    Yes,
    /// Somebody bound a thread, or gave it a policy of its own.
    Bound,
    /// A member is not known yet.
    Unknown,
}

impl Unknown for Packed {
    fn unknown() -> Packed {
        Packed::Unknown
    }
}

impl PackingSlot {
    /// Whether both watchers live.
    pub(crate) fn is_watched(&self) -> bool {
        self.table.is_watched(since_boot(), WATCHED)
    }

    /// The execution that began with `begun` has ended. False if it was cut; the masks are restored then.
    pub(crate) fn ended(&self, begun: Seen, stays_armed: bool) -> bool {
        let word = self.slot.word();
        if word.end(begun, stays_armed) {
            return true;
        }
        let seen = word.seen();
        if seen.phase() == Phase::Cut {
            wait_for(self, seen);
        }
        self.restore();
        false
    }

    /// Confines the members of a team of `size` to `target`. Called while an execution is said to run.
    pub(crate) fn pack(&self, target: Target, size: u32) -> Packed {
        if has_packed() {
            self.restore();
        }
        let wide = self.slot.wide();
        let threads = || (0..size as usize).map(|number| self.slot.member(number).0);
        if size as usize > MEMBERS || threads().any(|thread| thread == 0) {
            return Packed::Unknown;
        }
        if threads().any(|thread| is_bound(thread, &wide)) {
            return Packed::Bound;
        }
        let packed = match target {
            Target::These(mask) => mask,
            // SAFETY: it only returns a number.
            Target::One => affinity::single(unsafe { libc::sched_getcpu() } as u32),
        };
        self.slot.set_packed(&packed);
        PACKED.store(true, Ordering::Release);
        // The primary thread last: it is the caller.
        threads().collect::<Threads>().set(&packed);
        Packed::Yes
    }

    /// Gives all members their own masks back.
    pub(crate) fn restore(&self) {
        // After a filter of system calls the masks stay; they were restored before it.
        if has_packed() && !system_calls::are_forbidden() {
            keeping_errno(|| self.slot.restore(|_| true));
        }
        PACKED.store(false, Ordering::Release);
    }
}

/// The threads of a team, without an allocation.
struct Threads([pid_t; MEMBERS], usize);

impl FromIterator<pid_t> for Threads {
    fn from_iter<I: IntoIterator<Item = pid_t>>(threads: I) -> Threads {
        let mut all = Threads([0; MEMBERS], 0);
        for thread in threads.into_iter().take(MEMBERS) {
            all.0[all.1] = thread;
            all.1 += 1;
        }
        all
    }
}

impl Threads {
    fn set(&self, mask: &Mask) {
        // A refusal leaves the thread where it is, which is slower but correct.
        for &thread in self.0[..self.1].iter().rev() {
            affinity::set(thread, mask);
        }
    }
}

/// Whether the thread has another mask than those that nobody bound, or a policy that is not the usual one.
fn is_bound(thread: pid_t, wide: &Mask) -> bool {
    // SAFETY: only reads the policy.
    let policy = unsafe { libc::syscall(libc::SYS_sched_getscheduler, thread) };
    let is_usual =
        [libc::SCHED_OTHER, libc::SCHED_BATCH].iter().any(|&one| policy == i64::from(one));
    !is_usual || affinity::of(thread).is_none_or(|mask| mask != *wide)
}
