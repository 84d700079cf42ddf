//! The handle of a session, from which threads attach.

use std::sync::Arc;

use pacman_topology::{Binding, Place, cancel};

use super::attached::Attached;
use super::peer::Peer;
use super::shared::{Phase, Shared};
use super::thread::{Arrival, ThreadRecord};
use super::thread_recorder::ThreadRecorder;
use super::{memberships, snapshot};
use crate::backend::Target;
use crate::clock::Clock;
use crate::event::Event;
use crate::report::{EventSet, Report};
use crate::thread_registry;
use pacman_events::{Error, ErrorKind, Result};

/// A running session: cheap to clone, usable from every thread.
///
/// Dropping the last handle closes the session: threads that are attached go on
/// until they detach, new ones are refused, and the name is free again.
///
/// Only threads that the C library knows may use a session: those of `std::thread`, of
/// `pthread_create` and of an OpenMP runtime. A task that a program makes with a bare `clone(2)` or
/// `vfork(2)` has no thread-local storage of its own. A child without `CLONE_VM` does not have the
/// counter pages, because Linux leaves them out of a copied address space. Reading them with RDPMC
/// ends the child by a signal. Call nothing of the library there before `exec`. After `fork(2)` the
/// library itself returns an error ([`ErrorKind::Forked`]).
///
/// ```
/// use pacman_core::Session;
/// let session = Session::builder("doc-session").events("task-clock").start()?;
/// let work = session.phase("work")?;
/// let thread = session.attach()?;
/// let sum = thread.run(work, || (0..1000u64).sum::<u64>())?;
/// assert_eq!(sum, 499_500);
/// assert_eq!(session.report().threads[0].phases[0].executions, 1);
/// # Ok::<(), pacman_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Session {
    handle: Arc<Handle>,
    /// The session's number, at hand for the calls that find a kept attachment.
    number: u64,
}

struct Handle {
    shared: Arc<Shared>,
}

impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("name", &self.shared.name()).finish_non_exhaustive()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shared.close();
    }
}

impl Session {
    /// The first handle of a session.
    pub(super) fn of(shared: Arc<Shared>) -> Session {
        Session { number: shared.number(), handle: Arc::new(Handle { shared }) }
    }

    /// The session's name, unique in this process while it is open.
    pub fn name(&self) -> &str {
        self.shared().name()
    }

    /// The counted events, in the order of every sample's counts.
    ///
    /// On a hybrid processor the events that the program asked for are followed by the
    /// [parts](Event::parts) that each core type counts of them.
    pub fn events(&self) -> &[Event] {
        self.shared().own_events()
    }

    /// The events that the program asked for: the first ones of [`events`](Self::events).
    pub fn asked_events(&self) -> &[Event] {
        self.shared().asked_events()
    }

    /// The sets in which the events are counted: one, unless they
    /// [rotate](super::SessionBuilder::rotate_event_sets).
    pub fn sets(&self) -> Vec<EventSet> {
        let mut sets = self.shared().sets().described();
        let own = self.events().len();
        sets.iter_mut().for_each(|set| set.events.retain(|&event| event < own));
        sets
    }

    /// The clock of all the session's ticks.
    pub fn clock(&self) -> &Clock {
        self.shared().clock()
    }

    /// The phase of that name, made when it is named first.
    ///
    /// # Errors
    /// `InvalidInput` for an empty name or one of several lines, and for another name when
    /// [`MAX_PHASES`](super::MAX_PHASES) have been given.
    pub fn phase(&self, name: &str) -> Result<Phase> {
        self.shared().phase(name)
    }

    /// The phase behind a word of [`Phase::to_bits`], if it is this session's.
    pub fn phase_from_bits(&self, bits: u64) -> Option<Phase> {
        self.shared().phase_from_bits(bits)
    }

    /// Attaches the calling thread: at the next free place if the session has a placement,
    /// otherwise where the thread runs.
    ///
    /// # Errors
    /// `AlreadyAttached`; `Closed`; `NoSuchPlace` if every place is taken; the errors of
    /// binding (`PlaceNotAllowed`) and of opening the counters (`NoDescriptors`, `Permission`,
    /// `NotScheduled`, …). A failed attach restores descriptors, place and mask.
    pub fn attach(&self) -> Result<Attached> {
        self.admit(|| self.shared().take_place())
    }

    /// Attaches the calling thread and binds it to `place` until it detaches.
    ///
    /// Several threads of a session may share a place; each has its own counts.
    ///
    /// # Errors
    /// As for [`attach`](Self::attach); `NoSuchPlace` and `ForeignTopology` for a
    /// place of another machine.
    pub fn attach_at(&self, place: &Place) -> Result<Attached> {
        self.admit(|| {
            self.shared().occupy(place);
            Ok(Some(*place))
        })
    }

    fn admit(&self, place: impl FnOnce() -> Result<Option<Place>>) -> Result<Attached> {
        cancel::put_off_during(|| self.admit_at(place))
    }

    fn admit_at(&self, place: impl FnOnce() -> Result<Option<Place>>) -> Result<Attached> {
        let shared = self.shared();
        shared.check_open()?;
        if !memberships::register(shared.number()) {
            return Err(Error::new(
                ErrorKind::AlreadyAttached,
                format!(
                    "cannot attach this thread to session {:?}: it is attached already; \
                     detach it first",
                    shared.name()
                ),
            ));
        }
        let place = match place() {
            Ok(place) => place,
            Err(error) => {
                memberships::forget(shared.number());
                return Err(error);
            }
        };
        self.open(place).inspect_err(|_| {
            shared.leave(place.as_ref());
            memberships::forget(shared.number());
        })
    }

    fn open(&self, place: Option<Place>) -> Result<Attached> {
        let shared = self.shared();
        let binding = match &place {
            Some(place) => {
                let topology = shared.topology()?;
                if shared.binds_by_itself() {
                    Binding::widen(topology, place)?;
                }
                Some(Binding::bind(topology, place)?)
            }
            None => None,
        };
        let (sets, clock) = (shared.sets(), *shared.clock());
        let mut owner = ThreadRecorder::open(sets, Target::Caller, clock)?;
        shared.readings.measure(shared.events(), sets, &mut owner);
        let caps = owner.caps();
        let record = shared.join(|number| {
            let cpu = place.map(|place| place.cpu()).or_else(|| shared.platform().current_cpu());
            let since = clock.now();
            // SAFETY: gettid takes nothing and cannot fail.
            let tid = unsafe { libc::gettid() };
            // Threads that are ending have no handle of their own any more.
            let name = thread_registry::can_keep::<Attached>().then(std::thread::current);
            let name = name.and_then(|thread| thread.name().map(str::to_string));
            let bound = place.is_some();
            let arrival = Arrival { number, tid, name, cpu, bound, caps, since };
            ThreadRecord::new(arrival, shared.events(), sets, shared.log())
        });
        owner.number(record.arrival.number);
        Ok(Attached::new(owner, record, Arc::clone(shared), place, binding))
    }

    /// Attaches the calling thread and leaves the attachment with it, for threads
    /// that cannot keep a value: a pool's workers, OpenMP threads.
    ///
    /// [`begin`](Self::begin), [`end`](Self::end) and [`detach_current_thread`](Self::detach_current_thread)
    /// find it again; if the thread ends first, it is detached, and the report says so.
    /// That happens as the thread ends, after its closure: `join` waits for it, the
    /// end of a `std::thread::scope` alone does not.
    ///
    /// # Errors
    /// As for [`attach`](Self::attach); `NotAttached` on a thread whose thread-locals are gone,
    /// as those of the main thread are in exit handlers.
    pub fn attach_current_thread(&self) -> Result<()> {
        // Looked at first, so that a thread that ends opens no counters for nothing.
        if thread_registry::can_keep::<Attached>() && thread_registry::keep(self.attach()?) {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::NotAttached,
            format!(
                "cannot attach this thread to session {:?}: the thread is ending and keeps no \
                 attachment any more; attach() gives one that the caller keeps",
                self.name()
            ),
        ))
    }

    /// Detaches the calling thread after [`attach_current_thread`](Self::attach_current_thread).
    ///
    /// # Errors
    /// `NotAttached` if it is not attached that way.
    pub fn detach_current_thread(&self) -> Result<()> {
        match thread_registry::take::<Attached>(self.number) {
            Some(attached) => {
                attached.detach();
                Ok(())
            }
            None => Err(self.detached("detach")),
        }
    }

    /// Begins a phase on the calling thread after [`attach_current_thread`](Self::attach_current_thread).
    ///
    /// # Errors
    /// `NotAttached`; otherwise as for [`Attached::begin`].
    #[inline]
    pub fn begin(&self, phase: Phase) -> Result<()> {
        // SAFETY: sessions are numbered from 1, and a begin takes no attachment away.
        unsafe {
            thread_registry::quickly(self.number, |attached: &Attached| attached.begin(phase))
        }
        .unwrap_or_else(|| Err(self.detached("begin a phase")))
    }

    /// Ends a phase on the calling thread after [`attach_current_thread`](Self::attach_current_thread).
    ///
    /// # Errors
    /// `NotAttached`; otherwise as for [`Attached::end`].
    #[inline]
    pub fn end(&self, phase: Phase) -> Result<()> {
        // SAFETY: sessions are numbered from 1, and an end takes no attachment away.
        unsafe { thread_registry::quickly(self.number, |attached: &Attached| attached.end(phase)) }
            .unwrap_or_else(|| Err(self.detached("end a phase")))
    }

    /// Runs `act` with the attachment that the calling thread keeps.
    ///
    /// # Errors
    /// `NotAttached` if there is none.
    pub fn with_current_thread<R>(&self, act: impl FnOnce(&Attached) -> R) -> Result<R> {
        thread_registry::with(self.number, act).ok_or_else(|| self.detached("use the counters"))
    }

    #[cold]
    fn detached(&self, wish: &str) -> Error {
        Error::new(
            ErrorKind::NotAttached,
            format!(
                "cannot {wish} on this thread: it is not attached to session {:?}; attach it first",
                self.name()
            ),
        )
    }

    /// A view of thread `number` for other threads, or `None` before it attached, and once it has
    /// ended after a thousand others: see [`Report::threads`].
    pub fn peer(&self, number: usize) -> Option<Peer> {
        Some(Peer::new(self.shared().thread(number)?, self.shared()))
    }

    /// Everything the session knows now, without disturbing its threads.
    pub fn report(&self) -> Report {
        cancel::put_off_during(|| snapshot::report(self.shared()))
    }

    fn shared(&self) -> &Arc<Shared> {
        &self.handle.shared
    }
}
