//! What all threads of a session share.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use once_cell::sync::OnceCell;
use parking_lot::Mutex;

use super::parting::Parting;
use super::thread::ThreadRecord;
use super::turns::Sets;
use crate::backend::perf;
use crate::bind;
use crate::clock::Clock;
use crate::error::{Error, ErrorKind, Result};
use crate::event::Event;
use crate::placement::{Place, Placement};
use crate::sim::Machine;
use crate::topology::Topology;

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
        u64::from(self.session) << 32 | u64::from(self.number)
    }
}

/// The session behind all its handles.
pub(crate) struct Shared {
    number: u64,
    name: String,
    events: Vec<Event>,
    own: usize,
    sets: Arc<Sets>,
    clock: Clock,
    since: u64,
    placement: Option<Placed>,
    topology: OnceCell<Topology>,
    machine: Option<Machine>,
    log: usize,
    closed: AtomicBool,
    parting: Option<Parting>,
    state: Mutex<State>,
}

/// The places that attaching threads are given, in order.
pub(super) struct Placed {
    pub(super) placement: Placement,
    pub(super) places: Vec<Place>,
}

#[derive(Default)]
struct State {
    phases: Vec<Arc<str>>,
    by_name: HashMap<Arc<str>, u32>,
    threads: Vec<Arc<ThreadRecord>>,
    /// How many attached threads each logical CPU has.
    taken: HashMap<u32, usize>,
}

/// What a session is made from.
pub(super) struct Parts {
    pub(super) name: String,
    pub(super) events: Vec<Event>,
    /// How many of them the program asked for: the first ones.
    pub(super) own: usize,
    pub(super) sets: Sets,
    pub(super) clock: Clock,
    pub(super) placement: Option<Placed>,
    pub(super) topology: Option<Topology>,
    pub(super) machine: Option<Machine>,
    pub(super) log: usize,
}

/// The names of open sessions, each with the process generation it belongs to.
static NAMES: Mutex<Vec<(String, u32)>> = Mutex::new(Vec::new());
static NEXT: AtomicU64 = AtomicU64::new(1);

impl Shared {
    /// Claims the name, or says that it is taken.
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
        Shared {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            name: parts.name,
            events: parts.events,
            own: parts.own,
            sets: Arc::new(parts.sets),
            since: parts.clock.now(),
            clock: parts.clock,
            placement: parts.placement,
            topology: parts.topology.map_or_else(OnceCell::new, OnceCell::with_value),
            machine: parts.machine,
            log: parts.log,
            closed: AtomicBool::new(false),
            parting: None,
            state: Mutex::default(),
        }
    }

    #[inline(always)]
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn events(&self) -> &[Event] {
        &self.events
    }

    /// Those that the program asked for.
    pub(super) fn own_events(&self) -> &[Event] {
        &self.events[..self.own]
    }

    pub(super) fn sets(&self) -> &Arc<Sets> {
        &self.sets
    }

    pub(super) fn clock(&self) -> &Clock {
        &self.clock
    }

    pub(super) fn since(&self) -> u64 {
        self.since
    }

    pub(super) fn log(&self) -> usize {
        self.log
    }

    /// The machine, read when first needed.
    pub(super) fn topology(&self) -> Result<&Topology> {
        self.topology.get_or_try_init(|| match &self.machine {
            Some(machine) => Ok(machine.topology()),
            None => Topology::detect(),
        })
    }

    /// The simulated machine it counts on, if it does.
    pub(super) fn machine(&self) -> Option<&Machine> {
        self.machine.as_ref()
    }

    /// The hardware context that the calling thread runs on now.
    pub(super) fn current_cpu(&self) -> Option<u32> {
        match &self.machine {
            Some(machine) => Some(machine.current_cpu()),
            None => bind::current_cpu(),
        }
    }

    /// The same with a report in the end, if the environment asks for it.
    pub(super) fn parting_as_wished(mut self) -> Shared {
        self.parting = Parting::wished();
        self
    }

    /// Where its report goes in the end.
    pub(super) fn parting(&self) -> Option<&Parting> {
        self.parting.as_ref()
    }

    /// Ends the session for threads to come; its name is free again.
    pub(super) fn close(&self) {
        if !self.closed.swap(true, Ordering::Relaxed) {
            Shared::disclaim(&self.name);
        }
    }

    pub(super) fn check_open(&self) -> Result<()> {
        if self.closed.load(Ordering::Relaxed) {
            return Err(Error::new(
                ErrorKind::Closed,
                format!("cannot attach to session {:?}: it was closed", self.name),
            ));
        }
        Ok(())
    }

    /// The phase of that name, made if it is new.
    pub(super) fn phase(&self, name: &str) -> Result<Phase> {
        if name.trim().is_empty() || name.contains(['\n', '\r', '\0']) {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                format!(
                    "cannot name a phase {name:?} in session {:?}: a name is one line of text, \
                     not empty",
                    self.name
                ),
            ));
        }
        let mut state = self.state.lock();
        let number = match state.by_name.get(name) {
            Some(number) => *number,
            None => {
                let (number, name) = (state.phases.len() as u32, Arc::<str>::from(name));
                state.phases.push(Arc::clone(&name));
                state.by_name.insert(name, number);
                number
            }
        };
        Ok(Phase { session: self.number as u32, number })
    }

    /// The phase behind a word of [`Phase::to_bits`], if it is one of this session's.
    pub(super) fn phase_from_bits(&self, bits: u64) -> Option<Phase> {
        let phase = Phase { session: (bits >> 32) as u32, number: bits as u32 };
        let known = self.state.lock().phases.len() as u32;
        (phase.session == self.number as u32 && phase.number < known).then_some(phase)
    }

    pub(super) fn phase_name(&self, number: u32) -> String {
        self.state.lock().phases.get(number as usize).map_or_else(String::new, |n| n.to_string())
    }

    pub(super) fn phase_names(&self) -> Vec<String> {
        self.state.lock().phases.iter().map(|name| name.to_string()).collect()
    }

    /// The next free place of the placement, if the session has one.
    pub(super) fn take_place(&self) -> Result<Option<Place>> {
        let Some(Placed { placement, places }) = &self.placement else { return Ok(None) };
        let mut state = self.state.lock();
        let free = places.iter().find(|place| !state.taken.contains_key(&place.cpu()));
        let Some(place) = free else {
            return Err(Error::new(
                ErrorKind::NoSuchPlace,
                format!(
                    "cannot attach another thread to session {:?}: all {} places of {placement} \
                     are taken; detach a thread or choose a placement with more places",
                    self.name,
                    places.len()
                ),
            ));
        };
        *state.taken.entry(place.cpu()).or_default() += 1;
        Ok(Some(*place))
    }

    /// Notes that a thread took a place of its own choice.
    pub(super) fn occupy(&self, place: &Place) {
        *self.state.lock().taken.entry(place.cpu()).or_default() += 1;
    }

    /// A thread has left, or failed to come.
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

    /// Adds a thread; `make` learns its number.
    pub(super) fn join(&self, make: impl FnOnce(usize) -> ThreadRecord) -> Arc<ThreadRecord> {
        let mut state = self.state.lock();
        let record = Arc::new(make(state.threads.len()));
        state.threads.push(Arc::clone(&record));
        record
    }

    pub(super) fn threads(&self) -> Vec<Arc<ThreadRecord>> {
        self.state.lock().threads.clone()
    }

    pub(super) fn thread(&self, number: usize) -> Option<Arc<ThreadRecord>> {
        self.state.lock().threads.get(number).cloned()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.close();
        if let Some(parting) = &self.parting {
            parting.leave(self);
        }
    }
}
