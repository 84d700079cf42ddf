//! The owner's side: chooses the set of each execution and puts it on the counters.

use std::collections::HashMap;
use std::sync::Arc;

use super::sets::{Epoch, Sets};
use crate::backend::{Caps, Counters, Reading, Target};
use crate::clock::Clock;
use crate::report::EventSetRotation;
use crate::session::meter::Meter;
use crate::session::sample::Sample;
use pacman_events::{Error, ErrorKind, Result};
use pacman_topology::cancel;

/// Number of phases whose executions are counted without a search.
const FIRST: usize = 64;

/// The sets of one thread, one of them on its counters.
pub(in crate::session) struct SetScheduler {
    sets: Arc<Sets>,
    target: Target,
    /// The set of each phase's first execution here.
    start: u64,
    /// Outermost executions begun so far, by phase. Phases from `FIRST` on are in the map.
    begun: [u64; FIRST],
    begun_beyond: HashMap<u32, u64>,
    /// The set which is on the counters.
    set: usize,
    epoch: Epoch,
    clock: Clock,
    /// The meters of the set which is on the counters, and of the sets that stand by.
    meters: Box<[Option<Meter>]>,
    /// Refuses readings while no set is on the counters: the switch to the next one failed.
    off: Option<Meter>,
}

impl SetScheduler {
    /// Opens each set once, so that a set that cannot be counted fails now. Leaves set 0 on the
    /// counters.
    pub(in crate::session) fn open(
        sets: &Arc<Sets>,
        target: Target,
        clock: Clock,
    ) -> Result<SetScheduler> {
        let mut meters: Box<[Option<Meter>]> = (0..sets.len()).map(|_| None).collect();
        for set in (1..sets.len()).rev() {
            let mut meter = Meter::new(sets.backend(set).open(target)?, clock);
            if meter.stand_by()? {
                meters[set] = Some(meter);
            }
        }
        meters[0] = Some(Meter::new(sets.backend(0).open(target)?, clock));
        Ok(SetScheduler {
            start: 0,
            begun: [0; FIRST],
            begun_beyond: HashMap::new(),
            set: 0,
            epoch: Epoch { number: 0, live: sets.live(0) },
            clock,
            meters,
            off: None,
            sets: Arc::clone(sets),
            target,
        })
    }

    /// Sets the thread's number in the session.
    pub(in crate::session) fn number(&mut self, thread: usize) {
        self.start = match self.sets.rotation {
            EventSetRotation::PerExecution => 0,
            EventSetRotation::Staggered => thread as u64,
        };
    }

    /// Makes sure that the counters have the set of the phase's next outermost
    /// execution.
    pub(in crate::session) fn next(&mut self, phase: u32) -> Result<()> {
        let epoch = self.start.wrapping_add(*self.begun(phase));
        let set = (epoch % self.sets.len() as u64) as usize;
        if self.set != set || self.off.is_some() {
            self.switch(set)?;
        }
        *self.begun(phase) += 1;
        Ok(())
    }

    /// Makes sure that a set is on the counters.
    pub(in crate::session) fn put_on(&mut self, set: usize) -> Result<()> {
        if set >= self.sets.len() {
            return Err(no_such_set(set, self.sets.len()));
        }
        if self.set != set || self.off.is_some() { self.switch(set) } else { Ok(()) }
    }

    #[inline(always)]
    fn begun(&mut self, phase: u32) -> &mut u64 {
        match self.begun.get_mut(phase as usize) {
            Some(begun) => begun,
            None => begun_beyond(&mut self.begun_beyond, phase),
        }
    }

    /// The set which is on the counters.
    pub(in crate::session) fn set(&self) -> usize {
        self.set
    }

    pub(in crate::session) fn epoch(&self) -> Epoch {
        self.epoch
    }

    pub(in crate::session) fn meter(&mut self) -> &mut Meter {
        match &mut self.off {
            None => self.meters[self.set].as_mut().expect(ON),
            Some(off) => off,
        }
    }

    /// Reads the counters of the set which is on them, and the clock; answers the set.
    pub(in crate::session) fn sample(&mut self, sample: &mut Sample) -> Result<usize> {
        sample.epoch = self.epoch;
        self.meter().open(&mut sample.reading, &mut sample.ticks)?;
        Ok(self.set)
    }

    pub(in crate::session) fn caps(&self) -> Caps {
        self.off.as_ref().or(self.meters[self.set].as_ref()).expect(ON).caps()
    }

    /// Changes the set. Allocates nothing where sets can stand by.
    #[inline(never)]
    fn switch(&mut self, to: usize) -> Result<()> {
        if self.off.is_none() {
            match self.meter().stand_by() {
                Ok(true) => {}
                Ok(false) => self.turn_off(true),
                Err(error) => {
                    self.turn_off(true);
                    return Err(error);
                }
            }
        }
        let on = match &mut self.meters[to] {
            Some(meter) => meter.resume(),
            None => self.reopen(to),
        };
        if let Err(error) = on {
            if self.off.is_none() {
                self.turn_off(false);
            }
            return Err(error);
        }
        (self.set, self.off) = (to, None);
        self.epoch = Epoch { number: self.epoch.number + 1, live: self.sets.live(to) };
        Ok(())
    }

    /// Refuses readings from now on. With `drops` it also drops the set's counters, so that the
    /// next set finds the registers free.
    #[cold]
    fn turn_off(&mut self, drops: bool) {
        let off = Box::new(Off { caps: self.caps(), set: self.set });
        self.off = Some(Meter::new(off, self.clock));
        if drops {
            cancel::put_off_during(|| self.meters[self.set] = None);
        }
    }

    #[cold]
    fn reopen(&mut self, set: usize) -> Result<()> {
        let counters = cancel::put_off_during(|| self.sets.backend(set).open(self.target))?;
        self.meters[set] = Some(Meter::new(counters, self.clock));
        Ok(())
    }
}

#[cold]
pub(in crate::session) fn no_such_set(set: usize, sets: usize) -> Error {
    Error::new(
        ErrorKind::InvalidInput,
        format!(
            "cannot put event set {set} on the counters: the session has {sets}; ask it for its sets"
        ),
    )
}

/// Out of line: otherwise the search would be inlined into each begin.
#[inline(never)]
fn begun_beyond(begun: &mut HashMap<u32, u64>, phase: u32) -> &mut u64 {
    begun.entry(phase).or_default()
}

const ON: &str = "the set which is on the counters has counters, or a meter that refuses";

/// Takes the place of the counters while no set is on them.
struct Off {
    caps: Caps,
    set: usize,
}

impl Counters for Off {
    fn read(&self, _: &mut Reading) -> Result<()> {
        Err(Error::new(
            ErrorKind::NotScheduled,
            format!(
                "cannot read the counters: the switch from set {} to the next one failed; begin a \
                 phase to try again",
                self.set
            ),
        ))
    }

    fn caps(&self) -> Caps {
        self.caps.clone()
    }
}

/// Refuses readings by position, because positions change with the set.
pub(in crate::session) struct ByPlace {
    pub(in crate::session) caps: Caps,
}

impl Counters for ByPlace {
    fn read(&self, _: &mut Reading) -> Result<()> {
        Err(Error::new(
            ErrorKind::Unsupported,
            "cannot read all events of a session with rotating sets at once: its sets rotate on the \
             counters; take a sample, which knows which events it holds",
        ))
    }

    fn caps(&self) -> Caps {
        self.caps.clone()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use parking_lot::Mutex;

    use super::*;
    use crate::backend::{Backend, ReadPath};
    use crate::session::rotation::sets::Set;

    /// All calls on the counters of all sets, in order.
    #[derive(Default)]
    struct Machine {
        done: Mutex<Vec<String>>,
        /// Counters stand by; else they are dropped and opened again.
        stands_by: AtomicBool,
        refuses: AtomicBool,
    }

    impl Machine {
        fn note(&self, what: &str, set: usize) {
            self.done.lock().push(format!("{what} {set}"));
        }

        fn refusal(&self) -> Result<()> {
            if self.refuses.load(Ordering::Relaxed) {
                return Err(Error::new(ErrorKind::Conflict, "somebody took the counters"));
            }
            Ok(())
        }
    }

    struct Fake(Arc<Machine>, usize);

    impl Backend for Fake {
        fn open(&self, _: Target) -> Result<Box<dyn Counters>> {
            self.0.note("open", self.1);
            self.0.refusal()?;
            Ok(Box::new(Fake(Arc::clone(&self.0), self.1)))
        }
    }

    impl Counters for Fake {
        fn read(&self, into: &mut Reading) -> Result<()> {
            into.counts[0] = self.1 as u64;
            Ok(())
        }

        fn caps(&self) -> Caps {
            Caps { simulated: true, ..Caps::of(ReadPath::ReadCall) }
        }

        fn stand_by(&mut self) -> Result<bool> {
            self.0.note("stand by", self.1);
            Ok(self.0.stands_by.load(Ordering::Relaxed))
        }

        fn resume(&mut self) -> Result<()> {
            self.0.note("resume", self.1);
            self.0.refusal()
        }
    }

    fn set_scheduler(
        machine: &Arc<Machine>,
        rotation: EventSetRotation,
        sets: usize,
    ) -> SetScheduler {
        let set =
            |set: usize| Set { live: 1 << set, backend: Box::new(Fake(Arc::clone(machine), set)) };
        let sets = Sets { rotation, list: (0..sets).map(set).collect() };
        SetScheduler::open(&Arc::new(sets), Target::Caller, Clock::detect()).unwrap()
    }

    fn read(set_scheduler: &mut SetScheduler) -> Result<u64> {
        let mut reading = Reading::EMPTY;
        set_scheduler.meter().read(&mut reading)?;
        Ok(reading.counts[0])
    }

    /// The sets that a sequence of outermost phases counts.
    fn sets_of(set_scheduler: &mut SetScheduler, phases: &[u32]) -> Vec<usize> {
        let run = |phase: &u32| {
            set_scheduler.next(*phase).unwrap();
            assert_eq!(read(set_scheduler).unwrap(), set_scheduler.set() as u64);
            assert_eq!(set_scheduler.epoch().live, 1 << set_scheduler.set());
            set_scheduler.set()
        };
        phases.iter().map(run).collect()
    }

    #[test]
    fn every_phase_goes_through_all_sets_whatever_others_do() {
        for (rotation, starts) in
            [(EventSetRotation::PerExecution, [0, 0, 0]), (EventSetRotation::Staggered, [0, 1, 2])]
        {
            for (thread, start) in starts.into_iter().enumerate() {
                let mut set_scheduler = set_scheduler(&Arc::default(), rotation, 3);
                set_scheduler.number(thread);
                let phases = [7, 7, 0, 7, 0, 0, 7];
                let sets = sets_of(&mut set_scheduler, &phases);
                let expected = [0, 1, 0, 2, 1, 2, 3].map(|epoch| (epoch + start) % 3);
                assert_eq!(sets, expected, "{rotation:?} on thread {thread}");
            }
        }
    }

    #[test]
    fn counters_change_only_with_the_set() {
        let machine = Arc::<Machine>::default();
        machine.stands_by.store(true, Ordering::Relaxed);
        let mut kept = set_scheduler(&machine, EventSetRotation::PerExecution, 2);
        sets_of(&mut kept, &[0, 1, 0, 1]);
        let expected = ["open 1", "stand by 1", "open 0", "stand by 0", "resume 1"];
        assert_eq!(*machine.done.lock(), expected);
        assert_eq!(kept.epoch().number, 1, "two phases in step change it once");

        let machine = Arc::<Machine>::default();
        let mut reopened = set_scheduler(&machine, EventSetRotation::PerExecution, 2);
        sets_of(&mut reopened, &[0, 0]);
        assert_eq!(
            *machine.done.lock(),
            ["open 1", "stand by 1", "open 0", "stand by 0", "open 1"]
        );
    }

    #[test]
    fn a_chosen_set_stays_until_another_is_chosen() {
        let machine = Arc::<Machine>::default();
        machine.stands_by.store(true, Ordering::Relaxed);
        let mut set_scheduler = set_scheduler(&machine, EventSetRotation::PerExecution, 3);
        for set in [2, 2, 0, 1] {
            set_scheduler.put_on(set).unwrap();
            assert_eq!((set_scheduler.set(), read(&mut set_scheduler).unwrap()), (set, set as u64));
        }
        assert_eq!(set_scheduler.epoch().number, 3, "three changes");
        let refusal = set_scheduler.put_on(3).unwrap_err();
        assert_eq!(refusal.kind(), ErrorKind::InvalidInput);
        assert_eq!(read(&mut set_scheduler).unwrap(), 1, "the set before stays");
    }

    #[test]
    fn a_change_that_fails_is_tried_again() {
        for stands_by in [true, false] {
            let machine = Arc::<Machine>::default();
            machine.stands_by.store(stands_by, Ordering::Relaxed);
            let mut set_scheduler = set_scheduler(&machine, EventSetRotation::PerExecution, 2);
            set_scheduler.next(0).unwrap();
            machine.refuses.store(true, Ordering::Relaxed);
            assert_eq!(set_scheduler.next(0).unwrap_err().kind(), ErrorKind::Conflict);
            let off = read(&mut set_scheduler).unwrap_err();
            assert_eq!(off.kind(), ErrorKind::NotScheduled, "no count of a set that is off");
            assert!(set_scheduler.next(0).is_err());
            machine.refuses.store(false, Ordering::Relaxed);
            set_scheduler.next(0).unwrap();
            assert_eq!((set_scheduler.set(), read(&mut set_scheduler).unwrap()), (1, 1));
        }
    }
}
