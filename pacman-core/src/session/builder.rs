//! Describing a session before it starts.

use once_cell::sync::OnceCell;

use super::exit_report;
use super::handle::Session;
use super::rotation::{self, Sets};
use super::shared::{Parts, Placed, Shared};
use super::wide::SystemWide;
use pacman_events::partition::Partition;

use crate::backend::perf::Sharing;
use crate::clock::{Clock, ClockSource};
use crate::error::{Error, ErrorKind, Result};
use crate::event::{self, Event};
use crate::platform::{self, PlatformRef};
use crate::report::EventSetRotation;
use pacman_topology::Placement;
use pacman_topology::cancel;
use pacman_topology::{CpuSet, Topology};

/// The longest log of single samples a thread may keep.
const LONGEST_LOG: usize = 1 << 24;

/// A session to be: what to count, where threads go, what to keep.
#[derive(Debug)]
#[must_use = "a session begins with start()"]
pub struct SessionBuilder {
    pub(super) name: String,
    pub(super) events: Vec<Event>,
    /// How many of these, at the end, the environment wishes for and the program knows nothing of.
    pub(super) requested: usize,
    pub(super) placement: Option<(Topology, Placement)>,
    pub(super) sharing: Sharing,
    pub(super) registers: Option<Partition>,
    /// The machine to count on; `None` for the one that the process counts on.
    pub(super) platform: Option<PlatformRef>,
    pub(super) turns: Option<EventSetRotation>,
    pub(super) trusts_driver: bool,
    pub(super) clock: Clock,
    pub(super) log: usize,
    /// The machine, read when first needed.
    pub(super) here: OnceCell<Topology>,
}

impl Session {
    /// Begins to describe a session; see [`SessionBuilder`].
    pub fn builder(name: impl Into<String>) -> SessionBuilder {
        SessionBuilder::new(name.into())
    }
}

impl SessionBuilder {
    fn new(name: String) -> SessionBuilder {
        SessionBuilder {
            name,
            events: Vec::new(),
            requested: 0,
            placement: None,
            sharing: Sharing::Pinned,
            registers: None,
            platform: None,
            turns: None,
            trusts_driver: false,
            clock: Clock::detect(),
            log: 0,
            here: OnceCell::new(),
        }
    }

    /// Counts on `platform` instead of the [current](platform::current) one, such as a simulated
    /// machine; every report says so. Call it first: later calls resolve events for its processor.
    pub fn on(mut self, platform: impl Into<PlatformRef>) -> SessionBuilder {
        self.platform = Some(platform.into());
        self
    }

    /// Adds the events of a comma-separated list, such as `CYCLES,INSTRUCTIONS`.
    ///
    /// # Errors
    /// `UnknownEvent`, `InvalidInput`, `Empty`, as for [`Event::parse_list`].
    pub fn events(mut self, list: &str) -> Result<SessionBuilder> {
        let cpu = self.platform.as_ref().unwrap_or_else(|| platform::current()).cpu_model();
        self.events.extend(Event::parse_list_on(cpu, list)?);
        Ok(self)
    }

    /// Adds one event.
    pub fn event(mut self, event: Event) -> SessionBuilder {
        self.events.push(event);
        self
    }

    /// Binds attaching threads to the places of `placement`, in its order.
    ///
    /// # Errors
    /// `ForeignTopology` if `topology` is not this system's; what the placement
    /// says about the machine: `NoSuchPlace`, `PlaceNotAllowed`, `InvalidInput`.
    pub fn placement(mut self, topology: Topology, placement: Placement) -> Result<SessionBuilder> {
        if !topology.is_this_system() {
            return Err(Error::new(
                ErrorKind::ForeignTopology,
                format!(
                    "cannot place threads of session {:?}: the topology is {}, not this system's; \
                     use Topology::detect",
                    self.name,
                    topology.source()
                ),
            ));
        }
        placement.capacity(&topology)?;
        self.placement = Some((topology, placement));
        Ok(self)
    }

    /// Lets the kernel take turns when counters run short; counts then come with
    /// an estimate. Without this a group is on its counters or fails.
    pub fn multiplexed(mut self) -> SessionBuilder {
        self.sharing = Sharing::Multiplexed;
        self
    }

    /// Programs the counters' registers itself instead of asking the kernel, and
    /// splits each core's between its siblings as `partition` says.
    ///
    /// This is how to count on both threads of a Pentium 4, and what every session does there
    /// by itself, because Linux's driver mis-sets a counter when threads change: see
    /// [`trust_driver`](Self::trust_driver). It needs root and the `msr` module, and a placement:
    /// counts are those of the hardware context, so each thread must have one of its own.
    /// See [`msr`](crate::backend::msr).
    pub fn registers(mut self, partition: Partition) -> SessionBuilder {
        self.registers = Some(partition);
        self
    }

    /// Lets events that do not fit on the counters at once take turns in sets, as many
    /// as it takes: each outermost execution of a phase counts one of them.
    ///
    /// The sets are as few as the processor allows, and as full. What the kernel itself
    /// counts is in every set. Changing the set costs two system calls at the begin of
    /// an outermost phase; by [`registers`](Self::registers), one for each register that
    /// is given back, looked at or written. The report
    /// says which values come from which executions, and estimates the rest. Without
    /// effect if the events fit.
    ///
    /// By registers on a Pentium 4 the siblings' sets change independently, so each
    /// needs counters of its own: [`Partition::Even`] or [`Partition::Whole`]. Where
    /// siblings share another register (off-core responses on Nehalem and Westmere),
    /// a begin may answer `Conflict`.
    ///
    /// ```
    /// use pacman_core::{Session, session::EventSetRotation};
    /// let session = Session::builder("doc-turns")
    ///     .events("task-clock,page-faults")?
    ///     .rotate_event_sets(EventSetRotation::PerExecution)
    ///     .start()?;
    /// assert_eq!(session.report().sets.len(), 1, "software needs no turns");
    /// # Ok::<(), pacman_core::Error>(())
    /// ```
    pub fn rotate_event_sets(mut self, turns: EventSetRotation) -> SessionBuilder {
        self.turns = Some(turns);
        self
    }

    /// Counts hardware events through the kernel's driver also where its counts may be wrong, as
    /// on a Pentium 4. Every report then marks them, with the reason.
    ///
    /// Without this a session there programs the registers itself. It needs root and the `msr`
    /// module, else [`start`](Self::start) fails with the reason. Counts are then those of a
    /// hardware context: a thread that has no place by a placement is bound to the context that
    /// it runs on, or another free one, for as long as it is attached.
    ///
    /// The environment variable `PACMAN_TRUST_DRIVER=1` does the same for every session of a
    /// process. No effect on other processors and on the kernel's own events.
    pub fn trust_driver(mut self) -> SessionBuilder {
        self.trusts_driver = true;
        self
    }

    /// Keeps up to `samples` single samples per thread, for [`Report`](crate::Report).
    ///
    /// The memory is taken at attach: `8 * (3 + events)` bytes a sample.
    pub fn log(mut self, samples: usize) -> SessionBuilder {
        self.log = samples;
        self
    }

    /// Takes wall time from `source` instead of the best clock found.
    ///
    /// # Errors
    /// `Unsupported` for the TSC on a processor without one.
    pub fn clock(mut self, source: ClockSource) -> Result<SessionBuilder> {
        if source == ClockSource::Tsc && !cfg!(target_arch = "x86_64") {
            return Err(Error::new(
                ErrorKind::Unsupported,
                "cannot take time from the TSC: this processor has none; use the monotonic clock",
            ));
        }
        self.clock = Clock::with_source(source);
        Ok(self)
    }

    /// Tries the events on this machine and starts the session.
    ///
    /// # Errors
    /// `DuplicateSession`, `Empty`, `TooManyEvents`, `InvalidInput` for a name that
    /// is not one line, an event named twice, a log beyond 2^24 samples or two ways of
    /// taking turns; what the machine says about the events: `NoPmu`, `Permission`, `Unsupported`, `Conflict`, `NoDescriptors`.
    pub fn start(mut self) -> Result<Session> {
        cancel::put_off_during(|| {
            self.add_requested_events();
            Ok(Session::of(self.shared(None)?))
        })
    }

    /// Tries the events on this machine and counts whatever runs on each of `cpus`.
    ///
    /// What the kernel asks for that is `perf_event_paranoid` of 0 or less, or
    /// CAP_PERFMON. Hardware contexts outside of the process's cpuset count as well.
    ///
    /// # Errors
    /// As for [`start`](Self::start); `Empty` for no CPU, `NoSuchPlace` for one that the
    /// machine lacks, `PlaceNotAllowed` for one that is offline, `InvalidInput` if the
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
        let topology = Topology::of(&self.platform()?)?;
        SystemWide::open(self.shared(Some(topology))?, cpus)
    }

    /// Adds what the environment wants in the report, if it can be counted with the rest.
    fn add_requested_events(&mut self) {
        let Some(list) = exit_report::requested_events() else { return };
        if self.events.is_empty() {
            return;
        }
        // At the end: a program may know its own by number.
        let (own, turns) = (self.events.len(), self.turns);
        if let Err(error) = self.extend_events(&list) {
            self.events.truncate(own);
            self.turns = turns;
            exit_report::report_uncounted(&self.name, &error);
        }
        self.requested = self.events.len() - own;
    }

    fn extend_events(&mut self, list: &str) -> Result<()> {
        let platform = self.platform()?;
        for event in Event::parse_list_on(platform.cpu_model(), list)? {
            if !self.events.iter().any(|own| own.name() == event.name()) {
                self.events.push(event);
            }
        }
        let tried = self.sets(None, &platform);
        let may_turn = self.turns.is_none() && self.sharing == Sharing::Pinned;
        match tried {
            Err(error) if may_turn && rotation::is_lack_of_room(&error) => {
                self.turns = Some(EventSetRotation::PerExecution);
                self.sets(None, &platform).map(drop)
            }
            tried => tried.map(drop),
        }
    }

    fn shared(self, system: Option<Topology>) -> Result<Shared> {
        if self.events.is_empty() {
            return Err(event::empty());
        }
        let platform = self.platform()?;
        if self.log > LONGEST_LOG {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                format!(
                    "cannot log {} samples a thread: {LONGEST_LOG} is the most; \
                     a longer run wants fewer phases or no log",
                    self.log
                ),
            ));
        }
        if let Some(twice) = self.asked_twice() {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                format!("cannot count {twice} twice in session {:?}; name it once", self.name),
            ));
        }
        if self.turns.is_some() && self.sharing == Sharing::Multiplexed {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                format!(
                    "cannot both take turns and be multiplexed in session {:?}: estimates of \
                     estimates mean nothing; choose one",
                    self.name
                ),
            ));
        }
        Shared::claim(&self.name)?;
        match self.parts(system, platform) {
            Ok(parts) => Ok(Shared::new(parts)),
            Err((name, error)) => {
                Shared::disclaim(&name);
                Err(error)
            }
        }
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

    /// The machine to count on: the session's own, or else the process's.
    fn platform(&self) -> Result<PlatformRef> {
        let platform = self.platform.as_ref().unwrap_or_else(|| platform::current());
        match &self.placement {
            Some((topology, _)) if topology.processors() != Some(platform.processors()) => {
                Err(Error::new(
                    ErrorKind::ForeignTopology,
                    format!(
                        "cannot place threads of session {:?}: the topology ({}) is of another \
                     machine than the counters; take both from one",
                        self.name,
                        topology.source()
                    ),
                ))
            }
            _ => Ok(platform.clone()),
        }
    }

    /// The sets to count: one, or those that take turns.
    fn sets(&self, system: Option<&Topology>, platform: &PlatformRef) -> Result<Sets> {
        let open = |events: &[Event]| self.backend(events, system, platform);
        let room = || self.room(platform);
        let plan = |turns| Sets::plan(turns, &self.events, &room, &open);
        match self.turns {
            Some(turns) => plan(turns),
            None => match open(&self.events) {
                Ok(backend) => Ok(Sets::one(self.events.len(), backend)),
                Err(error) => Err(rotation::advise(error, || plan(EventSetRotation::PerExecution))),
            },
        }
    }

    fn parts(
        self,
        system: Option<Topology>,
        platform: PlatformRef,
    ) -> Result<Parts, (String, Error)> {
        let sets = match self.sets(system.as_ref(), &platform) {
            Ok(sets) => sets,
            Err(error) => return Err((self.name, error)),
        };
        let by_context = system.is_none()
            && self.registers.is_none()
            && self.distrust(&self.events, &platform).is_some();
        let (topology, placement) = match self.placement {
            None if by_context => match self.here(&platform).cloned() {
                Err(error) => return Err((self.name, error)),
                Ok(topology) => {
                    let allowed = topology.allowed();
                    let places =
                        allowed.iter().filter_map(|cpu| topology.place(cpu).ok()).collect();
                    (Some(topology), Some(Placed { placement: None, places }))
                }
            },
            None => (system, None),
            Some((topology, placement)) => {
                let places = placement
                    .capacity(&topology)
                    .and_then(|threads| placement.places(&topology, threads));
                match places {
                    Ok(places) => {
                        (Some(topology), Some(Placed { placement: Some(placement), places }))
                    }
                    Err(error) => return Err((self.name, error.into())),
                }
            }
        };
        Ok(Parts {
            name: self.name,
            own: self.events.len() - self.requested,
            events: self.events,
            sets,
            clock: self.clock,
            placement,
            topology,
            platform,
            log: self.log,
        })
    }
}
