//! A thread's membership in a session.

use std::marker::PhantomData;
use std::sync::Arc;

use crate::backend::{Caps, EventSums, Reading};
use crate::report::ThreadState;
use pacman_events::{Error, ErrorKind, Result};
use pacman_topology::Binding;
use pacman_topology::Place;
use pacman_topology::cancel;

use super::observer::{Observer, bits};
use super::peer::{Peer, SiblingPair};
use super::rotation::SetStats;
use super::rows::Rows;
use super::sample::Sample;
use super::shared::{Phase, Shared};
use super::thread::{Counted, ThreadRecord};
use super::thread_recorder::{FastPath, ThreadRecorder};
use super::uncounted::Uncounted;

/// A thread that takes part in a session; dropping it detaches the thread.
///
/// It stays on its thread (it is not `Send`), because RDPMC reads the counters of the thread
/// that executes it. A signal handler may begin and end phases of its own. If the handler has
/// interrupted a begin or end of its thread, its own call fails with `Reentered` and changes
/// nothing. A handler must call no other method. The first end of a phase on a thread allocates
/// unless the phase is one of the session's first 16: it should not be in a handler.
///
/// ```compile_fail,E0277
/// fn elsewhere(thread: pacman_core::Attached) {
///     std::thread::spawn(move || drop(thread));
/// }
/// ```
pub struct Attached {
    /// It is given `record`, which was made for it.
    owner: ThreadRecorder,
    record: Arc<ThreadRecord>,
    /// See [`ThreadRecorder::has_fast_path`]. Observed phases have none.
    has_fast_path: bool,
    /// The preloaded library that reports the phases, if there is one.
    observer: Option<Observer>,
    /// The session's number, as phases carry it.
    session: u32,
    shared: Arc<Shared>,
    place: Option<Place>,
    /// Dropped last of all: the old mask comes back when the counters are gone.
    binding: Option<Binding>,
    one_thread: PhantomData<*const ()>,
}

impl Attached {
    pub(super) fn new(
        owner: ThreadRecorder,
        record: Arc<ThreadRecord>,
        shared: Arc<Shared>,
        place: Option<Place>,
        binding: Option<Binding>,
    ) -> Attached {
        Attached {
            has_fast_path: owner.has_fast_path(&record) && shared.observer().is_none(),
            observer: shared.observer(),
            owner,
            record,
            session: shared.number() as u32,
            shared,
            place,
            binding,
            one_thread: PhantomData,
        }
    }

    /// Begins a phase: reads the counters and the clock.
    ///
    /// Phases nest and may be entered again. With hardware events and RDPMC this
    /// makes no system call; it never locks or allocates. In a session with rotating sets, the begin of an
    /// outermost phase puts the phase's next set on the counters.
    ///
    /// # Errors
    /// `InvalidInput` for a phase of another session; `Reentered` in a signal handler that
    /// interrupted a begin or an end of this thread; `NotScheduled`, `Forked` or `System` if the
    /// read fails; the errors of opening counters if a set is put on the counters by registers. The
    /// phase is not begun then.
    pub fn begin(&self, phase: Phase) -> Result<()> {
        let phase = self.own(phase)?;
        // SAFETY: the path is of its own record.
        let begun = self.fast_path().and_then(|path| unsafe { self.owner.begin_fast(phase, path) });
        begun.unwrap_or_else(|| self.begin_slow(phase))
    }

    /// Ends the phase begun last and adds it to the thread's row for it.
    ///
    /// # Errors
    /// `PhaseOrder` if `phase` is not the one begun last; otherwise as for
    /// [`begin`](Self::begin), and the execution is then noted as not counted.
    pub fn end(&self, phase: Phase) -> Result<()> {
        let number = self.own(phase)?;
        // SAFETY: the path is of its own record.
        match self.fast_path().and_then(|path| unsafe { self.owner.end_fast(number, path) }) {
            Some(Ok(())) => Ok(()),
            Some(Err(error)) => Err(self.not_ended(number, error)),
            None => self.end_slow(number, false),
        }
    }

    /// Begins a phase that ends when the guard is dropped, also by a panic.
    ///
    /// # Errors
    /// As for [`begin`](Self::begin).
    pub fn enter(&self, phase: Phase) -> Result<PhaseGuard<'_>> {
        self.begin(phase)?;
        Ok(PhaseGuard { thread: self, phase })
    }

    /// Runs `work` as one execution of a phase and passes its result on.
    ///
    /// `work` runs even if the counters fail. `?` and `unwrap` take the result of a counted
    /// execution; [`Uncounted::into_value`] takes the result of an uncounted one.
    ///
    /// # Errors
    /// [`Uncounted`], with the result of `work`, where the execution was not counted: the error
    /// is as for [`begin`](Self::begin) or [`end`](Self::end). The report has a note of it.
    ///
    /// ```
    /// use pacman_core::{Session, session::Uncounted};
    ///
    /// let session = Session::builder("run").events("task-clock").start()?;
    /// let (thread, work) = (session.attach()?, session.phase("work")?);
    /// let counted = thread.run(work, || 6 * 7)?;
    /// let any = thread.run(work, || 6 * 7).unwrap_or_else(Uncounted::into_value);
    /// assert_eq!((counted, any), (42, 42));
    /// # Ok::<(), pacman_core::Error>(())
    /// ```
    pub fn run<R>(&self, phase: Phase, work: impl FnOnce() -> R) -> Result<R, Uncounted<R>> {
        let (value, counted) = match self.enter(phase) {
            Ok(entered) => (work(), entered.end()),
            Err(error) => {
                let name = self.own(phase).map_or_else(
                    |_| "a phase of another session".to_owned(),
                    |number| self.shared.phase_name(number),
                );
                self.record.note(format!("an execution of {name:?} was not counted: {error}"));
                (work(), Err(error))
            }
        };
        match counted {
            Ok(()) => Ok(value),
            Err(error) => Err(Uncounted { value, error }),
        }
    }

    /// Reads this thread's counters now.
    ///
    /// Never allocates or locks; with hardware events and RDPMC it makes no system call.
    ///
    /// # Errors
    /// `NotScheduled` when the kernel took the counters away, `Forked` in a
    /// child process, `System`; `Unsupported` in a session with rotating sets, where a reading
    /// could not say which events it holds: take a [`sample`](Self::sample) there.
    #[inline]
    pub fn read(&self, reading: &mut Reading) -> Result<()> {
        self.owner.read(reading)
    }

    /// Reads this thread's counters now and adds the counts since `begun` to `sums`. `sums` has one
    /// entry per event, in the session's order.
    ///
    /// This ends a measurement that [`read`](Self::read) has begun, with fewer instructions than a
    /// second reading and its differences take. Only the calling thread may write the sums, because
    /// it uses plain loads and stores. Other threads may read them at any time.
    ///
    /// # Errors
    /// As for [`read`](Self::read); nothing is added then.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU64, Ordering};
    /// use pacman_core::{Session, backend::{MAX_EVENTS, Reading}};
    ///
    /// let session = Session::builder("sums").events("task-clock,page-faults").start()?;
    /// let thread = session.attach()?;
    /// let (mut begun, sums) = (Reading::EMPTY, [const { AtomicU64::new(0) }; MAX_EVENTS]);
    /// for _ in 0..3 {
    ///     thread.read(&mut begun)?;
    ///     std::hint::black_box(vec![1u8; 1 << 20]);
    ///     thread.add_since(&begun, &sums)?;
    /// }
    /// assert!(sums[0].load(Ordering::Relaxed) > 0, "nanoseconds");
    /// # Ok::<(), pacman_core::Error>(())
    /// ```
    #[inline]
    pub fn add_since(&self, begun: &Reading, sums: &EventSums) -> Result<()> {
        self.owner.add_since(begun, sums)
    }

    /// Puts a set of a session with rotating sets on this thread's counters, by its number in
    /// [`Session::sets`](super::Session::sets). For threads without phases, which choose by themselves.
    /// A change takes two system calls. Sets of the kernel's counters allocate nothing.
    ///
    /// # Errors
    /// `InvalidInput` for a set that is not there; the errors of opening counters, and readings fail
    /// until a change succeeds.
    pub fn put_set_on(&self, set: usize) -> Result<()> {
        // SAFETY: its own record.
        unsafe { self.owner.put_set_on(set, &self.record.open) }
    }

    /// As [`read`](Self::read), for the events of the set which is on the counters, in their order.
    ///
    /// # Errors
    /// As there; `NotScheduled` if the last change of the set failed.
    #[inline]
    pub fn read_set(&self, reading: &mut Reading) -> Result<()> {
        // SAFETY: its own record.
        unsafe { self.owner.read_set(reading, &self.record.open) }
    }

    /// As [`add_since`](Self::add_since), for [`read_set`](Self::read_set) without a change between.
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn add_set_since(&self, begun: &Reading, sums: &EventSums) -> Result<()> {
        // SAFETY: its own record.
        unsafe { self.owner.add_set_since(begun, sums, &self.record.open) }
    }

    /// Reads this thread's counters and the clock now.
    ///
    /// In a session with rotating sets: the events of the set which is on the counters.
    ///
    /// # Errors
    /// `NotScheduled`, `Forked`, `System`, as for [`read`](Self::read).
    #[inline]
    pub fn sample(&self, sample: &mut Sample) -> Result<()> {
        // SAFETY: its own record.
        unsafe { self.owner.sample(sample, &self.record.open) }
    }

    /// Reads this thread's counters and the clock now, and a sibling's latest sample with them.
    /// Returns false if that thread has published none yet.
    ///
    /// This gives the samples of both siblings of a core at the same time, at the price of one
    /// read. With hardware events and RDPMC it makes no system call. It never allocates or locks.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    #[inline]
    pub fn pair(&self, sibling: &Peer, pair: &mut SiblingPair) -> Result<bool> {
        // SAFETY: its own record.
        unsafe { self.owner.sample(&mut pair.own, &self.record.open) }?;
        Ok(sibling.read(pair.own.ticks, &mut pair.sibling))
    }

    /// Reads the counters and publishes them, so that other threads see this thread's current
    /// counts in the middle of a long phase.
    ///
    /// # Errors
    /// As for [`sample`](Self::sample).
    pub fn publish(&self) -> Result<()> {
        // SAFETY: its own record.
        unsafe { self.owner.publish(&self.record) }
    }

    /// Whether the thread attached before this process was forked, so that the counters are the
    /// parent's.
    pub fn is_inherited(&self) -> bool {
        self.record.is_gone()
    }

    /// The number the session gave this thread.
    pub fn number(&self) -> usize {
        self.record.arrival.number
    }

    /// The place that the session bound the thread to, if it did.
    pub fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }

    /// The abilities of these counters.
    pub fn caps(&self) -> &Caps {
        &self.record.arrival.caps
    }

    /// Leaves the session, as dropping does.
    pub fn detach(self) {}

    /// Leaves the session because the thread ends: reports say that it ended while attached.
    pub fn detach_exited(self) {
        // The drop below finds the thread ended already and keeps this state.
        self.record.end(self.shared.clock().now(), ThreadState::Exited);
    }

    /// The phase behind a word of [`Phase::to_bits`], if it is the session's.
    #[inline]
    pub fn phase_from_bits(&self, bits: u64) -> Option<Phase> {
        self.shared.phase_from_bits(bits)
    }

    pub(super) fn session(&self) -> u64 {
        self.shared.number()
    }

    /// The thread's fast path, if it has one.
    #[inline(always)]
    fn fast_path(&self) -> Option<FastPath<'_>> {
        match &self.record.counted {
            Counted::AtOnce(SetStats { slot, rows: Rows::Four(rows) }) if self.has_fast_path => {
                Some(FastPath { slot, rows, open: &self.record.open })
            }
            _ => None,
        }
    }

    // Other threads, and errors. The fast path computes the arguments whether it calls or not.
    #[inline(never)]
    fn begin_slow(&self, phase: u32) -> Result<()> {
        if let Some(observer) = self.observer {
            // SAFETY: its own record.
            let begin = || unsafe { self.owner.begin(phase, &self.record) };
            return observer.around_begin(
                bits(self.shared.number(), phase),
                &self.record.open,
                begin,
            );
        }
        // Not by the same closure: it would be in memory, and the way back is in what the phase counts.
        // SAFETY: its own record.
        unsafe { self.owner.begin(phase, &self.record) }
    }

    #[inline(never)]
    fn end_slow(&self, phase: u32, panicked: bool) -> Result<()> {
        let ended = if let Some(observer) = self.observer {
            // SAFETY: its own record.
            let end = || unsafe { self.owner.end(phase, &self.record, panicked) };
            observer.around_end(bits(self.shared.number(), phase), &self.record.open, end)
        } else {
            // SAFETY: its own record.
            unsafe { self.owner.end(phase, &self.record, panicked) }
        };
        ended.map_err(|error| self.not_ended(phase, error))
    }

    #[inline(always)]
    fn own(&self, phase: Phase) -> Result<u32> {
        if phase.session == self.session {
            Ok(phase.number)
        } else {
            Err(self.shared.foreign_phase())
        }
    }

    /// Completes the error of an end: which phase, on which thread.
    #[cold]
    fn not_ended(&self, phase: u32, error: Error) -> Error {
        let name = self.shared.phase_name(phase);
        let number = self.record.arrival.number;
        if error.kind() == ErrorKind::PhaseOrder {
            let open = self.record.open.innermost().map(|open| self.shared.phase_name(open));
            let hint = open.map_or("begin it".into(), |open| format!("end {open:?}"));
            let why =
                format!("cannot end phase {name:?} on thread {number}: {error}; {hint} first");
            return Error::new(ErrorKind::PhaseOrder, why);
        }
        // Nothing was lost then, and a signal handler should do little.
        if error.kind() != ErrorKind::Reentered {
            self.record.note(format!("an execution of {name:?} was not counted: {error}"));
        }
        error
    }

    fn end_membership(&mut self) {
        let ending = if std::thread::panicking() { " when the thread panicked" } else { "" };
        if let Err(error) = self.owner.verify() {
            self.record.note(format!("its counts are in doubt from some time on: {error}"));
        }
        if self.record.open.depth() > 0 {
            if let Some(observer) = self.observer {
                observer.leave_open(self.shared.number(), &self.record.open);
            }
            let open = self.record.open.innermost().map(|open| self.shared.phase_name(open));
            self.record.note(format!(
                "detached inside phase {:?}{ending}: that execution is not counted",
                open.unwrap_or_default()
            ));
        }
        if self.record.state() == ThreadState::Attached {
            self.record.end(self.shared.clock().now(), ThreadState::Detached);
        }
        self.shared.retire(&self.record);
        // The place is free for the next thread once this one has left it.
        self.binding = None;
        self.shared.leave(self.place.as_ref());
        super::memberships::forget(self.shared.number());
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        cancel::put_off_during(|| self.end_membership());
    }
}

impl std::fmt::Debug for Attached {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Attached")
            .field("session", &self.shared.name())
            .field("number", &self.record.arrival.number)
            .finish_non_exhaustive()
    }
}

/// An open phase; dropping it ends the phase.
#[derive(Debug)]
#[must_use = "the phase ends when this is dropped"]
pub struct PhaseGuard<'a> {
    thread: &'a Attached,
    phase: Phase,
}

impl PhaseGuard<'_> {
    /// Ends the phase and says whether that worked.
    ///
    /// # Errors
    /// As for [`Attached::end`].
    pub fn end(self) -> Result<()> {
        let (thread, phase) = (self.thread, self.phase);
        std::mem::forget(self);
        thread.end(phase)
    }
}

impl Drop for PhaseGuard<'_> {
    fn drop(&mut self) {
        let panicked = std::thread::panicking();
        let thread = self.thread;
        let ended = match panicked {
            true => thread.end_slow(self.phase.number, panicked),
            false => thread.end(self.phase),
        };
        if let Err(error) = ended {
            // A drop cannot return the error, so the report has it.
            if error.kind() == ErrorKind::PhaseOrder {
                thread.record.note(error.to_string());
            }
        }
    }
}
