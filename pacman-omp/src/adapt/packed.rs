//! Before and after an execution of a region that may be packed.

use std::cell::Cell;

use pacman_adapt::packing::{Ended, Next, Packing};
use pacman_regions::watch::{Phase, Seen, since_boot};
use std::time::Duration;
use try_lock::TryLock;

use crate::block_time;
use crate::isolation::isolated;
use crate::notes;
use crate::packing::crew::{self, Packed, PackingSlot};
use crate::packing::setup::{self, Setup};
use crate::packing::{Decided, Target};
use crate::process;
use crate::region::Region;
use crate::worker::Worker;

/// How an execution runs.
pub(crate) struct Execution {
    ran: Next,
    /// The state while it runs packed.
    begun: Option<Seen>,
    /// The masks were changed before it.
    is_changed: bool,
    /// See [`crew::changes`].
    changes: u32,
    /// When its preparation began, in ticks.
    since: u64,
}

/// The configuration that the members have now. Only the primary thread uses it.
struct Current {
    target: Option<(Target, u32)>,
    changes: u32,
    /// The region that was packed last, whose masks the next one changes.
    cause: Option<&'static Region>,
    /// Bound threads are noted once.
    bound: u32,
    /// When to look again whether both watchers live, in nanoseconds of held executions.
    look: u64,
}

static CURRENT: TryLock<Current> =
    TryLock::new(Current { target: None, changes: 0, cause: None, bound: 0, look: 0 });

thread_local! {
    /// The thread was noted as another one that starts regions.
    static NOTED: Cell<bool> = const { Cell::new(false) };
}

/// Held nanoseconds between two looks.
const LOOK: u64 = 20_000_000;
/// Executions with a bound thread after which nothing is packed any more.
const BOUND: u32 = 16;
/// Forced executions have no other limit.
const FOREVER: u64 = 1 << 50;

/// Decides how the next execution of `region` runs, and sets the masks of its members. `worker` is its primary
/// thread, inside no other region.
pub(crate) fn before(region: &'static Region, worker: &Worker) -> Option<Execution> {
    let crew = match crew::known() {
        Some(crew) => crew,
        None if crew::is_prepared() => {
            // It may have ended while threads were packed.
            CURRENT.try_lock().as_deref_mut().map(forget);
            return None;
        }
        None => isolated(|| crew::prepare(setup::prepare))?,
    };
    let setup = setup::get()?;
    if !crew::is_root(worker.address()) {
        other_root();
        return None;
    }
    let since = worker.now();
    let mut inner = region.adapted.packing.inner.try_lock()?;
    let size = region.adapted.packing.size();
    if size > 1 && inner.as_ref().is_none_or(|decided| decided.size != size) {
        *inner = isolated(|| decided(setup, size));
    }
    let next = match inner.as_mut() {
        Some(decided) => next(setup, crew, decided, since),
        None => Next::Full,
    };
    let mut current = CURRENT.try_lock()?;
    let mut execution =
        Execution { ran: next, begun: None, is_changed: false, changes: crew::changes(), since };
    match (next, inner.as_ref()) {
        (Next::Sample(on, allowance) | Next::Held(on, allowance), Some(decided)) => {
            let target = decided.targets[on].1;
            crew.slot.set_allowance(Duration::from_nanos(allowance));
            let word = crew.slot.word();
            execution.begun = match next {
                Next::Sample(..) => word.begin_sample(),
                _ => word.begin_held(),
            };
            match execution.begun {
                Some(begun) => {
                    let ran = pack(crew, &mut current, region, next, (target, size), begun);
                    execution.is_changed = ran.is_some_and(|changed| changed);
                    if ran.is_none() {
                        (execution.begun, execution.ran) = (None, Next::Full);
                    }
                }
                None => {
                    execution.ran = Next::Full;
                    execution.is_changed = unpack(crew, &mut current, region, worker, setup);
                }
            }
        }
        _ => {
            if next == Next::Ask && crew.slot.ask(since_boot()) {
                crew.table.ring();
            }
            execution.is_changed = unpack(crew, &mut current, region, worker, setup);
        }
    }
    execution.changes = crew::changes();
    Some(execution)
}

/// The decisions about teams of `size`; `None` if there is no choice.
fn decided(setup: &Setup, size: u32) -> Option<Decided> {
    let targets = setup.targets(size);
    let controller = Packing::new(targets.len(), size.min(setup.contexts()));
    (!targets.is_empty()).then_some(Decided { size, targets, controller })
}

fn next(setup: &Setup, crew: &PackingSlot, decided: &mut Decided, now: u64) -> Next {
    let armed = || {
        let is_armed = crew.slot.word().seen().is_armed();
        is_armed.then(|| crew.slot.late().as_nanos() as u64)
    };
    if let Some(forced) = &setup.forced {
        return match forced.allowance {
            None => Next::Held(0, FOREVER),
            Some(allowance) if armed().is_some() => Next::Sample(0, allowance.as_nanos() as u64),
            Some(_) => Next::Ask,
        };
    }
    let Some(mut budget) = setup.budget.try_lock() else { return Next::Full };
    let run = setup.nanoseconds(process::own(now).1);
    decided.controller.next(&mut budget, run, armed())
}

/// Packs the members, if they are not packed so already. Answers whether masks were changed; `None` if the
/// execution is not packed.
fn pack(
    crew: &PackingSlot,
    current: &mut Current,
    region: &'static Region,
    next: Next,
    target: (Target, u32),
    begun: Seen,
) -> Option<bool> {
    let is_packed =
        current.target == Some(target) && current.changes == crew::changes() && crew::has_packed();
    let is_sample = matches!(next, Next::Sample(..));
    if is_sample {
        crew.table.ring();
    } else if current.look == 0 {
        current.look = LOOK;
        crew.slot.set_polled(true);
        if !crew.is_watched() {
            crew.ended(begun, false);
            end("the command stands still or is gone");
            forget(current);
            return None;
        }
    }
    current.cause = Some(region);
    if is_packed {
        return Some(false);
    }
    let packed = isolated(|| crew.pack(target.0, target.1));
    if packed != Packed::Yes {
        crew.ended(begun, false);
        crew.restore();
        forget(current);
        current.bound += u32::from(packed == Packed::Bound);
        if current.bound == BOUND {
            end("the program binds its threads");
        }
        return None;
    }
    current.target = Some(target);
    current.changes = crew::changes();
    // Packed threads of libomp sleep instead of spinning.
    isolated(|| block_time::pack(region.runtime));
    if crew.slot.word().seen() != begun {
        // It was cut before the masks were set.
        crew.ended(begun, false);
        forget(current);
        return None;
    }
    Some(true)
}

/// Gives the members their masks back. Charges the region that was packed. Answers whether masks were changed.
fn unpack(
    crew: &PackingSlot,
    current: &mut Current,
    region: &'static Region,
    worker: &Worker,
    setup: &Setup,
) -> bool {
    if !crew::has_packed() {
        forget(current);
        return false;
    }
    let since = worker.now();
    crew.restore();
    let cause = current.cause.filter(|&cause| !std::ptr::eq(cause, region));
    forget(current);
    if let Some(cause) = cause {
        let time = setup.nanoseconds(worker.now().saturating_sub(since));
        if let Some(Some(decided)) = cause.adapted.packing.inner.try_lock().as_deref_mut() {
            decided.controller.charge(2 * time);
        }
    }
    true
}

/// No member is packed.
fn forget(current: &mut Current) {
    current.target = None;
    current.cause = None;
    block_time::unpack();
}

/// The execution has ended with a team of `size` after `ticks`. True if its report should be written.
pub(crate) fn after(
    region: &'static Region,
    worker: &Worker,
    execution: Option<&Execution>,
    size: u32,
    ticks: u64,
) -> bool {
    let (Some(setup), Some(execution)) = (setup::get(), execution) else { return false };
    let is_sample = matches!(execution.ran, Next::Sample(..));
    let crew = crew::known();
    let ended = match (execution.begun, crew::ever()) {
        (Some(begun), Some(crew)) => Some(crew.ended(begun, is_sample)),
        _ => None,
    };
    let before = region.adapted.packing.size();
    region.adapted.packing.set_size(size);
    let Some(mut inner) = region.adapted.packing.inner.try_lock() else { return false };
    let Some(decided) = inner.as_mut() else { return false };
    let Some(crew) = crew else { return false };
    let Some(mut current) = CURRENT.try_lock() else { return false };
    let is_cut = ended == Some(false);
    if is_cut {
        forget(&mut current);
    }
    let waited =
        if execution.is_changed { worker.now().saturating_sub(execution.since) } else { ticks };
    let time = setup.nanoseconds(waited.max(ticks));
    current.look = current.look.saturating_sub(time);
    let is_odd = size != before || size != decided.size || crew::changes() != execution.changes;
    let cut_after = is_cut.then(|| packed_for(setup, crew, worker, execution).min(time));
    let ended = Ended { time, cut_after, is_odd, is_changed: execution.is_changed };
    let state = decided.controller.state();
    let held = decided.controller.held_at();
    let goes_on = match setup.budget.try_lock() {
        Some(mut budget) => decided.controller.ended(execution.ran, ended, &mut budget),
        None => false,
    };
    if is_sample && !goes_on {
        let word = crew.slot.word();
        word.forget(word.seen());
        if decided.controller.held_at().is_none() && setup.forced.is_none() && crew::has_packed() {
            let since = worker.now();
            crew.restore();
            forget(&mut current);
            let time = setup.nanoseconds(worker.now().saturating_sub(since));
            if let Some(mut budget) = setup.budget.try_lock() {
                Packing::given_back(time, &mut budget);
            }
        }
    }
    state != decided.controller.state() || held != decided.controller.held_at()
}

/// How long an execution that was cut ran packed, in nanoseconds. The library itself may have restored the masks: then
/// nobody noted when, and the whole execution counts.
#[cold]
fn packed_for(setup: &Setup, crew: &PackingSlot, worker: &Worker, execution: &Execution) -> u64 {
    let elapsed = setup.nanoseconds(worker.now().saturating_sub(execution.since));
    let begun = since_boot().saturating_sub(Duration::from_nanos(elapsed));
    crew.slot.packed_for(begun).map_or(elapsed, |packed| packed.as_nanos() as u64)
}

/// A team starts that is not decided here: its threads get their own masks back, unless it is inside of another one,
/// which decides.
#[cold]
pub(crate) fn step_aside() {
    if !crew::has_packed() || Worker::known().is_some_and(|worker| worker.depth() > 0) {
        return;
    }
    let (Some(crew), Some(mut current)) = (crew::ever(), CURRENT.try_lock()) else { return };
    let word = crew.slot.word();
    if !word.seen().runs() && word.seen().phase() != Phase::Cut {
        crew.restore();
        forget(&mut current);
    }
}

/// Nothing is packed any more.
#[cold]
fn end(why: &str) {
    crew::end();
    isolated(|| notes::note(format!("nothing is packed any more: {why}")));
}

/// Another thread starts regions, too. Their teams may have the same threads in turn.
#[cold]
fn other_root() {
    if !NOTED.replace(true) {
        end("several threads start regions");
    }
}
