//! Timings with a simulated clock, whose truth is known, and the program with the real ones.

#[path = "../section.rs"]
mod section;

use std::cell::Cell;
use std::process::Command;
use std::rc::Rc;

use proptest::prelude::*;

use pacman_core::{ErrorKind, Result};
use pacman_metrics::quality::{Flag, Reading};
use section::{FAR_ABOVE, FREQUENCY_CHANGED, Instrument, Plan, Timed, Verdicts, step, time};

/// A machine whose clock moves only when a call says so.
#[derive(Clone, Default)]
struct Machine(Rc<State>);

#[derive(Default)]
struct State {
    now: Cell<u64>,
    cpu: Cell<u32>,
    /// Switches and faults.
    kernel: Cell<(u64, u64)>,
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

    fn kernel(&mut self) -> Reading {
        self.pass(500);
        let (switches, faults) = self.0.kernel.get();
        let (switches, faults) = (Some(switches), Some(faults));
        Reading { tsc: self.0.now.get(), switches, faults, ..Reading::default() }
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
    fn time(&self, repetitions: usize, each: impl Fn(&Machine, usize)) -> Result<Timed> {
        let plan = Plan {
            nanos_per_tick: 0.5,
            repetitions,
            warm_up: 0,
            batch: BATCH as u64 * (100 + READING) + 7,
        };
        time(&mut self.clone(), &plan, || {
            let runs = self.0.runs.get();
            self.0.runs.set(runs + 1);
            match runs {
                0 => self.pass(100),
                run => each(self, run - 1),
            }
        })
    }
}

fn discarded(timed: &Timed) -> Vec<(&'static str, usize)> {
    timed.discarded.iter().map(|(reason, runs)| (*reason, *runs)).collect()
}

#[test]
fn the_cost_of_reading_is_taken_off() {
    let timed = Machine::default().time(50, |machine, _| machine.pass(100)).unwrap();
    assert_eq!((timed.overhead, timed.figures), (READING, [100; 5]));
    assert_eq!((timed.kept, timed.at_floor, timed.nanos(timed.figures[2])), (50, 0, 50.0));
    assert_eq!((discarded(&timed), timed.caveats(), timed.cpus), (vec![], vec![], [0].into()));
    assert_eq!(timed.paces, None);
}

#[test]
fn quartiles_are_runs_of_the_section() {
    // 1 to 100 ticks in another order: 37 and 101 have no common divisor.
    let timed = Machine::default()
        .time(100, |machine, run| machine.pass((run as u64 + 1) * 37 % 101))
        .unwrap();
    assert_eq!(timed.figures, [1, 25, 50, 75, 100]);
    assert_eq!(timed.kept, 100);
}

#[test]
fn nothing_takes_nothing_and_says_so() {
    let timed = Machine::default().time(20, |_, _| ()).unwrap();
    assert_eq!((timed.figures, timed.at_floor), ([0; 5], 20));
    assert_eq!(timed.caveats(), ["shorter than reading the clock"]);
}

#[test]
fn runs_far_above_the_others_go() {
    let slow = |machine: &Machine, run| machine.pass(if run % 25 == 3 { 9_000 } else { 100 });
    let timed = Machine::default().time(100, slow).unwrap();
    assert_eq!((discarded(&timed), timed.figures[4]), (vec![(FAR_ABOVE, 4)], 100));
    // An excess below the cost of the readings does not count as a disturbance.
    let uneven = |machine: &Machine, run| machine.pass(if run == 7 { 100 + READING } else { 100 });
    let timed = Machine::default().time(100, uneven).unwrap();
    assert_eq!((timed.kept, timed.figures[4]), (100, 100 + READING));
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
    assert_eq!((discarded(&timed), timed.kept), (vec![(Flag::Migrated.text(), 1)], 39));
    assert_eq!(
        (timed.cpus.clone(), timed.caveats()),
        ([2, 5].into(), vec!["the thread was not bound, and ran on several CPUs"])
    );
}

#[test]
fn what_the_kernel_did_costs_the_batch() {
    for (work, reason) in [((1, 0), Flag::Switched.text()), ((0, 1), Flag::Faulted.text())] {
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
    assert_eq!(discarded(&timed), [(FREQUENCY_CHANGED, BATCH)]);
    assert_eq!(timed.paces, Some((4_096, 5_120)));
    assert_eq!(timed.caveats(), ["the core's frequency changed between the runs"]);

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
            "every run was discarded (3: a total went back; 3: the thread moved to another CPU)"
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
    verdicts.kept.push((300, 0));
    let plan = Plan { nanos_per_tick: 1.0, repetitions: 1, warm_up: 0, batch: 1 };
    let timed = verdicts.finish(&plan, vec![67, 90, 67]).unwrap();
    assert_eq!((timed.overhead, timed.figures[2], timed.step), (67, 233, Some(23)));
    assert_eq!(timed.caveats(), Vec::<&str>::new());
    let shorter = Timed { figures: [229; 5], ..timed };
    assert_eq!(shorter.caveats(), ["the clock's steps are coarse against it"]);
}

/// On the real clocks more work takes longer, even on a busy machine.
#[test]
fn the_program_times_more_work_as_longer_on_every_clock() {
    let program = |arguments: &[&str]| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_short-sections"));
        program.env_remove("PACMAN_MACHINE").args(arguments).output().expect("the program starts")
    };
    let output = program(&["--repetitions", "2000"]);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let least = |what: &str| -> Vec<u64> {
        let lines = text.lines().filter_map(|line| line.strip_prefix(what));
        lines.map(|line| line.split_whitespace().next().unwrap().parse().unwrap()).collect()
    };
    let (short, long) = (least("1000 multiplications"), least("10000 multiplications"));
    assert!(!short.is_empty() && short.len() == long.len(), "{text}");
    assert!(short.iter().zip(&long).all(|(short, long)| 2 * short < *long), "{text}");
    for arguments in [&["--repetitions", "0"][..], &["--repetitions", "10000001"], &["--what"]] {
        assert_eq!(program(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

proptest! {
    /// Each quartile is the least run that one, two or three quarters of the runs do not exceed.
    #[test]
    fn quartiles_are_those_of_counting(runs in prop::collection::vec(1_000u64..1_100, 1..40)) {
        let mut verdicts = Verdicts::with_capacity(runs.len());
        verdicts.kept.extend(runs.iter().map(|ticks| (*ticks, 0)));
        let plan = Plan { nanos_per_tick: 1.0, repetitions: 1, warm_up: 0, batch: 1 };
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
        prop_assert_eq!(timed.figures, [least, at(1), at(2), at(3), most]);
    }
}
