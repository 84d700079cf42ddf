//! Counts all programs that run on a set of hardware contexts.

use std::fmt;
use std::fs;
use std::sync::Arc;

use super::sample::Sample;
use super::shared::{Phase, Shared};
use super::snapshot;
use super::thread::{Arrival, ThreadRecord};
use super::thread_recorder::ThreadRecorder;
use crate::backend::Target;
use crate::clock::Clock;
use crate::event::Event;
use crate::platform::PlatformRef;
use crate::report::{Report, ThreadState};
use pacman_events::{Error, ErrorKind, Result};
use pacman_topology::Place;
use pacman_topology::{CpuSet, Topology};

/// Counters of whole hardware contexts, all of them under one controlling thread.
///
/// Each context has a group of its own, and a row in the [`Report`], so that siblings of a core can
/// be compared. Such a row is like a thread's, with the name "context" and the thread id -1. The
/// row of a context that goes offline ends and says so; the others go on. Made by
/// [`SessionBuilder::system_wide`](super::SessionBuilder).
///
/// ```
/// use pacman_core::{ErrorKind, Session, Topology};
/// let cpus = Topology::detect()?.allowed();
/// let all = Session::builder("doc-wide").events("cpu-clock,page-faults").system_wide(&cpus);
/// let mut all = match all {
///     Ok(all) => all,
///     // It takes privilege.
///     Err(error) if error.kind() == ErrorKind::Permission => return Ok(()),
///     Err(error) => return Err(error),
/// };
/// let work = all.phase("work")?;
/// all.begin(work)?;
/// std::hint::black_box(vec![1u8; 1 << 20]);
/// all.end(work)?;
/// assert_eq!(all.report().threads.len(), cpus.len());
/// # Ok::<(), pacman_core::Error>(())
/// ```
pub struct SystemWide {
    shared: Arc<Shared>,
    contexts: Vec<Watched>,
    /// Phases begun and not ended, the innermost last.
    open: Vec<Phase>,
}

/// One hardware context.
struct Watched {
    place: Place,
    owner: ThreadRecorder,
    record: Arc<ThreadRecord>,
    clock: Clock,
    platform: PlatformRef,
    /// The last sample that was known to be whole.
    last: Sample,
    lost: Option<Error>,
}

impl SystemWide {
    pub(super) fn open(shared: Shared, cpus: &CpuSet) -> Result<SystemWide> {
        if cpus.is_empty() {
            return Err(Error::new(
                ErrorKind::Empty,
                format!("cannot count an empty set of CPUs in session {:?}", shared.name()),
            ));
        }
        let shared = Arc::new(shared);
        let contexts = cpus.iter().map(|cpu| Watched::open(&shared, cpu));
        let contexts = contexts.collect::<Result<Vec<Watched>>>()?;
        Ok(SystemWide { shared, contexts, open: Vec::new() })
    }

    /// The counted events, in the order of every sample's counts.
    pub fn events(&self) -> &[Event] {
        self.shared.events()
    }

    /// The clock of all ticks.
    pub fn clock(&self) -> &Clock {
        self.shared.clock()
    }

    /// The counted contexts, in the order of [`sample`](Self::sample) and of the report.
    pub fn places(&self) -> impl Iterator<Item = &Place> {
        self.contexts.iter().map(|context| &context.place)
    }

    /// The phase of that name, made when it is named first.
    ///
    /// # Errors
    /// `InvalidInput` for an empty name or one of several lines.
    pub fn phase(&self, name: &str) -> Result<Phase> {
        self.shared.phase(name)
    }

    /// Begins a phase on every context; phases nest.
    ///
    /// # Errors
    /// `InvalidInput` for a phase of another session; the last context's error if no context
    /// can be counted any more.
    pub fn begin(&mut self, phase: Phase) -> Result<()> {
        self.shared.own(phase)?;
        self.each(|context| {
            context.check()?;
            // SAFETY: its own record.
            unsafe { context.owner.begin(phase.number, &context.record) }
        })?;
        self.open.push(phase);
        Ok(())
    }

    /// Ends the phase begun last, on every context.
    ///
    /// # Errors
    /// `PhaseOrder` if `phase` is not the one begun last; otherwise as for
    /// [`begin`](Self::begin).
    pub fn end(&mut self, phase: Phase) -> Result<()> {
        self.shared.own(phase)?;
        if self.open.last() != Some(&phase) {
            return Err(Error::new(
                ErrorKind::PhaseOrder,
                format!(
                    "cannot end phase {:?} on all contexts: it is not the one begun last",
                    self.shared.phase_name(phase.number)
                ),
            ));
        }
        let ended = self.each(|context| {
            context.check()?;
            // SAFETY: its own record.
            unsafe { context.owner.end(phase.number, &context.record, false) }
        });
        self.open.pop();
        ended
    }

    /// Reads every context now. A context that can no longer be read has an error.
    ///
    /// Only the difference of two samples of a context has a meaning.
    pub fn sample(&mut self) -> Vec<Result<Sample>> {
        // Each context keeps its error for the answer below.
        let _ = self.each(Watched::check);
        let answer = |context: &Watched| context.lost.clone().map_or(Ok(context.last), Err);
        self.contexts.iter().map(answer).collect()
    }

    /// Everything known now: a row for each context.
    pub fn report(&self) -> Report {
        snapshot::report(&self.shared)
    }

    /// Calls `act` with every context that is left, and gives up the contexts where it fails.
    fn each(&mut self, mut act: impl FnMut(&mut Watched) -> Result<()>) -> Result<()> {
        let online = self.shared.platform().online();
        for context in self.contexts.iter_mut().filter(|context| context.lost.is_none()) {
            let acted = match &online {
                Some(online) if !online.contains(context.place.cpu()) => Err(context.offline()),
                _ => act(context),
            };
            if let Err(error) = acted {
                let open = self.open.last().map(|phase| self.shared.phase_name(phase.number));
                context.give_up(error, open);
            }
        }
        let left = self.contexts.iter().any(|context| context.lost.is_none());
        match self.contexts.last().and_then(|context| context.lost.clone()) {
            Some(error) if !left => Err(error),
            _ => Ok(()),
        }
    }
}

impl Watched {
    fn open(shared: &Shared, cpu: u32) -> Result<Watched> {
        let place = place(shared.topology()?, cpu)?;
        let (sets, clock) = (shared.sets(), *shared.clock());
        let mut owner = ThreadRecorder::open(sets, Target::Context(cpu), clock)?;
        let caps = owner.caps();
        let mut last = Sample::EMPTY;
        owner.first_sample(&mut last)?;
        let record = shared.join(|number| {
            let (tid, name, since) = (NO_THREAD, Some("context".into()), last.ticks);
            let arrival = Arrival { number, tid, name, cpu: Some(cpu), bound: true, caps, since };
            ThreadRecord::new(arrival, shared.events(), sets, shared.log())
        });
        owner.number(record.arrival.number);
        let platform = shared.platform().clone();
        Ok(Watched { place, owner, record, clock, platform, last, lost: None })
    }

    /// Reads the context; an error if its counters stood still for a part of the time.
    ///
    /// When a context goes offline, the kernel stops its counters permanently, but still returns
    /// their last values, even after the context came back. Only then does the time that the
    /// group was enabled stop.
    fn check(&mut self) -> Result<()> {
        let mut now = Sample::EMPTY;
        let before = self.clock.now();
        // SAFETY: its own record.
        unsafe { self.owner.sample(&mut now, &self.record.open) }
            .map_err(|error| self.away(error))?;
        let (enabled, _) = now.reading.times_since(&self.last.reading);
        // Registers have no such time, and a simulated machine has a clock of its own.
        if now.reading.enabled_ns > 0 && !self.record.arrival.caps.simulated {
            let ticks = before.saturating_sub(self.last.ticks);
            let passed = ticks as f64 * self.clock.nanos_per_tick();
            if (enabled as f64) < passed * (1.0 - RATES_DIFFER) - CLOCKS_DIFFER {
                let error = Error::new(ErrorKind::NotScheduled, "its counters were stopped");
                return Err(self.away(error));
            }
        }
        self.last = now;
        Ok(())
    }

    /// Replaces a read's error by the fate of the context.
    #[cold]
    fn away(&self, error: Error) -> Error {
        let online = self.platform.online();
        if online.is_some_and(|online| !online.contains(self.place.cpu())) {
            return self.offline();
        }
        match error.kind() {
            ErrorKind::NotScheduled => self.gone(
                ErrorKind::NotScheduled,
                &format!("{error}: it was offline, or another profiler took its counters"),
            ),
            _ => error,
        }
    }

    #[cold]
    fn offline(&self) -> Error {
        let smt = fs::read_to_string("/sys/devices/system/cpu/smt/control").unwrap_or_default();
        let because = if smt.contains("off") { ": SMT was switched off" } else { "" };
        self.gone(ErrorKind::PlaceNotAllowed, &format!("it went offline{because}"))
    }

    fn gone(&self, kind: ErrorKind, why: &str) -> Error {
        let cpu = self.place.cpu();
        Error::new(kind, format!("cannot count CPU {cpu} any more: {why}; begin a new session"))
    }

    #[cold]
    fn give_up(&mut self, error: Error, open: Option<String>) {
        let inside = open.map(|phase| format!("; its last execution of {phase:?} is not counted"));
        self.record.note(format!("{error}{}", inside.unwrap_or_default()));
        self.record.end(self.clock.now(), ThreadState::Exited);
        self.lost = Some(error);
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if self.lost.is_none() {
            self.record.end(self.clock.now(), ThreadState::Detached);
        }
    }
}

impl fmt::Debug for SystemWide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SystemWide")
            .field("session", &self.shared.name())
            .field("contexts", &self.contexts.len())
            .finish_non_exhaustive()
    }
}

/// The context's place. This process need not be allowed to run there.
fn place(topology: &Topology, cpu: u32) -> Result<Place> {
    if let Some(context) = topology.context(cpu) {
        return Ok(Place::of(context));
    }
    let (kind, why) = if topology.offline().contains(cpu) {
        let online = format!("/sys/devices/system/cpu/cpu{cpu}/online");
        (ErrorKind::PlaceNotAllowed, format!("it is offline; as root, write 1 to {online}"))
    } else {
        let all: CpuSet = topology.contexts().iter().map(|context| context.cpu).collect();
        (ErrorKind::NoSuchPlace, format!("this machine has CPUs {all}"))
    };
    Err(Error::new(kind, format!("cannot count CPU {cpu}: {why}")))
}

/// The thread id of a row that does not belong to a thread.
const NO_THREAD: i32 = -1;
/// The relative difference allowed between the rates of the kernel's and the session's clock.
const RATES_DIFFER: f64 = 0.01;
/// Nanoseconds by which the two clocks may differ in steps.
const CLOCKS_DIFFER: f64 = 5e6;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Session;

    fn all(name: &str, cpus: &CpuSet) -> Result<SystemWide> {
        Session::builder(name).events("cpu-clock,context-switches").system_wide(cpus)
    }

    #[test]
    fn every_context_has_a_row_and_the_clock_of_all_of_them_runs() {
        let topology = Topology::detect().unwrap();
        let cpus = topology.allowed();
        let mut all = match all("wide-rows", &cpus) {
            Ok(all) => all,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Permission, "{error}");
                return;
            }
        };
        let phases = [all.phase("outer").unwrap(), all.phase("inner").unwrap()];
        all.begin(phases[0]).unwrap();
        all.begin(phases[1]).unwrap();
        let error = all.end(phases[0]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PhaseOrder);
        let first: Vec<Sample> = all.sample().into_iter().map(Result::unwrap).collect();
        while all.sample()[0].as_ref().unwrap().count_since(&first[0], 0) < 2_000_000 {}
        all.end(phases[1]).unwrap();
        all.end(phases[0]).unwrap();
        let report = all.report();
        assert_eq!(report.threads.len(), cpus.len());
        for (row, place) in report.threads.iter().zip(all.places()) {
            assert_eq!((row.tid, row.name.as_deref()), (-1, Some("context")));
            assert_eq!(row.place.map(|at| (at.cpu, at.bound)), Some((place.cpu(), true)));
            let [outer, inner] = [&row.phases[0], &row.phases[1]];
            // A context's own clock goes on under any load.
            assert!(inner.counts[0].raw.sum >= 2_000_000, "{inner:?}");
            assert!(outer.counts[0].raw.sum >= inner.counts[0].raw.sum);
            assert!(row.notes.is_empty(), "{:?}", row.notes);
        }
    }

    #[test]
    fn cpus_that_are_not_there_are_named() {
        if !pacman_suite::process::reaches_perf_events() {
            return pacman_suite::skipped("perf_event_open does not reach a kernel");
        }
        let none = all("wide-none", &CpuSet::default()).unwrap_err();
        assert_eq!(none.kind(), ErrorKind::Empty);
        let missing = all("wide-missing", &CpuSet::from_list("9999").unwrap()).unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::NoSuchPlace);
        assert!(missing.to_string().starts_with("cannot count CPU 9999: this machine has CPUs 0"));
        let again = all("wide-missing", &CpuSet::from_list("9999").unwrap()).unwrap_err();
        assert_eq!(again.kind(), ErrorKind::NoSuchPlace, "the name is free again");
    }

    #[test]
    fn counters_that_stood_still_are_noticed() {
        let cpus: CpuSet = Topology::detect().unwrap().allowed().first().into_iter().collect();
        let Ok(mut all) = all("wide-stopped", &cpus) else { return };
        let phase = all.phase("cut").unwrap();
        all.begin(phase).unwrap();
        // As if the last sample had been taken a second earlier than it was.
        all.contexts[0].last.ticks -= ticks_of_a_second(all.clock());
        let error = all.end(phase).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotScheduled);
        assert!(error.to_string().contains("its counters were stopped"), "{error}");
        assert!(all.sample()[0].is_err());
        let report = all.report();
        assert_eq!(report.threads[0].state, ThreadState::Exited);
        let note = &report.threads[0].notes[0];
        assert!(
            note.ends_with("begin a new session; its last execution of \"cut\" is not counted"),
            "{note}"
        );
    }

    fn ticks_of_a_second(clock: &Clock) -> u64 {
        (1e9 / clock.nanos_per_tick()) as u64
    }
}
