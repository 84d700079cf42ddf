//! Tests with misbehaving counters and clocks against a model that knows the truth.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use proptest::prelude::*;

use super::cells::{Execution, Row, Seen};
use super::rotation::Sets;
use super::rows::Rows;
use super::sample::Sample;
use super::thread::{Arrival, ThreadRecord};
use super::thread_recorder::ThreadRecorder;
use crate::backend::{Backend, Caps, Counters, ReadPath, Reading, Target};
use crate::clock::Clock;
use crate::event::Event;
use crate::plausible::Limits;
use pacman_events::{Error, ErrorKind, Result};

/// Columns of the machine: instructions, cycles, another event.
const EVENTS: [(&str, &str, bool); 3] =
    [("INSTRUCTIONS", "", true), ("CYCLES", "", true), ("CACHE_MISSES", "", true)];

/// The truth about one execution, and the misbehaviour of a counter or the clock in it.
#[derive(Clone, Debug)]
struct Run {
    ticks: u64,
    /// Cycles per tick and instructions per cycle, in hundredths.
    cycles: u64,
    instructions: u64,
    fault: Option<Fault>,
}

#[derive(Clone, Debug)]
enum Fault {
    /// A column jumps back, by more than it counted.
    Back(usize, u64),
    /// A column jumps ahead, by a counter's width or more.
    Ahead(usize, u64),
    /// A column stands still.
    Still(usize),
    /// The clock jumps back, by more than passed.
    Clock(u64),
}

fn run() -> impl Strategy<Value = Run> {
    let fault = prop_oneof![
        4 => Just(None),
        1 => (0usize..3, 1u64..1 << 45).prop_map(|(at, by)| Some(Fault::Back(at, by))),
        1 => (0usize..3, 1u64 << 52..1 << 60).prop_map(|(at, by)| Some(Fault::Ahead(at, by))),
        1 => (0usize..2).prop_map(|at| Some(Fault::Still(at))),
        1 => (1u64..1 << 40).prop_map(|by| Some(Fault::Clock(by))),
    ];
    // Longer than the edges that the limits allow for, so that a counter that stands still shows.
    (1u64 << 26..1 << 36, 30u64..300, 100u64..400, fault)
        .prop_map(|(ticks, cycles, instructions, fault)| Run { ticks, cycles, instructions, fault })
}

fn seen(rows: &Rows, phase: u32) -> Option<Row> {
    match rows.get(phase, || false) {
        Seen::Never => None,
        Seen::Whole(row) => Some(row),
        Seen::Cut => panic!("nobody died"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..Default::default() })]

    #[test]
    fn every_sum_is_of_right_executions_alone(runs in proptest::collection::vec((0u32..20, run()), 1..40)) {
        let rows = Rows::new(3, Limits::of(EVENTS.iter().copied(), 0, true));
        let Rows::Four(four) = &rows else { unreachable!("three events") };
        // The model: true sums of the executions in which nothing misbehaved.
        let mut right: BTreeMap<u32, (u64, u64, [u64; 3])> = BTreeMap::new();
        let mut wrong: BTreeMap<u32, u64> = BTreeMap::new();
        let (mut clock, mut shown) = (1u64 << 41, [1u64 << 62; 4]);
        for (phase, run) in &runs {
            let cycles = run.ticks / 100 * run.cycles;
            let truth = [cycles / 100 * run.instructions, cycles, cycles / 1000];
            let (begin, begun) = (shown, clock);
            clock += run.ticks;
            for (shown, true_count) in shown.iter_mut().zip(truth) {
                *shown = shown.wrapping_add(true_count);
            }
            match run.fault {
                None => {}
                Some(Fault::Back(at, by)) => shown[at] = begin[at].wrapping_sub(by),
                Some(Fault::Ahead(at, by)) => shown[at] = shown[at].wrapping_add(by),
                Some(Fault::Still(at)) => shown[at] = begin[at],
                Some(Fault::Clock(by)) => clock = begun.wrapping_sub(by),
            }
            four.add(*phase, Execution {
                ticks: begun..clock,
                begin: &begin,
                end: &shown,
                times: None,
                panicked: false,
            });
            // The next execution must not suffer from the clock error of this one.
            clock = begun + run.ticks;
            if run.fault.is_some() {
                *wrong.entry(*phase).or_default() += 1;
            } else {
                let (executions, time, sums) = right.entry(*phase).or_default();
                *executions += 1;
                *time += run.ticks;
                for (sum, count) in sums.iter_mut().zip(truth) {
                    *sum += count;
                }
            }
        }
        for phase in 0..20 {
            let (executions, time, sums) = right.get(&phase).copied().unwrap_or_default();
            let aside = wrong.get(&phase).copied().unwrap_or(0);
            let Some(row) = seen(&rows, phase) else {
                prop_assert_eq!(executions + aside, 0);
                continue;
            };
            prop_assert_eq!(row.executions, executions);
            prop_assert_eq!(row.set_aside.map_or(0, |(times, _)| times), aside);
            prop_assert_eq!(row.ticks.sum, time);
            for (stat, sum) in row.counts.iter().zip(sums) {
                prop_assert_eq!(stat.sum, sum);
                prop_assert!(stat.max <= stat.sum && stat.min <= stat.max);
            }
        }
    }
}

/// Counters that show given values.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<([u64; 3], bool)>>);

impl Backend for Told {
    fn open(&self, _: Target) -> Result<Box<dyn Counters>> {
        Ok(Box::new(self.clone()))
    }
}

impl Counters for Told {
    fn read(&self, into: &mut Reading) -> Result<()> {
        let told = self.0.lock();
        if told.1 {
            return Err(Error::new(ErrorKind::NotScheduled, "somebody took the counters"));
        }
        into.counts[..3].copy_from_slice(&told.0);
        Ok(())
    }

    fn caps(&self) -> Caps {
        // Marked as simulated, because this machine's clock has no relation to the given values.
        Caps { simulated: true, ..Caps::of(ReadPath::ReadCall) }
    }
}

/// Counters whose readings are interrupted by a signal handler.
#[derive(Clone, Default)]
struct Interrupted;

thread_local! {
    /// The act of the handler.
    static HANDLER: Cell<Option<&'static dyn Fn()>> = const { Cell::new(None) };
}

impl Backend for Interrupted {
    fn open(&self, _: Target) -> Result<Box<dyn Counters>> {
        Ok(Box::new(Interrupted))
    }
}

impl Counters for Interrupted {
    fn read(&self, into: &mut Reading) -> Result<()> {
        into.counts[0] += 1;
        // One signal, so that the handler's own readings are not interrupted.
        if let Some(handler) = HANDLER.take() {
            handler();
        }
        Ok(())
    }

    fn caps(&self) -> Caps {
        Caps { simulated: true, ..Caps::of(ReadPath::ReadCall) }
    }
}

/// The recorder of this thread, and its own record.
fn recorder(sets: &Arc<Sets>, events: &[Event]) -> (ThreadRecorder, ThreadRecord) {
    let clock = Clock::detect();
    let owner = ThreadRecorder::open(sets, Target::Caller, clock).expect("counters");
    let arrival = Arrival {
        number: 0,
        tid: 0,
        name: None,
        cpu: None,
        bound: false,
        caps: owner.caps(),
        since: clock.now(),
    };
    let record = ThreadRecord::new(arrival, events, sets, 0);
    (owner, record)
}

/// A handler's phase inside of a begin or an end is refused, and the call that it interrupted goes on; inside of
/// a reading it is counted. All of this without two exclusive references to one value.
#[test]
fn a_handler_begins_phases_except_inside_of_a_begin_or_an_end() {
    for set_count in [1, 2] {
        let sets = Arc::new(match set_count {
            1 => Sets::one(1, Box::new(Interrupted)),
            _ => Sets::of_one_each(vec![Box::new(Interrupted), Box::new(Interrupted)]),
        });
        let events: Vec<Event> = vec!["task-clock".parse().unwrap(); set_count];
        let both: &'static (ThreadRecorder, ThreadRecord) =
            Box::leak(Box::new(recorder(&sets, &events)));
        let (owner, record) = both;
        let kinds: &'static Cell<[Option<ErrorKind>; 2]> = Box::leak(Box::default());
        // SAFETY: the record was made for this owner; the same holds below.
        let handler: &'static dyn Fn() = Box::leak(Box::new(|| unsafe {
            let begun = owner.begin(7, record).map_err(|error| error.kind()).err();
            kinds.set([begun, owner.end(7, record, false).map_err(|error| error.kind()).err()]);
        }));
        let interrupted = |act: &dyn Fn() -> Result<()>| {
            HANDLER.set(Some(handler));
            act().unwrap();
            assert!(HANDLER.take().is_none(), "it was interrupted");
            kinds.get()
        };
        let refused = [Some(ErrorKind::Reentered); 2];
        // SAFETY: as above.
        unsafe {
            assert_eq!(interrupted(&|| owner.begin(3, record)), refused);
            assert_eq!(interrupted(&|| owner.end(3, record, false)), refused);
            let within = interrupted(&|| owner.sample(&mut Sample::EMPTY.clone(), &record.open));
            let rotates = set_count > 1;
            assert_eq!(within, if rotates { refused } else { [None; 2] });
            // A set that rotates is used by the reading, so that its phase has to wait for the next signal.
            owner.begin(7, record).unwrap();
            owner.end(7, record, false).unwrap();
        }
        let rows = record.set_stats().iter().filter_map(|stats| seen(&stats.rows, 7));
        let executions: u64 = rows.map(|row| row.executions).sum();
        assert_eq!(executions, if set_count == 1 { 2 } else { 1 });
    }
}

#[derive(Clone, Debug)]
enum Step {
    Begin(u32),
    /// Ends the innermost phase, by a panic or not.
    End(bool),
    EndOther(u32),
    Count(usize, u64),
    Back(usize, u64),
    /// The counters fail, or work again.
    Fail(bool),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0u32..5).prop_map(Step::Begin),
        6 => any::<bool>().prop_map(Step::End),
        1 => (0u32..5).prop_map(Step::EndOther),
        6 => (0usize..3, 0u64..1 << 30).prop_map(|(at, by)| Step::Count(at, by)),
        1 => (0usize..3, 1u64 << 40..1 << 41).prop_map(|(at, by)| Step::Back(at, by)),
        1 => any::<bool>().prop_map(Step::Fail),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..Default::default() })]

    #[test]
    fn nested_phases_are_as_a_list_of_readings_has_them(steps in proptest::collection::vec(step(), 1..120)) {
        let told = Told::default();
        told.0.lock().0 = [1 << 50; 3];
        let sets = Arc::new(Sets::one(3, Box::new(told.clone())));
        let events: Vec<Event> = ["task-clock", "page-faults", "context-switches"]
            .map(|name| name.parse().unwrap())
            .into();
        let (owner, record) = recorder(&sets, &events);
        // The model: the counts at the begin of each open phase, and the results of each phase's
        // executions.
        let mut open: Vec<(u32, [i128; 3])> = Vec::new();
        let mut rows: BTreeMap<u32, [i128; 7]> = BTreeMap::new();
        for step in steps {
            let (shown, fails) = {
                let told = told.0.lock();
                (told.0.map(i128::from), told.1)
            };
            match step {
                Step::Begin(phase) => {
                    // SAFETY: the record was made for this owner.
                    let begun = unsafe { owner.begin(phase, &record) };
                    prop_assert_eq!(begun.is_err(), fails);
                    if !fails {
                        open.push((phase, shown));
                    }
                }
                Step::End(panicked) => {
                    let Some((phase, begun)) = open.pop() else {
                        // SAFETY: as above.
                        let refused = unsafe { owner.end(0, &record, panicked) };
                        let refused = refused.map_err(|error| error.kind());
                        prop_assert_eq!(refused, Err(ErrorKind::PhaseOrder));
                        continue;
                    };
                    // SAFETY: as above.
                    let ended = unsafe { owner.end(phase, &record, panicked) };
                    prop_assert_eq!(ended.is_err(), fails);
                    let recursive = open.iter().any(|(outer, _)| *outer == phase);
                    let differences = [0, 1, 2].map(|at| shown[at] - begun[at]);
                    let row = rows.entry(phase).or_default();
                    match (fails, recursive) {
                        (true, _) => {}
                        (_, true) => row[4] += 1,
                        _ if differences.iter().any(|difference| *difference < 0) => row[6] += 1,
                        _ => {
                            differences.iter().enumerate().for_each(|(at, by)| row[at] += by);
                            row[3] += 1;
                            row[5] += i128::from(panicked);
                        }
                    }
                }
                Step::EndOther(phase) => {
                    if open.last().is_some_and(|(innermost, _)| *innermost == phase) {
                        continue;
                    }
                    // SAFETY: as above.
                    let refused = unsafe { owner.end(phase, &record, false) };
                    let refused = refused.map_err(|error| error.kind());
                    prop_assert_eq!(refused, Err(ErrorKind::PhaseOrder));
                }
                Step::Count(at, by) => told.0.lock().0[at] += by,
                Step::Back(at, by) => told.0.lock().0[at] -= by,
                Step::Fail(fails) => told.0.lock().1 = fails,
            }
            let mut expected: BTreeMap<u32, u64> = BTreeMap::new();
            open.iter().for_each(|(phase, _)| *expected.entry(*phase).or_default() += 1);
            if open.len() <= 16 {
                let found: BTreeMap<u32, u64> = record.open.phases().into_iter().collect();
                prop_assert_eq!(found, expected);
            }
        }
        for (phase, model) in rows {
            let found = seen(&record.set_stats()[0].rows, phase).map_or([0; 7], |row| {
                let sum = |at: usize| i128::from(row.counts[at].sum);
                let aside = row.set_aside.map_or(0, |(times, _)| times);
                [
                    sum(0),
                    sum(1),
                    sum(2),
                    row.executions.into(),
                    row.recursions.into(),
                    row.panics.into(),
                    aside.into(),
                ]
            });
            prop_assert_eq!(found, model, "phase {}", phase);
        }
    }
}
