//! The state that all threads of a session share.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::members::{Members, Past};
use super::observer::{Observer, bits};
use super::readings::Readings;
use super::rotation::Sets;
use super::rows::MAX_PHASES;
use super::thread::ThreadRecord;
use crate::backend::perf;
use crate::clock::Clock;
use crate::event::Event;
use crate::fork::Fenced;
use crate::platform::PlatformRef;
use pacman_events::{Error, ErrorKind, Result};
use pacman_topology::Topology;
use pacman_topology::{Place, Placement};

/// A phase of one session: a recurring part of the program, known by its name.
///
/// Cheap to copy; every thread of the session may begin and end it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Phase {
    pub(super) session: u32,
    pub(super) number: u32,
}

impl Phase {
    /// The phase as one word, for programs in other languages.
    pub fn to_bits(self) -> u64 {
        bits(self.session.into(), self.number)
    }
}

/// Called when a session ends.
pub(super) type AtEnd = Box<dyn Fn(&Shared) + Send + Sync>;

/// The session behind all its handles.
pub(crate) struct Shared {
    number: u64,
    parts: Parts,
    since: u64,
    /// The process that it belongs to, in a line of forks.
    generation: u32,
    closed: AtomicBool,
    at_end: Option<AtEnd>,
    observer: Option<Observer>,
    /// The number of named phases.
    known: AtomicU32,
    state: Fenced<State>,
    pub(super) readings: Readings,
}

/// The places for attaching threads, in order.
pub(super) struct Placed {
    /// `None` where each thread stays on the context that it runs on, or goes to another free one.
    pub(super) placement: Option<Placement>,
    pub(super) places: Vec<Place>,
}

#[derive(Default)]
struct State {
    phases: Vec<Arc<str>>,
    by_name: HashMap<Arc<str>, u32>,
    members: Members,
    /// The number of attached threads by logical CPU.
    taken: HashMap<u32, usize>,
}

/// The parts of a session.
pub(super) struct Parts {
    pub(super) name: String,
    pub(super) events: Vec<Event>,
    /// The number of leading events that the program asked for.
    pub(super) own: usize,
    /// How many of these are no parts of others on one core type: the first ones of them.
    pub(super) asked: usize,
    pub(super) sets: Arc<Sets>,
    pub(super) clock: Clock,
    pub(super) placement: Option<Placed>,
    /// The machine, read when first needed.
    pub(super) topology: OnceLock<Topology>,
    pub(super) platform: PlatformRef,
    pub(super) log: usize,
}

/// The names of open sessions, each with the process generation it belongs to.
static NAMES: Fenced<Vec<(String, u32)>> = Fenced::new(Vec::new());
static NEXT: AtomicU64 = AtomicU64::new(1);

impl Shared {
    /// Claims the name; an error if it is taken.
    pub(super) fn claim(name: &str) -> Result<()> {
        if name.trim().is_empty() || name.contains(['\n', '\r', '\0']) {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                format!("cannot start session {name:?}: a name is one line of text, not empty"),
            ));
        }
        let generation = perf::generation();
        let mut names = NAMES.lock();
        // Names that a parent held before it forked are free in the child.
        names.retain(|(_, of)| *of == generation);
        if names.iter().any(|(taken, _)| taken == name) {
            return Err(Error::new(
                ErrorKind::DuplicateSession,
                format!(
                    "cannot start session {name:?}: one of that name is open in this process; \
                     close it or choose another name"
                ),
            ));
        }
        names.push((name.to_string(), generation));
        Ok(())
    }

    /// Gives a name back.
    pub(super) fn disclaim(name: &str) {
        NAMES.lock().retain(|(taken, _)| taken != name);
    }

    pub(super) fn new(parts: Parts) -> Shared {
        perf::install_atfork();
        Shared {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            since: parts.clock.now(),
            generation: perf::generation(),
            parts,
            closed: AtomicBool::new(false),
            at_end: None,
            observer: Observer::of_process(),
            known: AtomicU32::new(0),
            state: Fenced::default(),
            readings: Readings::default(),
        }
    }

    #[inline(always)]
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    pub(super) fn name(&self) -> &str {
        &self.parts.name
    }

    pub(super) fn events(&self) -> &[Event] {
        &self.parts.events
    }

    /// The events that the program asked for.
    pub(super) fn own_events(&self) -> &[Event] {
        &self.parts.events[..self.parts.own]
    }

    /// The events in the program's list.
    pub(super) fn asked_events(&self) -> &[Event] {
        &self.parts.events[..self.parts.asked]
    }

    pub(super) fn sets(&self) -> &Arc<Sets> {
        &self.parts.sets
    }

    pub(super) fn clock(&self) -> &Clock {
        &self.parts.clock
    }

    pub(super) fn since(&self) -> u64 {
        self.since
    }

    /// The preloaded library that reports the phases, if there is one.
    pub(super) fn observer(&self) -> Option<Observer> {
        self.observer
    }

    pub(super) fn log(&self) -> usize {
        self.parts.log
    }

    /// The machine, read when first needed.
    pub(super) fn topology(&self) -> Result<&Topology> {
        if let Some(known) = self.parts.topology.get() {
            return Ok(known);
        }
        let read = Topology::of(&self.parts.platform)?;
        // Two threads may both read it. A lock is not possible, because a thread that is ending
        // cannot wait.
        Ok(self.parts.topology.get_or_init(|| read))
    }

    /// The machine it counts on.
    pub(super) fn platform(&self) -> &PlatformRef {
        &self.parts.platform
    }

    /// Sets `at_end`, which is called when the last handle and attachment are gone.
    pub(super) fn ending_with(mut self, at_end: Option<AtEnd>) -> Shared {
        self.at_end = at_end;
        self
    }

    /// Calls the function that the session ends with, if it has one.
    pub(super) fn end(&self) {
        if let Some(at_end) = &self.at_end {
            at_end(self);
        }
    }

    /// Refuses threads that attach later, and frees the session's name.
    pub(super) fn close(&self) {
        if !self.closed.swap(true, Ordering::Relaxed) {
            Shared::disclaim(&self.parts.name);
        }
    }

    pub(super) fn check_open(&self) -> Result<()> {
        if self.closed.load(Ordering::Relaxed) {
            return Err(Error::new(
                ErrorKind::Closed,
                format!("cannot attach to session {:?}: it was closed", self.parts.name),
            ));
        }
        if self.generation != perf::generation() {
            return Err(Error::new(
                ErrorKind::Forked,
                format!(
                    "cannot attach to session {:?} in this process: it belongs to the parent that \
                     forked; open a session in the child",
                    self.parts.name
                ),
            ));
        }
        Ok(())
    }

    /// The phase with that name; created if it is new.
    pub(super) fn phase(&self, name: &str) -> Result<Phase> {
        if name.trim().is_empty() || name.contains(['\n', '\r', '\0']) {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                format!(
                    "cannot name a phase {name:?} in session {:?}: a name is one line of text, \
                     not empty",
                    self.parts.name
                ),
            ));
        }
        let mut state = self.state.lock();
        let number = match state.by_name.get(name) {
            Some(number) => *number,
            None if state.phases.len() == MAX_PHASES => return Err(self.too_many_phases(name)),
            None => {
                let (number, name) = (state.phases.len() as u32, Arc::<str>::from(name));
                state.phases.push(Arc::clone(&name));
                state.by_name.insert(name, number);
                // ATOMICS: relaxed, because the phases that this number counts are read under the
                // lock.
                self.known.store(number + 1, Ordering::Relaxed);
                number
            }
        };
        drop(state);
        // Without the lock: the library takes locks of its own. Each call does so, because another
        // thread that made the phase may not have come this far.
        if let Some(observer) = self.observer {
            observer.name(bits(self.number, number), name);
        }
        Ok(Phase { session: self.number as u32, number })
    }

    /// The phase behind a word of [`Phase::to_bits`], if it is one of this session's.
    pub(super) fn phase_from_bits(&self, bits: u64) -> Option<Phase> {
        let phase = Phase { session: (bits >> 32) as u32, number: bits as u32 };
        let known = self.known.load(Ordering::Relaxed);
        (phase.session == self.number as u32 && phase.number < known).then_some(phase)
    }

    /// Refuses a phase of another session.
    pub(super) fn own(&self, phase: Phase) -> Result<()> {
        if phase.session == self.number as u32 { Ok(()) } else { Err(self.foreign_phase()) }
    }

    #[cold]
    pub(super) fn foreign_phase(&self) -> Error {
        Error::new(
            ErrorKind::InvalidInput,
            format!(
                "cannot use this phase in session {:?}: it belongs to another session; \
                 define it with this session's phase()",
                self.parts.name
            ),
        )
    }

    #[cold]
    fn too_many_phases(&self, name: &str) -> Error {
        Error::new(
            ErrorKind::InvalidInput,
            format!(
                "cannot name a phase {name:?} in session {:?}: it has {MAX_PHASES} phases, and \
                 no session has more; give parts of the program that recur one name",
                self.parts.name
            ),
        )
    }

    pub(super) fn phase_name(&self, number: u32) -> String {
        self.state.lock().phases.get(number as usize).map_or_else(String::new, |n| n.to_string())
    }

    pub(super) fn phase_names(&self) -> Vec<String> {
        self.state.lock().phases.iter().map(|name| name.to_string()).collect()
    }

    /// The next free place of the placement, if the session has one.
    pub(super) fn take_place(&self) -> Result<Option<Place>> {
        let Some(Placed { placement, places }) = &self.parts.placement else { return Ok(None) };
        let here = placement.is_none().then(|| self.parts.platform.current_cpu()).flatten();
        let mut state = self.state.lock();
        let mut free = places.iter().filter(|place| !state.taken.contains_key(&place.cpu()));
        let first = free.clone().next();
        let Some(place) = free.find(|place| Some(place.cpu()) == here).or(first) else {
            let Some(placement) = placement else {
                return Err(Error::new(
                    ErrorKind::NoSuchPlace,
                    format!(
                        "cannot attach another thread to session {:?}: counts here are those of a \
                         hardware context, and all {} that the process may use have a thread; \
                         detach one, or accept counts of the kernel's driver ({}=1)",
                        self.parts.name,
                        places.len(),
                        perf::TRUST_DRIVER
                    ),
                ));
            };
            return Err(Error::new(
                ErrorKind::NoSuchPlace,
                format!(
                    "cannot attach another thread to session {:?}: all {} places of {placement} \
                     are taken; detach a thread or choose a placement with more places",
                    self.parts.name,
                    places.len()
                ),
            ));
        };
        *state.taken.entry(place.cpu()).or_default() += 1;
        Ok(Some(*place))
    }

    /// Whether threads without a place of a placement are bound to a context of their own.
    pub(super) fn binds_by_itself(&self) -> bool {
        self.parts.placement.as_ref().is_some_and(|placed| placed.placement.is_none())
    }

    /// Notes that a thread took a place of its own choice.
    pub(super) fn occupy(&self, place: &Place) {
        *self.state.lock().taken.entry(place.cpu()).or_default() += 1;
    }

    /// Notes that a thread has left, or has failed to attach.
    pub(super) fn leave(&self, place: Option<&Place>) {
        let Some(place) = place else { return };
        let mut state = self.state.lock();
        if let Some(threads) = state.taken.get_mut(&place.cpu()) {
            *threads -= 1;
            if *threads == 0 {
                state.taken.remove(&place.cpu());
            }
        }
    }

    /// Adds a thread; `make` receives its number.
    pub(super) fn join(&self, make: impl FnOnce(usize) -> ThreadRecord) -> Arc<ThreadRecord> {
        self.state.lock().members.join(make)
    }

    /// Records that a thread has ended. Its owner must not write any more.
    pub(super) fn retire(&self, record: &ThreadRecord) {
        self.state.lock().members.retire(record);
    }

    /// The threads with rows of their own, and the sum of the others.
    pub(super) fn threads(&self) -> (Vec<Arc<ThreadRecord>>, Option<Past>) {
        let state = self.state.lock();
        (state.members.kept(), state.members.past())
    }

    /// A thread with rows of its own.
    pub(super) fn thread(&self, number: usize) -> Option<Arc<ThreadRecord>> {
        self.state.lock().members.get(number)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.close();
        self.end();
    }
}
