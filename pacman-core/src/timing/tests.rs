//! Tests of timings with a simulated clock, whose truth is known, and with the real one.

use std::cell::Cell;
use std::hint::black_box;
use std::rc::Rc;
use std::time::Duration;

use proptest::prelude::*;

use super::instrument::{Instrument, KernelWork};
use super::plan::Plan;
use super::run::run;
use super::timed::{Caveat, Discard, Discarded, Timed, Verdicts, step};
use super::{Timer, no_tsc};
use crate::clock::ClockSource;
use pacman_events::{ErrorKind, Result};

/// A machine whose clock moves only when a call says so.
#[derive(Clone, Default)]
struct Machine(Rc<State>);

#[derive(Default)]
struct State {
    now: Cell<u64>,
    cpu: Cell<u32>,
    kernel: Cell<KernelWork>,
    /// Ticks of a chain of additions; 0 if there is none.
    pace: Cell<u64>,
    /// Runs of the section, including the warm-up.
    runs: Cell<usize>,
}

/// Ticks that the readings of an empty section take.
const READING: u64 = 20;

/// Runs of 100 ticks to a batch of the plan.
const BATCH: usize = 8;

impl Instrument for Machine {
    fn cpu(&mut self) -> u32 {
        self.0.cpu.get()
    }

    fn begin(&mut self) -> u64 {
        self.pass(3);
        self.0.now.get()
    }

    fn end(&mut self) -> (u64, u32) {
        self.pass(READING);
        (self.0.now.get(), self.0.cpu.get())
    }

    fn kernel(&mut self) -> KernelWork {
        self.pass(500);
        self.0.kernel.get()
    }

    fn pace(&mut self) -> Option<u64> {
        self.pass(self.0.pace.get());
        Some(self.0.pace.get()).filter(|ticks| *ticks > 0)
    }
}

impl Machine {
    fn pass(&self, ticks: u64) {
        self.0.now.set(self.0.now.get() + ticks);
    }

    /// Times a section. `each` acts in each run, numbered from 0 after one run of warm-up.
    fn time(&self, repetitions: u32, each: impl Fn(&Machine, usize)) -> Result<Timed> {
        let plan = Plan {
            source: ClockSource::Tsc,
            nanos_per_tick: 0.5,
            repetitions,
            warm_up: 0,
            batch: BATCH as u64 * (100 + READING) + 7,
        };
        run(&mut self.clone(), &plan, || {
            let runs = self.0.runs.get();
            self.0.runs.set(runs + 1);
            match runs {
                0 => self.pass(100),
                run => each(self, run - 1),
            }
        })
    }
}

fn figures(timed: &Timed) -> [u64; 5] {
    let Timed { minimum, lower_quartile, median, upper_quartile, maximum, .. } = *timed;
    [minimum, lower_quartile, median, upper_quartile, maximum]
}

fn discarded(timed: &Timed) -> Vec<(Discard, usize)> {
    timed.discarded.iter().map(|Discarded { reason, runs }| (*reason, *runs)).collect()
}

#[test]
fn the_cost_of_reading_is_taken_off() {
    let timed = Machine::default().time(50, |machine, _| machine.pass(100)).unwrap();
    assert_eq!((timed.overhead, figures(&timed)), (READING, [100; 5]));
    assert_eq!((timed.kept, timed.at_floor, timed.nanos(timed.median)), (50, 0, 50.0));
    assert_eq!((discarded(&timed), timed.caveats(), timed.cpus), (vec![], vec![], vec![0]));
    assert_eq!(timed.pace, None);
}

#[test]
fn quartiles_are_runs_of_the_section() {
    // 1 to 100 ticks in another order: 37 and 101 have no common divisor.
    let timed = Machine::default()
        .time(100, |machine, run| machine.pass((run as u64 + 1) * 37 % 101))
        .unwrap();
    assert_eq!(figures(&timed), [1, 25, 50, 75, 100]);
    assert_eq!(timed.kept, 100);
}

#[test]
fn nothing_takes_nothing_and_says_so() {
    let timed = Machine::default().time(20, |_, _| ()).unwrap();
    assert_eq!((figures(&timed), timed.at_floor), ([0; 5], 20));
    assert_eq!(timed.caveats(), [Caveat::BelowOverhead]);
}

#[test]
fn runs_far_above_the_others_go() {
    let slow = |machine: &Machine, run| machine.pass(if run % 25 == 3 { 9_000 } else { 100 });
    let timed = Machine::default().time(100, slow).unwrap();
    assert_eq!((discarded(&timed), timed.maximum), (vec![(Discard::FarAbove, 4)], 100));
    // An excess below the cost of the readings does not count as a disturbance.
    let uneven = |machine: &Machine, run| machine.pass(if run == 7 { 100 + READING } else { 100 });
    let timed = Machine::default().time(100, uneven).unwrap();
    assert_eq!((timed.kept, timed.maximum), (100, 100 + READING));
}

#[test]
fn a_migration_costs_its_run_only() {
    let moves = |machine: &Machine, run| {
        machine.pass(100);
        machine.0.cpu.set(if run < 30 { 2 } else { 5 });
    };
    let machine = Machine::default();
    machine.0.cpu.set(2);
    let timed = machine.time(40, moves).unwrap();
    assert_eq!((discarded(&timed), timed.kept), (vec![(Discard::Migrated, 1)], 39));
    assert_eq!((timed.cpus.clone(), timed.caveats()), (vec![2, 5], vec![Caveat::SeveralCpus]));
    assert_eq!(timed.discarded[0].to_string(), "1 run: the thread moved to another CPU");
}

#[test]
fn what_the_kernel_did_costs_the_batch() {
    for (work, reason) in [
        (KernelWork { switches: 1, faults: 0 }, Discard::Switched),
        (KernelWork { switches: 0, faults: 1 }, Discard::Faulted),
    ] {
        let disturbed = |machine: &Machine, run| {
            machine.pass(100);
            if run == 10 {
                machine.0.kernel.set(work);
            }
        };
        let timed = Machine::default().time(100, disturbed).unwrap();
        assert_eq!((discarded(&timed), timed.kept), (vec![(reason, BATCH)], 100 - BATCH));
    }
}

#[test]
fn a_change_of_frequency_costs_the_batch_and_is_said() {
    let machine = Machine::default();
    machine.0.pace.set(4_096);
    let throttled = |machine: &Machine, run| {
        machine.pass(100);
        if run == 10 {
            machine.0.pace.set(5_120);
        }
    };
    let timed = machine.time(40, throttled).unwrap();
    assert_eq!(discarded(&timed), [(Discard::FrequencyChanged, BATCH)]);
    let pace = timed.pace.unwrap();
    assert_eq!((pace.fastest, pace.slowest, pace.drift()), (1.0, 1.25, 0.25));
    assert_eq!(timed.caveats(), [Caveat::FrequencyDrifted]);

    // One percent is within the tolerance of the chain.
    let machine = Machine::default();
    machine.0.pace.set(4_096);
    let steady = |machine: &Machine, run: usize| {
        machine.pass(100);
        machine.0.pace.set(4_096 + run as u64);
    };
    let timed = machine.time(40, steady).unwrap();
    assert_eq!((timed.kept, timed.caveats()), (40, vec![]));
}

#[test]
fn a_timing_without_runs_is_refused_with_the_reasons() {
    let moves = |machine: &Machine, run: usize| {
        machine.pass(100);
        if run % 2 == 0 {
            machine.0.cpu.set(run as u32 + 1);
        } else {
            // Counters of two packages that do not agree.
            machine.0.now.set(machine.0.now.get() - 1_000);
        }
    };
    let error = Machine::default().time(6, moves).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotComputable);
    assert!(
        error.to_string().contains(
            "every run was discarded (3 runs: the thread moved to another CPU; 3 runs: the clock \
             went back)"
        ),
        "{error}"
    );
}

#[test]
fn steps_of_the_clock_show_in_empty_sections() {
    // Zen 3 at 2.25 GHz counts in steps of 10 ns: 22 or 23 ticks.
    assert_eq!(step(&[67, 67, 68, 90, 90, 91, 113, 203]), Some(22));
    // The same in nanoseconds, which the kernel computes and rounds.
    assert_eq!(step(&[39, 40, 41, 50, 51]), Some(9));
    assert_eq!(step(&[24, 24, 25, 26, 27, 28, 90]), Some(1));
    assert_eq!(step(&[24, 26, 28, 30, 32]), Some(2));
    assert_eq!((step(&[24, 24]), step(&[24, 25, 26]), step(&[])), (None, None, None));
    // A clock of microseconds; and one that an interrupt made seem coarse.
    let with = |count, last| [vec![10; 1_000 - count], vec![last; count]].concat();
    assert_eq!((step(&with(30, 1_010)), step(&with(2, 14_660))), (Some(1_000), None));
    let mut verdicts = Verdicts::with_capacity(1);
    verdicts.keep(300, 0);
    let plan = Plan {
        source: ClockSource::Tsc,
        nanos_per_tick: 1.0,
        repetitions: 1,
        warm_up: 0,
        batch: 1,
    };
    let timed = verdicts.finish(&plan, vec![67, 90, 67]).unwrap();
    assert_eq!((timed.overhead, timed.median, timed.step), (67, 233, Some(23)));
    assert_eq!(timed.caveats(), []);
    assert_eq!(Timed { median: 229, ..timed }.caveats(), [Caveat::CoarseClock]);
}

#[test]
fn senseless_timings_are_refused() {
    for repetitions in [0, 10_000_001, u32::MAX] {
        let error = Timer::detect().repetitions(repetitions).time(|| ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().contains(&format!("in {repetitions} repetitions")), "{error}");
    }
    let error = no_tsc("it is a sundial");
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(
        error.to_string(),
        "cannot time by the TSC: it is a sundial; Timer::detect takes the monotonic clock then"
    );
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_tsc_of_no_promised_rate_is_not_taken() {
    for (announced, kernel, taken) in
        [(true, false, true), (false, true, true), (false, false, false)]
    {
        assert_eq!(super::promised(announced, kernel).is_ok(), taken);
    }
    let chosen = Timer::with_source(ClockSource::Tsc).map(|timer| timer.source());
    let detected = Timer::detect().source() == ClockSource::Tsc;
    assert_eq!(chosen.is_ok_and(|source| source == ClockSource::Tsc), detected);
}

/// On the real clocks four times the work takes longer, even on a busy machine.
#[test]
fn more_work_takes_longer_on_every_clock() {
    let work = |rounds: u64| {
        move || {
            (0..black_box(rounds)).fold(1u64, |sum, round| black_box(sum).wrapping_mul(round | 3))
        }
    };
    for source in [ClockSource::Monotonic, Timer::detect().source()] {
        let timer = Timer::with_source(source)
            .unwrap()
            .repetitions(2_000)
            .warm_up(Duration::from_millis(1));
        let (short, long) = (timer.time(work(500)).unwrap(), timer.time(work(2_000)).unwrap());
        assert!(short.minimum < long.minimum, "{short:?} {long:?}");
        assert_eq!((short.source, long.source), (source, source));
        for timed in [short, long] {
            let left_out: usize = timed.discarded.iter().map(|discarded| discarded.runs).sum();
            assert_eq!(timed.kept + left_out, 2_000);
            assert!(figures(&timed).is_sorted(), "{timed:?}");
            assert_eq!(timed.pace.is_some(), source == ClockSource::Tsc);
        }
    }
}

/// As on a Pentium 4.
#[cfg(target_arch = "x86_64")]
#[test]
fn processors_without_rdtscp_are_timed_too() {
    let plan = Plan {
        source: ClockSource::Tsc,
        nanos_per_tick: 1.0,
        repetitions: 2_000,
        warm_up: 0,
        batch: 200_000,
    };
    let least = |rounds: u64| {
        let work = || (0..black_box(rounds)).fold(1u64, |sum, _| black_box(sum).wrapping_mul(3));
        run(&mut super::instrument::Rdtsc, &plan, work).unwrap().minimum
    };
    assert!(least(500) < least(2_000));
}

proptest! {
    /// Each quartile is the least run that one, two or three quarters of the runs do not exceed.
    #[test]
    fn quartiles_are_those_of_counting(runs in prop::collection::vec(1_000u64..1_100, 1..40)) {
        let mut verdicts = Verdicts::with_capacity(runs.len());
        runs.iter().for_each(|ticks| verdicts.keep(*ticks, 0));
        let plan = Plan {
            source: ClockSource::Tsc, nanos_per_tick: 1.0, repetitions: 0, warm_up: 0, batch: 1,
        };
        let timed = verdicts.finish(&plan, vec![1_000]).unwrap();
        // An overhead of 1000 ticks keeps every run within the fence.
        prop_assert_eq!(timed.kept, runs.len());
        let at = |quarter: usize| {
            let enough = |ticks: &u64| {
                4 * runs.iter().filter(|run| *run <= ticks).count() >= quarter * runs.len()
            };
            runs.iter().copied().filter(|ticks| enough(ticks)).min().unwrap() - 1_000
        };
        let most = runs.iter().max().unwrap() - 1_000;
        let least = runs.iter().min().unwrap() - 1_000;
        prop_assert_eq!(figures(&timed), [least, at(1), at(2), at(3), most]);
    }
}
