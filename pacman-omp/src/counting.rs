//! The events: what this process counts, and each thread's own counters.

use std::cell::UnsafeCell;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicPtr, Ordering};

use pacman_core::backend::{EventSums, ReadPath, Reading};
use pacman_core::descriptor;
use pacman_core::fork::Lock;
use pacman_core::{Attached, Error, Session, sim};
use pacman_regions::Event;

use crate::notes;
use crate::process;

/// What this process counts; made when its first region runs, and again after a fork.
#[derive(Debug)]
pub(crate) struct Plan {
    session: Option<Session>,
    /// As they were asked for, with the reason where one is not counted.
    pub(crate) events: Vec<Event>,
    /// Which of `events` each count of a sample is of.
    pub(crate) counted: Vec<usize>,
}

static PLAN: AtomicPtr<Plan> = AtomicPtr::new(std::ptr::null_mut());
/// Held while one is made, and while a thread's counters are opened or closed: what a session does
/// then, the child of a fork must not find half done.
pub(crate) static OPENING: Lock<()> = Lock::new(());

impl Plan {
    /// The process's plan.
    #[inline]
    pub(crate) fn current() -> &'static Plan {
        // ATOMICS: pairs with the release below.
        let plan = PLAN.load(Ordering::Acquire);
        // SAFETY: plans are never freed.
        if plan.is_null() { Plan::make() } else { unsafe { &*plan } }
    }

    /// The process's plan, if any region has run.
    pub(crate) fn made() -> Option<&'static Plan> {
        // SAFETY: plans are never freed.
        unsafe { PLAN.load(Ordering::Acquire).as_ref() }
    }

    #[cold]
    fn make() -> &'static Plan {
        let _one = OPENING.lock();
        if let Some(plan) = Plan::made() {
            return plan;
        }
        descriptor::leave_a_floor();
        let plan = Box::leak(Box::new(Plan::of(&process::options().events)));
        PLAN.store(plan, Ordering::Release);
        plan
    }

    /// All events of the list if they can be counted at once, else as many of them, in order,
    /// as can.
    fn of(list: &str) -> Plan {
        let names: Vec<&str> = pacman_core::Event::names_in(list).collect();
        let mut events = Plan::requested();
        if names.is_empty() {
            return Plan { session: None, events, counted: Vec::new() };
        }
        if let Ok(session) = start(&names) {
            return Plan { session: Some(session), events, counted: (0..names.len()).collect() };
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
        if session.is_none() {
            counted.clear();
        }
        Plan { session, events, counted }
    }

    /// The events that were asked for, in a process that has run no region.
    pub(crate) fn requested() -> Vec<Event> {
        let event = |name: &str| Event { name: name.to_owned(), uncounted: None };
        pacman_core::Event::names_in(&process::options().events).map(event).collect()
    }

    /// Forgets the plan in a forked child: its counters are the parent's.
    pub(crate) fn forget() {
        PLAN.store(std::ptr::null_mut(), Ordering::Release);
    }
}

fn start(names: &[&str]) -> Result<Session, Error> {
    sim::install()?;
    // One name a process: a child's session is not its parent's.
    Session::builder(format!("openmp-{}", std::process::id())).events(&names.join(","))?.start()
}

/// The counters of one thread.
#[repr(C)]
pub(crate) struct Counters {
    /// Where the executions that are open began, outermost first. At the struct's own address,
    /// which saves an addition at either end.
    open: [UnsafeCell<Reading>; DEPTH],
    attached: ManuallyDrop<Attached>,
}

/// Regions inside regions inside regions: what is deeper is timed, not counted.
const DEPTH: usize = 8;

/// Whether a reading is one. Why it is none the session knows as well; letting go of that is kept
/// off the way of those that are.
#[inline(always)]
fn is_read(reading: Result<(), Error>) -> bool {
    #[cold]
    fn let_go(_: Error) {}
    reading.map_err(let_go).is_ok()
}

impl Counters {
    /// Opens the calling thread's counters. Where that fails the thread is timed alone, and the
    /// recording has the reason.
    pub(crate) fn open() -> Option<Counters> {
        let session = Plan::current().session.as_ref()?;
        let one = OPENING.lock();
        let attached = session.attach();
        drop(one);
        let attached = attached
            .map_err(|error| notes::note(format!("a thread was not counted: {error}")))
            .ok()?;
        let open = [const { UnsafeCell::new(Reading::EMPTY) }; DEPTH];
        Some(Counters { open, attached: ManuallyDrop::new(attached) })
    }

    /// Begins an execution that is inside of `depth` others; whether it can be counted.
    #[inline(always)]
    pub(crate) fn begin(&self, depth: usize) -> bool {
        let Some(place) = self.open.get(depth) else { return false };
        // SAFETY: this thread alone, and no reference to a place lives longer than a call here.
        self.read(unsafe { &mut *place.get() })
    }

    /// Ends it: adds to `sums` what it counted; whether that could be read.
    ///
    /// # Safety
    /// These counters must have begun one at that depth.
    #[inline(always)]
    pub(crate) unsafe fn end(&self, depth: usize, sums: &EventSums) -> bool {
        // SAFETY: the depth is one of those that `begin` knows; and as there.
        self.add_since(unsafe { &*self.open.get_unchecked(depth).get() }, sums)
    }

    /// Reads apart from any execution.
    #[inline(always)]
    pub(crate) fn read(&self, reading: &mut Reading) -> bool {
        is_read(self.attached.read(reading))
    }

    /// Adds what counted since `begun` to `sums`; whether it could be read.
    #[inline(always)]
    pub(crate) fn add_since(&self, begun: &Reading, sums: &EventSums) -> bool {
        is_read(self.attached.add_since(begun, sums))
    }

    /// How counts are read.
    pub(crate) fn path(&self) -> &'static str {
        match self.attached.caps().read_path {
            ReadPath::Rdpmc => "rdpmc",
            _ => "read",
        }
    }
}

/// Whether and how a thread's part of a region is counted: by its [`Counters`], or by `()` not at
/// all. Who knows which goes on in a function of its own for either: neither then carries what the
/// other needs.
pub(crate) trait Counting: Copy {
    /// As [`Counters::begin`]; the counters that have begun, if they have.
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
        // SAFETY: here alone, and nobody uses it after this.
        unsafe { ManuallyDrop::drop(&mut self.attached) };
    }
}
