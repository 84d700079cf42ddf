//! The description of a session before it starts.

use pacman_events::partition::Partition;
use pacman_topology::{Placement, Topology};

use super::handle::Session;
use crate::backend::perf::Sharing;
use crate::clock::ClockSource;
use crate::event::Event;
use crate::platform::PlatformRef;
use crate::report::EventSetRotation;

/// The description of a session: its events, the places of its threads, the samples it keeps.
///
/// The calls come in any order. None of them fails: [`start`](Self::start) looks up the events and
/// places the threads, and has all errors.
#[derive(Debug)]
#[must_use = "a session begins with start()"]
pub struct SessionBuilder {
    pub(super) name: String,
    pub(super) events: Vec<EventRequest>,
    pub(super) placement: Option<(Topology, Placement)>,
    pub(super) sharing: Sharing,
    pub(super) registers: Option<Partition>,
    /// The machine to count on; `None` for the one that the process counts on.
    pub(super) platform: Option<PlatformRef>,
    pub(super) rotation: Option<EventSetRotation>,
    pub(super) keeps_figures: bool,
    pub(super) trusts_driver: bool,
    /// `None` for the best clock found.
    pub(super) clock: Option<ClockSource>,
    pub(super) log: usize,
}

/// Events as the program gives them.
#[derive(Debug)]
pub(super) enum EventRequest {
    /// A comma-separated list of names.
    List(String),
    One(Event),
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
            placement: None,
            sharing: Sharing::Pinned,
            registers: None,
            platform: None,
            rotation: None,
            keeps_figures: false,
            trusts_driver: false,
            clock: None,
            log: 0,
        }
    }

    /// Counts on `platform` instead of the [current](crate::platform::current) one, such as a
    /// simulated machine; every report says so.
    pub fn on(mut self, platform: impl Into<PlatformRef>) -> SessionBuilder {
        self.platform = Some(platform.into());
        self
    }

    /// Adds the events of a comma-separated list, such as `CYCLES,INSTRUCTIONS`: see
    /// [`Event::parse_list`].
    pub fn events(mut self, list: impl Into<String>) -> SessionBuilder {
        self.events.push(EventRequest::List(list.into()));
        self
    }

    /// Adds one event.
    pub fn event(mut self, event: Event) -> SessionBuilder {
        self.events.push(EventRequest::One(event));
        self
    }

    /// Binds attaching threads to the places of `placement` on `topology`, in its order.
    pub fn placement(mut self, topology: Topology, placement: Placement) -> SessionBuilder {
        self.placement = Some((topology, placement));
        self
    }

    /// Lets the kernel multiplex groups when counters run short; counts then come with
    /// an estimate. Without this a group is on its counters or fails.
    pub fn multiplexed(mut self) -> SessionBuilder {
        self.sharing = Sharing::Multiplexed;
        self
    }

    /// Programs the counters' registers itself instead of asking the kernel, and splits each core's
    /// counters between its siblings by `partition`.
    ///
    /// Only this way can both threads of a Pentium 4 be counted. Every session does it there by
    /// default, because Linux's driver sets a counter wrongly when threads change: see
    /// [`trust_driver`](Self::trust_driver). It needs root, the `msr` module and a placement.
    /// Counts are those of the hardware context, so each thread must have one of its own. See
    /// [`msr`](crate::backend::msr).
    pub fn registers(mut self, partition: Partition) -> SessionBuilder {
        self.registers = Some(partition);
        self
    }

    /// Counts events that do not fit on the counters at once in sets that rotate. Each outermost
    /// execution of a phase counts one set.
    ///
    /// The session plans as few sets as the processor allows, each as full as possible. Every set
    /// has the events that the kernel itself counts. A change of the set takes two system calls at
    /// the begin of an outermost phase. With [`registers`](Self::registers) it takes one for each
    /// register that is restored, read or written. The report says which values come from which
    /// executions, and estimates the rest. If the events fit at once, this has no effect.
    ///
    /// By registers on a Pentium 4 the siblings' sets change independently, so each needs counters
    /// of its own: [`Partition::Even`] or [`Partition::Whole`]. If siblings share another register
    /// (off-core responses on Nehalem and Westmere), a begin may fail with `Conflict`.
    ///
    /// ```
    /// use pacman_core::{Session, session::EventSetRotation};
    /// let session = Session::builder("doc-rotation")
    ///     .events("task-clock,page-faults")
    ///     .rotate_event_sets(EventSetRotation::PerExecution)
    ///     .start()?;
    /// assert_eq!(session.report().sets.len(), 1, "software needs no rotation");
    /// # Ok::<(), pacman_core::Error>(())
    /// ```
    pub fn rotate_event_sets(mut self, rotation: EventSetRotation) -> SessionBuilder {
        self.rotation = Some(rotation);
        self
    }

    /// Keeps events that become one figure, such as IPC, in one of the sets that rotate, if they fit
    /// at once.
    ///
    /// A quotient of two sets would compare two times. The session may have more sets for it.
    pub fn keep_figures_together(mut self) -> SessionBuilder {
        self.keeps_figures = true;
        self
    }

    /// Counts hardware events through the kernel's driver even if its counts may be wrong, as on a
    /// Pentium 4. Every report then marks them, with the reason.
    ///
    /// Without this a session there programs the registers itself. That needs root and the `msr`
    /// module, otherwise [`start`](Self::start) fails with the reason. Counts are then those of a
    /// hardware context. A thread without a place of a placement is bound while it is attached: to
    /// the context that it runs on, or to another free one.
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
    pub fn clock(mut self, source: ClockSource) -> SessionBuilder {
        self.clock = Some(source);
        self
    }
}
