//! The start of a session: the events and places that its description names are found and tried.

use std::sync::{Arc, OnceLock};

use once_cell::sync::OnceCell;
use pacman_topology::{CpuSet, Topology, cancel};

use super::builder::{EventRequest, SessionBuilder};
use super::exit_report;
use super::handle::Session;
use super::rotation::{self, Sets, events_of_one_figure};
use super::shared::{Parts, Placed, Shared};
use super::wide::SystemWide;
use crate::arch;
use crate::backend::perf::{PerfPermissions, Sharing};
use crate::clock::{Clock, ClockSource};
use crate::event::{self, Event};
use crate::platform::{self, PlatformRef};
use crate::report::EventSetRotation;
use pacman_events::{Error, ErrorKind, Result};

/// The longest log of single samples a thread may keep.
const LONGEST_LOG: usize = 1 << 24;

/// A session whose events are found and whose wishes fit together.
#[derive(Debug)]
pub(super) struct PreparedSession {
    pub(super) events: Vec<Event>,
    /// Number of events at the end that only the environment requests. The program does not know
    /// them.
    requested: usize,
    /// How many events the program asked for; behind them are their parts on single core types.
    asked: usize,
    /// The rest of the description, as the environment may change it.
    pub(super) wishes: SessionBuilder,
    pub(super) platform: PlatformRef,
    clock: Clock,
    /// The machine, read when first needed.
    pub(super) here: OnceCell<Topology>,
    /// The system's permissions, read when first needed: from a dozen files.
    pub(super) permissions: OnceCell<PerfPermissions>,
}

impl SessionBuilder {
    /// Looks up the events, tries them on this machine, and starts the session.
    ///
    /// # Errors
    /// - of the name: `DuplicateSession`, `InvalidInput` if it is not one line
    /// - of the events: as for [`Event::parse_list`], `Empty` without any, `TooManyEvents`,
    ///   `InvalidInput` for one that is named twice
    /// - of the placement: `ForeignTopology` if the topology is of another machine,
    ///   `NoSuchPlace`, `PlaceNotAllowed`, `InvalidInput`
    /// - of other wishes: `InvalidInput` for a log beyond 2^24 samples, or for a rotation of event
    ///   sets in a multiplexed session; `Unsupported` for a clock that the processor lacks
    /// - of the machine: `NoPmu`, `Permission`, `Unsupported`, `Conflict`, `NoDescriptors`
    pub fn start(self) -> Result<Session> {
        cancel::put_off_during(|| {
            let mut prepared = PreparedSession::of(self)?;
            prepared.add_requested_events();
            Ok(Session::of(exit_report::reporting(prepared.of_threads()?)))
        })
    }

    /// As [`start`](Self::start), without a report at the end or further events if `PACMAN_REPORT_DIR` and
    /// `PACMAN_REPORT_EVENTS` ask for them.
    ///
    /// This is for a session of which the user of the program knows nothing, such as a preloaded
    /// library's.
    ///
    /// # Errors
    /// As for [`start`](Self::start).
    pub fn start_unreported(self) -> Result<Session> {
        cancel::put_off_during(|| {
            let prepared = PreparedSession::of(self)?;
            Ok(Session::of(Arc::new(prepared.of_threads()?)))
        })
    }

    /// Looks up the events, tries them on this machine, and counts all programs on each of `cpus`.
    ///
    /// This requires `perf_event_paranoid` of 0 or less, or CAP_PERFMON. Hardware contexts outside
    /// of the process's cpuset can be counted as well.
    ///
    /// # Errors
    /// As for [`start`](Self::start); `Empty` for an empty set of CPUs; `NoSuchPlace` for a CPU
    /// that the machine lacks; `PlaceNotAllowed` for one that is offline; `InvalidInput` if the
    /// session has a placement, which is for threads.
    pub fn system_wide(self, cpus: &CpuSet) -> Result<SystemWide> {
        if self.placement.is_some() {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                format!(
                    "cannot count whole CPUs in session {:?}, which has a placement for threads; \
                     leave the placement out",
                    self.name
                ),
            ));
        }
        SystemWide::open(PreparedSession::of(self)?.of_contexts()?, cpus)
    }
}

impl PreparedSession {
    /// Finds the events and checks the wishes.
    fn of(mut wishes: SessionBuilder) -> Result<PreparedSession> {
        let platform = wishes.platform.take().unwrap_or_else(|| platform::current().clone());
        let mut events = Vec::new();
        for request in wishes.events.drain(..) {
            match request {
                EventRequest::List(list) => {
                    events.extend(Event::parse_list_for(&platform, &list)?);
                }
                EventRequest::One(event) => events.push(event),
            }
        }
        let mut prepared = PreparedSession {
            events,
            requested: 0,
            asked: 0,
            platform,
            clock: clock(wishes.clock)?,
            wishes,
            here: OnceCell::new(),
            permissions: OnceCell::new(),
        };
        prepared.check()?;
        prepared.asked = prepared.events.len();
        // They come last, so that events keep the numbers that the program knows.
        prepared.events = Event::with_parts(prepared.events);
        Ok(prepared)
    }

    fn check(&self) -> Result<()> {
        if self.events.is_empty() {
            return Err(event::empty());
        }
        if let Some((topology, placement)) = &self.wishes.placement {
            self.check_topology(topology)?;
            placement.capacity(topology)?;
        }
        if self.wishes.log > LONGEST_LOG {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                format!(
                    "cannot log {} samples a thread: {LONGEST_LOG} is the most; \
                     a longer run wants fewer phases or no log",
                    self.wishes.log
                ),
            ));
        }
        if let Some(twice) = self.asked_twice() {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                format!(
                    "cannot count {twice} twice in session {:?}; name it once",
                    self.wishes.name
                ),
            ));
        }
        if self.wishes.rotation.is_some() && self.wishes.sharing == Sharing::Multiplexed {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                format!(
                    "cannot rotate event sets and be multiplexed in session {:?}: estimates of \
                     estimates mean nothing; choose one",
                    self.wishes.name
                ),
            ));
        }
        Ok(())
    }

    fn check_topology(&self, topology: &Topology) -> Result<()> {
        let source = topology.source();
        let (what, instead) = if !topology.is_this_system() {
            (format!("the topology is {source}, not this system's"), "use Topology::detect")
        } else if topology.processors() != Some(self.platform.processors()) {
            let what = format!("the topology ({source}) is of another machine than the counters");
            (what, "take both from one")
        } else {
            return Ok(());
        };
        Err(Error::new(
            ErrorKind::ForeignTopology,
            format!("cannot place threads of session {:?}: {what}; {instead}", self.wishes.name),
        ))
    }

    fn asked_twice(&self) -> Option<&Event> {
        let mut rest = self.events.as_slice();
        while let Some((event, others)) = rest.split_first() {
            if others.iter().any(|other| other.name() == event.name()) {
                return Some(event);
            }
            rest = others;
        }
        None
    }

    /// Adds the events that the environment requests, if they can be counted with the others.
    fn add_requested_events(&mut self) {
        let Some(list) = exit_report::requested_events() else { return };
        if self.events.is_empty() {
            return;
        }
        // At the end: a program may know its own by number.
        let (own, rotation) = (self.events.len(), self.wishes.rotation);
        if let Err(error) = self.extend_events(&list) {
            self.events.truncate(own);
            self.wishes.rotation = rotation;
            exit_report::report_uncounted(&self.wishes.name, &error);
        }
        self.requested = self.events.len() - own;
    }

    fn extend_events(&mut self, list: &str) -> Result<()> {
        for event in Event::parse_list_for(&self.platform, list)? {
            if !self.events.iter().any(|own| own.name() == event.name()) {
                self.events.push(event);
            }
        }
        self.events = Event::with_parts(std::mem::take(&mut self.events));
        let tried = self.sets(None);
        let may_rotate = self.wishes.rotation.is_none() && self.wishes.sharing == Sharing::Pinned;
        match tried {
            Err(error) if may_rotate && rotation::is_lack_of_room(&error) => {
                self.wishes.rotation = Some(EventSetRotation::PerExecution);
                self.sets(None).map(drop)
            }
            tried => tried.map(drop),
        }
    }

    /// A session of threads.
    fn of_threads(self) -> Result<Shared> {
        self.claimed(None)
    }

    /// A session of whole contexts of this machine.
    fn of_contexts(self) -> Result<Shared> {
        let topology = Topology::of(&self.platform)?;
        self.claimed(Some(topology))
    }

    fn claimed(self, system: Option<Topology>) -> Result<Shared> {
        Shared::claim(&self.wishes.name)?;
        let name = self.wishes.name.clone();
        match self.parts(system) {
            Ok(parts) => Ok(Shared::new(parts)),
            Err(error) => {
                Shared::disclaim(&name);
                Err(error)
            }
        }
    }

    /// The sets to count: one, or those that rotate.
    fn sets(&self, system: Option<&Topology>) -> Result<Sets> {
        let open = |events: &[Event]| self.backend(events, system);
        let room = || self.room();
        let together = match self.wishes.keeps_figures {
            true => events_of_one_figure(&self.events),
            false => Vec::new(),
        };
        let plan = |turns| Sets::plan_together(turns, &self.events, &together, &room, &open);
        match self.wishes.rotation {
            Some(turns) => plan(turns),
            None => match open(&self.events) {
                Ok(backend) => Ok(Sets::one(self.events.len(), backend)),
                Err(error) => Err(rotation::advise(error, || plan(EventSetRotation::PerExecution))),
            },
        }
    }

    fn parts(mut self, system: Option<Topology>) -> Result<Parts> {
        let sets = self.sets(system.as_ref())?;
        let (topology, placed) = match self.wishes.placement.take() {
            Some((topology, placement)) => {
                let places = placement.places(&topology, placement.capacity(&topology)?)?;
                (Some(topology), Some(Placed { placement: Some(placement), places }))
            }
            // The registers count a context, so that each thread is bound to one.
            None if system.is_none() && self.distrust(&self.events).is_some() => {
                let topology = self.here()?.clone();
                let allowed = topology.allowed();
                let places = allowed.iter().filter_map(|cpu| topology.place(cpu).ok()).collect();
                (Some(topology), Some(Placed { placement: None, places }))
            }
            None => (system, None),
        };
        Ok(Parts {
            name: self.wishes.name,
            own: self.events.len() - self.requested,
            asked: self.asked,
            events: self.events,
            sets: Arc::new(sets),
            clock: self.clock,
            placement: placed,
            topology: topology.map_or_else(OnceLock::new, OnceLock::from),
            platform: self.platform,
            log: self.wishes.log,
        })
    }
}

fn clock(source: Option<ClockSource>) -> Result<Clock> {
    match source {
        None => Ok(Clock::detect()),
        Some(ClockSource::Tsc) if arch::CLOCK_SOURCE.is_none() => Err(Error::new(
            ErrorKind::Unsupported,
            "cannot take time from the TSC: this processor has none; use the monotonic clock",
        )),
        Some(source) => Ok(Clock::with_source(source)),
    }
}
