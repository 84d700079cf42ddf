//! The events that this process counts, and the counters of each thread.

use std::borrow::Cow;
use std::cell::UnsafeCell;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicPtr, Ordering};

use pacman_core::backend::{EventSums, ReadPath, Reading};
use pacman_core::descriptor;
use pacman_core::report::EventSet;
use pacman_core::session::{EventSetRotation, SessionBuilder};
use pacman_core::{Attached, Error, Session, system_calls};
use pacman_regions::arena::EVENTS;
use pacman_regions::{Event, EventFacts};

use crate::lock::Lock;
use crate::notes;
use crate::plan::Plan;
use crate::process;

/// The events of this process; made at its first region, and again after a fork.
#[derive(Debug)]
pub(crate) struct EventPlan {
    session: Option<Session>,
    /// The indices in `events` of each set's counts; several sets take turns.
    pub(crate) sets: Vec<Vec<usize>>,
    /// The requested events, each with the reason if it is not counted; behind them their parts on
    /// the core types of a hybrid.
    pub(crate) events: Vec<Event>,
    /// The place in each set of the event that is counted in every execution and follows the others most: cycles,
    /// the time on a processor, or instructions. Empty if no set has such an event, or no sets take turns.
    pub(crate) measures: Vec<usize>,
    /// For each count of a sample, the index of its event in `events`; empty if sets take turns.
    pub(crate) counted: Vec<usize>,
}

static PLAN: AtomicPtr<EventPlan> = AtomicPtr::new(std::ptr::null_mut());
/// Held while a plan is made, and while a thread's counters are opened or closed. The child of a fork
/// must not find any of these half done.
pub(crate) static OPENING: Lock<()> = Lock::new(());

impl EventPlan {
    /// The plan of this process.
    #[inline]
    pub(crate) fn current() -> &'static EventPlan {
        // ATOMICS: pairs with the release below.
        let plan = PLAN.load(Ordering::Acquire);
        // SAFETY: plans are never freed.
        if plan.is_null() { EventPlan::make() } else { unsafe { &*plan } }
    }

    /// The plan, if any region has run.
    pub(crate) fn made() -> Option<&'static EventPlan> {
        // SAFETY: plans are never freed.
        unsafe { PLAN.load(Ordering::Acquire).as_ref() }
    }

    #[cold]
    fn make() -> &'static EventPlan {
        let _one = OPENING.lock();
        if let Some(plan) = EventPlan::made() {
            return plan;
        }
        descriptor::leave_a_floor();
        let plan = Box::leak(Box::new(EventPlan::of(&process::options().events)));
        PLAN.store(plan, Ordering::Release);
        plan
    }

    /// All events of the list that can be counted: together, or in sets that take turns. Adaptation may
    /// run a region on other threads at each execution, so that sets would be of different executions. It
    /// has as many events, in order, as can be counted together.
    fn of(list: &str) -> EventPlan {
        let list = expanded(list);
        let names: Vec<&str> = pacman_core::Event::names_in(&list).collect();
        let mut events = EventPlan::requested();
        if names.is_empty() {
            return EventPlan::uncounted(events);
        }
        if let Ok(session) = start(&names) {
            return EventPlan::counting(Some(session), events, (0..names.len()).collect());
        }
        if !process::plan().adapts() {
            if let Some(plan) = EventPlan::rotating(&names, &mut events) {
                return plan;
            }
        }
        let mut counted: Vec<usize> = Vec::new();
        for (number, name) in names.iter().enumerate() {
            let with: Vec<&str> = counted.iter().map(|&fits| names[fits]).chain([*name]).collect();
            match start(&with) {
                Ok(_) => counted.push(number),
                Err(error) => events[number].uncounted = Some(error.to_string()),
            }
        }
        let fitting: Vec<&str> = counted.iter().map(|&fits| names[fits]).collect();
        let session = if fitting.is_empty() { None } else { start(&fitting).ok() };
        EventPlan::counting(session, events, counted)
    }

    /// The plan of a session that counts the requested events number `counted`.
    fn counting(
        session: Option<Session>,
        mut events: Vec<Event>,
        mut counted: Vec<usize>,
    ) -> EventPlan {
        let Some(session) = session else {
            return EventPlan::uncounted(events);
        };
        // Behind these a session has what each core type of a hybrid counted of them.
        for part in session.events().iter().skip(counted.len()) {
            counted.push(events.len());
            events.push(Event { facts: facts(part), ..Event::unknown(part.name()) });
        }
        let (sets, measures) = (vec![counted.clone()], Vec::new());
        EventPlan { session: Some(session), events, sets, measures, counted }
    }

    fn uncounted(events: Vec<Event>) -> EventPlan {
        let (sets, measures, counted) = (Vec::new(), Vec::new(), Vec::new());
        EventPlan { session: None, events, sets, measures, counted }
    }

    /// The plan of sets that take turns, of all events that can be counted alone; `None` if there are no
    /// such sets. Notes why the other events are not counted.
    #[cold]
    fn rotating(names: &[&str], events: &mut Vec<Event>) -> Option<EventPlan> {
        let mut alone: Vec<usize> = Vec::new();
        for (number, name) in names.iter().enumerate() {
            match start(&[*name]) {
                Ok(_) => alone.push(number),
                Err(error) => events[number].uncounted = Some(error.to_string()),
            }
        }
        let able: Vec<&str> = alone.iter().map(|&number| names[number]).collect();
        let session = builder(&able).ok()?.rotate_event_sets(EventSetRotation::PerExecution);
        let session = session.keep_figures_together().start_unreported().ok()?;
        let sets = session.sets();
        let EventPlan { session, events, counted: places, .. } =
            EventPlan::counting(Some(session), std::mem::take(events), alone);
        let of_plan = |set: &EventSet| set.events.iter().map(|&event| places[event]).collect();
        let all: Vec<Vec<usize>> = sets.iter().map(of_plan).collect();
        if all.len() < 2 {
            let measures = Vec::new();
            return Some(EventPlan { session, events, sets: all, measures, counted: places });
        }
        process::finds(Plan::ROTATES_SETS);
        let measures = measures(&events, &all);
        Some(EventPlan { session, events, sets: all, measures, counted: Vec::new() })
    }

    /// Whether event sets take turns.
    pub(crate) fn rotates(&self) -> bool {
        self.sets.len() > 1
    }

    /// The session, if events are counted.
    pub(crate) fn session(&self) -> Option<&Session> {
        self.session.as_ref()
    }

    /// The requested events, as this machine knows them.
    fn requested() -> Vec<Event> {
        let list = expanded(&process::options().events);
        // The first look-up chooses the machine.
        let is_known = pacman_sim::install().is_ok();
        let event = |name: &str| match is_known.then(|| name.parse().ok()).flatten() {
            Some(event) => Event { facts: facts(&event), ..Event::unknown(name) },
            None => Event::unknown(name),
        };
        pacman_core::Event::names_in(&list).map(event).collect()
    }

    /// Drops the plan in a forked child, where its counters are the parent's.
    pub(crate) fn forget() {
        PLAN.store(std::ptr::null_mut(), Ordering::Release);
    }
}

/// The count of each event between two readings.
pub(crate) fn differences(before: &[u64; EVENTS], after: &[u64; EVENTS]) -> [u64; EVENTS] {
    std::array::from_fn(|event| after[event].wrapping_sub(before[event]))
}

/// The median count of each event of the process, from rounds that counted the events of `set`.
pub(crate) fn of_events(set: &[usize], rounds: &[[u64; EVENTS]]) -> Vec<Option<u64>> {
    let mut counts = vec![None; EventPlan::current().events.len()];
    for (place, event) in set.iter().enumerate().filter(|_| !rounds.is_empty()) {
        let mut each: Vec<u64> = rounds.iter().map(|round| round[place]).collect();
        each.sort_unstable();
        counts[*event] = Some(each[each.len() / 2]);
    }
    counts
}

/// See [`EventPlan::measures`].
fn measures(events: &[Event], sets: &[Vec<usize>]) -> Vec<usize> {
    let is_in_all = |event: &usize| sets.iter().all(|set| set.contains(event));
    let follows = |event: &usize| {
        let facts = &events[*event].facts;
        match (facts.unit.as_str(), facts.is_hardware) {
            ("cycles", true) => Some((0, *event)),
            ("ns", false) => Some((1, *event)),
            ("instructions", true) => Some((2, *event)),
            _ => None,
        }
    };
    let best = (0..events.len()).filter(is_in_all).filter_map(|event| follows(&event)).min();
    let place =
        |set: &Vec<usize>| set.iter().position(|event| Some(*event) == best.map(|one| one.1));
    sets.iter().filter_map(place).collect()
}

/// The facts that this machine knows of an event.
fn facts(event: &pacman_core::Event) -> EventFacts {
    let is_hardware = event.is_hardware();
    // Asking for permissions reads many files.
    let doubt = || pacman_core::platform::current().permissions().accepted_doubt();
    EventFacts {
        canonical: event.name().to_owned(),
        unit: event.unit().to_owned(),
        is_hardware,
        doubt: if is_hardware { doubt().map(str::to_owned) } else { None },
        table: event.installed_table(),
    }
}

/// The list with the events of groups; a group that cannot be counted stays, and is reported so.
fn expanded(list: &str) -> Cow<'_, str> {
    use pacman_core::Event;
    // The machine is chosen once: asking for its model would choose the real one.
    let has_group = Event::names_in(list).any(|name| Event::group(name).is_some());
    if !has_group || pacman_sim::install().is_err() {
        return Cow::Borrowed(list);
    }
    let model = pacman_core::platform::current().cpu_model();
    Event::expand_groups(model, list).unwrap_or(Cow::Borrowed(list))
}

fn start(names: &[&str]) -> Result<Session, Error> {
    builder(names)?.start_unreported()
}

fn builder(names: &[&str]) -> Result<SessionBuilder, Error> {
    pacman_sim::install()?;
    // A name for each process, because a child's session is not its parent's.
    let name = format!("openmp-{}", std::process::id());
    Ok(Session::builder(name).events(names.join(",")))
}

/// How the counts of a thread are read.
pub(crate) fn path(attached: &Attached) -> &'static str {
    match attached.caps().read_path {
        ReadPath::Rdpmc => "rdpmc",
        _ => "read",
    }
}

/// Opens the calling thread's counters. If that fails the thread is only timed, and a note has the reason.
pub(crate) fn attach(plan: &'static EventPlan) -> Option<Attached> {
    let session = plan.session()?;
    if system_calls::are_forbidden() {
        notes::note("a thread was not counted: the program filters its system calls".to_owned());
        return None;
    }
    let _one = OPENING.lock();
    let attached = session.attach();
    attached.map_err(|error| notes::note(format!("a thread was not counted: {error}"))).ok()
}

/// The counters of one thread.
#[repr(C)]
pub(crate) struct Counters {
    /// The readings at which the open executions began, outermost first. At the struct's own address,
    /// which saves an addition at begin and end.
    open: [UnsafeCell<Reading>; DEPTH],
    attached: ManuallyDrop<Attached>,
}

/// The deepest nesting that is counted. Deeper regions are only timed.
pub(crate) const DEPTH: usize = 8;

/// Whether a reading succeeded. The session keeps the reason of a failure. The error is dropped out of
/// line, so that successful readings do not carry that code.
#[inline(always)]
fn is_read(reading: Result<(), Error>) -> bool {
    #[cold]
    fn discard(_: Error) {}
    reading.map_err(discard).is_ok()
}

impl Counters {
    /// Opens the calling thread's counters. If that fails the thread is only timed, and a note has the
    /// reason.
    pub(crate) fn open() -> Option<Counters> {
        let attached = attach(EventPlan::current())?;
        let open = [const { UnsafeCell::new(Reading::EMPTY) }; DEPTH];
        Some(Counters { open, attached: ManuallyDrop::new(attached) })
    }

    /// Begins an execution at nesting `depth`. False if it cannot be counted.
    #[inline(always)]
    pub(crate) fn begin(&self, depth: usize) -> bool {
        let Some(place) = self.open.get(depth) else { return false };
        // SAFETY: only this thread uses it, and no reference to a place outlives a call here.
        self.read(unsafe { &mut *place.get() })
    }

    /// Ends an execution and adds its counts to `sums`. False if the counters could not be read.
    ///
    /// # Safety
    /// These counters must have begun an execution at that depth.
    #[inline(always)]
    pub(crate) unsafe fn end(&self, depth: usize, sums: &EventSums) -> bool {
        // SAFETY: `begin` accepted the depth; the rest as there.
        self.add_since(unsafe { &*self.open.get_unchecked(depth).get() }, sums)
    }

    /// Reads the counters outside of executions.
    #[inline(always)]
    pub(crate) fn read(&self, reading: &mut Reading) -> bool {
        is_read(self.attached.read(reading))
    }

    /// Adds the counts since `begun` to `sums`. False if the counters could not be read.
    #[inline(always)]
    pub(crate) fn add_since(&self, begun: &Reading, sums: &EventSums) -> bool {
        is_read(self.attached.add_since(begun, sums))
    }

    /// How counts are read.
    pub(crate) fn path(&self) -> &'static str {
        path(&self.attached)
    }
}

/// The way to count a thread's part of a region: its [`Counters`] count it, and `()` does not.
///
/// Callers are generic, so that the compiler makes a function for each case without the other's code.
pub(crate) trait Counting: Copy {
    /// As [`Counters::begin`]; answers the counters if they have begun.
    fn begin(self, depth: usize) -> Option<*const Counters>;
}

impl Counting for &Counters {
    #[inline(always)]
    fn begin(self, depth: usize) -> Option<*const Counters> {
        Counters::begin(self, depth).then_some(self)
    }
}

impl Counting for () {
    #[inline(always)]
    fn begin(self, _: usize) -> Option<*const Counters> {
        None
    }
}

impl Drop for Counters {
    fn drop(&mut self) {
        let _one = OPENING.lock();
        // SAFETY: dropped only here, and not used after this.
        unsafe { ManuallyDrop::drop(&mut self.attached) };
    }
}
