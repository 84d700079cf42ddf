//! The counters of simulated machines against the timetable that their contexts follow.
//!
//! A scripted machine executes only requested work, so the truth is known to the nanosecond. Counts
//! differ from it only by their steps.

use pacman_core::Topology;
use pacman_metrics::smt::{Method, Recipe, Split};
use pacman_sim::{CoreActivity, Fault, Machine};

use super::{PLAIN, Picture, csv, json};
use crate::smt::counters::Counters;
use crate::smt::meter::{Activity, Meter};
use crate::smt::picture;
use crate::smt::source::Source;
use crate::smt::tsc::Tsc;
use crate::smt::{Chosen, MethodArg, choose};
use crate::tests::snapshot::snapshot;
use pacman_report::document;

/// A time that no period of the timetable and no step divides.
const TIME: u64 = 123_456_789;

fn machine(name: &str) -> (Machine, Topology) {
    let machine = Machine::scripted(name).unwrap();
    let topology = machine.topology();
    (machine, topology)
}

/// The cores' activity in `nanoseconds` by their counters, and in truth.
fn measured(
    machine: &Machine,
    topology: &Topology,
    counters: &mut Counters,
    nanoseconds: u64,
) -> (Activity, Vec<CoreActivity>) {
    let of_all = || (0..topology.cores().len()).map(|core| machine.core_activity(core));
    let before: Vec<CoreActivity> = of_all().collect();
    let mut meter = Meter::begin(topology, counters.read().unwrap());
    machine.advance(nanoseconds);
    let activity = meter.next(counters.read().unwrap());
    let since = |(now, then): (CoreActivity, &CoreActivity)| {
        let alone = now.alone.iter().zip(&then.alone).map(|(now, then)| now - then);
        let mut truth = now.clone();
        truth.alone = alone.collect();
        truth.total -= then.total;
        truth.together -= then.together;
        truth.neither -= then.neither;
        truth
    };
    (activity, of_all().zip(&before).map(since).collect())
}

/// The truth in TSC ticks lies within the bounds, which are not wider than stated. For two contexts
/// every state is the truth, except for steps.
fn check(name: &str, split: &Split, truth: &CoreActivity) {
    let ticks = |time: u64| time as f64 * split.elapsed / truth.total as f64;
    let mut states = vec![
        (split.idle, split.idle_bounds, truth.neither),
        (split.shared, split.shared_bounds, truth.together),
    ];
    for ((only, bounds), truth) in split.only.iter().zip(&split.only_bounds).zip(&truth.alone) {
        states.push((*only, *bounds, *truth));
    }
    for (shown, bounds, truth) in states {
        let truth = ticks(truth);
        let within = bounds.low - split.uncertainty..=bounds.high + split.uncertainty;
        assert!(within.contains(&truth), "{name}: {truth} not in {bounds:?}");
        if split.only.len() == 2 {
            assert!((shown - truth).abs() <= split.uncertainty, "{name}: {shown} for {truth}");
        }
    }
    assert_eq!(split.is_decided(), split.only.len() == 2, "{name}");
    assert!((split.idle - ticks(truth.neither)).abs() <= split.uncertainty, "{name}");
}

#[test]
fn the_split_is_the_timetable_on_every_machine_with_a_method() {
    for (name, method, steps) in [
        ("nehalem", Method::AnyThread, 20.0 + 1.0),
        ("haswell", Method::AnyThread, 34.0 + 34.0),
        ("skylake", Method::AnyThread, 142.0 + 142.0),
        ("icelake", Method::Distributed, 96.0 + 96.0),
        ("knl", Method::AnyThread, 14.0 + 1.0),
    ] {
        let (machine, topology) = machine(name);
        let mut counters = Counters::open(&topology, &(&machine).into()).unwrap();
        let basis = counters.basis();
        assert_eq!((basis.method, basis.simulated), (method, Some(name)));
        let (activity, truth) = measured(&machine, &topology, &mut counters, TIME);
        assert_eq!(activity.cores.len(), topology.cores().len(), "{:?}", activity.notes);
        for (core, truth) in activity.cores.iter().zip(&truth) {
            let split = &core.split;
            // Time stands still while a scripted machine is read, so steps are all.
            assert_eq!((split.skew, split.uncertainty), (0.0, steps * core.cpus.len() as f64));
            assert!((split.elapsed - TIME as f64 * machine.tsc_hz() as f64 / 1e9).abs() <= 1.0);
            check(name, split, truth);
            for (at, active) in core.active.iter().enumerate() {
                let least = truth.alone[at] as f64 / truth.total as f64;
                let most = least + truth.together as f64 / truth.total as f64;
                let near = split.share(split.uncertainty);
                assert!((least - near..=most + near).contains(active), "{name}: {active}");
            }
        }
        // The first core is in all four states.
        let first = &activity.cores[0].split;
        println!("{name}: {first:?}, truth {:?}", truth[0]);
        assert!(truth[0].neither > 0 && truth[0].together > 0 && truth[0].alone[0] > 0);
        assert!(first.idle > first.uncertainty && first.shared > first.uncertainty);
        if first.only.len() == 2 {
            assert!(first.only.iter().all(|only| *only > first.uncertainty), "{first:?}");
        }
    }
}

/// A look at a live machine leaves no trace on it, however busy it is meanwhile.
#[test]
fn a_live_machine_keeps_to_its_timetable() {
    let machine = Machine::live("haswell").unwrap();
    let topology = machine.topology();
    let mut counters = Counters::open(&topology, &(&machine).into()).unwrap();
    let mut read = || {
        let before = machine.core_activity(0);
        let counts = counters.read().unwrap();
        (before, counts, machine.core_activity(0))
    };
    let (first_before, first, first_after) = read();
    while machine.core_activity(0).total < first_after.total + 50_000_000 {
        // Brings the machine up to now.
        std::hint::black_box(machine.tsc());
    }
    let (second_before, second, second_after) = read();
    let mut meter = Meter::begin(&topology, first);
    let activity = meter.next(second);
    let split = &activity.cores[0].split;
    let mhz = machine.tsc_hz() as f64 / 1e6;
    for (state, shown) in [
        (&(|it: &CoreActivity| it.alone[0]) as &dyn Fn(&CoreActivity) -> u64, split.only[0]),
        (&|it| it.alone[1], split.only[1]),
        (&|it| it.together, split.shared),
        (&|it| it.neither, split.idle),
    ] {
        let least = (state(&second_before) - state(&first_after)) as f64 * mhz / 1e3;
        let most = (state(&second_after) - state(&first_before)) as f64 * mhz / 1e3;
        let (least, most) = (least - split.uncertainty, most + split.uncertainty);
        assert!((least..=most).contains(&shown), "{shown} not in {least}..={most}");
    }
}

#[test]
fn the_count_of_one_active_context_agrees() {
    for name in ["haswell", "skylake", "icelake"] {
        let (machine, topology) = machine(name);
        let clocks = Tsc::of(&(&machine).into()).unwrap().clocks();
        let recipes = Recipe::all(machine.cpu(), clocks).unwrap();
        let second = recipes.into_iter().find(|it| it.method() == Method::OneThreadActive);
        let mut counters = Counters::by(&topology, &(&machine).into(), second.unwrap()).unwrap();
        assert_eq!(counters.basis().source, "CPU_CLK_UNHALTED.ONE_THREAD_ACTIVE");
        let (activity, truth) = measured(&machine, &topology, &mut counters, TIME);
        assert_eq!(activity.cores.len(), truth.len(), "{:?}", activity.notes);
        for (core, truth) in activity.cores.iter().zip(&truth) {
            check(name, &core.split, truth);
        }
    }
}

#[test]
fn intervals_add_up_to_the_whole() {
    let (machine, topology) = machine("haswell");
    let mut counters = Counters::open(&topology, &(&machine).into()).unwrap();
    let mut meter = Meter::begin(&topology, counters.read().unwrap());
    for _ in 0..7 {
        machine.advance(TIME / 7);
        meter.next(counters.read().unwrap());
    }
    let whole = meter.whole();
    let truth = machine.core_activity(0);
    check("haswell", &whole.cores[0].split, &truth);
    // Not seven times the steps of one interval.
    assert_eq!(whole.cores[0].split.uncertainty, 136.0);
}

#[test]
fn machines_without_a_method_say_why() {
    let mut lines = String::new();
    for (name, methods) in [
        ("p4", &[MethodArg::Auto, MethodArg::Counters][..]),
        ("zen4", &[MethodArg::Auto, MethodArg::Counters]),
        ("haswell", &[MethodArg::Idle]),
    ] {
        let (on, topology) = machine(name);
        for method in methods {
            let problem = choose(*method, &topology, &(&on).into()).err().unwrap();
            lines += &format!("{name}, {method:?}\n  {problem}\n");
        }
    }
    let (on, topology) = machine("haswell");
    let chosen = choose(MethodArg::Auto, &topology, &(&on).into()).unwrap();
    let Chosen::Counters(counters) = chosen else { panic!("idle times") };
    lines += &format!("haswell, Auto\n  {}\n", counters.basis().choice.unwrap());
    snapshot("smt-methods.txt", &lines);
}

/// A machine whose AnyThread count is refused has the other one; without privilege, none.
#[test]
fn what_the_kernel_refuses_is_gone_around_or_told() {
    let (machine, topology) = machine("haswell");
    machine.inject_fault(0, Fault::Errno(libc::EINVAL));
    let counters = Counters::open(&topology, &(&machine).into()).unwrap();
    assert!(machine.met_all_faults());
    assert_eq!(counters.basis().method, Method::OneThreadActive);

    let (machine, topology) = self::machine("haswell");
    machine.inject_fault(0, Fault::Errno(libc::EACCES));
    let problem = Counters::open(&topology, &(&machine).into()).err().unwrap().to_string();
    assert!(problem.starts_with("cannot open REF_CYCLES:uk for this thread: permission denied"));
}

#[test]
fn counters_that_another_tool_holds_are_told_before_anything_is_measured() {
    let (machine, topology) = machine("haswell");
    machine.inject_fault(0, Fault::Steal);
    let problem = Counters::open(&topology, &(&machine).into()).err().unwrap().to_string();
    assert!(problem.contains("another profiler holds the counters"), "{problem}");
}

#[test]
fn short_intervals_and_lost_contexts_are_told_core_by_core() {
    let (machine, topology) = machine("haswell");
    let mut counters = Counters::open(&topology, &(&machine).into()).unwrap();
    // Twice two steps of ten nanoseconds, for two contexts.
    let (activity, _) = measured(&machine, &topology, &mut counters, 70);
    assert!(activity.cores.is_empty());
    assert!(activity.notes[0].starts_with("core 0: the activity"), "{:?}", activity.notes);
    assert!(activity.notes[0].contains("is too short: steps of"), "{:?}", activity.notes);

    let mut meter = Meter::begin(&topology, counters.read().unwrap());
    machine.inject_fault(0, Fault::Unplug(3));
    machine.advance(TIME);
    let activity = meter.next(counters.read().unwrap());
    let counted: Vec<u32> = activity.cores.iter().map(|core| core.core).collect();
    assert_eq!(counted, [0, 2, 3], "{:?}", activity.notes);
    assert!(activity.notes[0].starts_with("core 1: "), "{:?}", activity.notes);
}

#[test]
fn reports_name_the_method_its_step_and_the_skew() {
    let (machine, topology) = machine("haswell");
    let mut counters = Counters::open(&topology, &(&machine).into())
        .unwrap()
        .because("counters were chosen".into());
    let (activity, _) = measured(&machine, &topology, &mut counters, 100_000_000);
    let basis = counters.basis();
    let shown = Picture::new(PLAIN).summary(&basis, &activity);
    let event = "CPU_CLK_THREAD_UNHALTED.REF_XCLK_ANY";
    let notes = picture::notes(&basis, &activity).join("\n");
    snapshot("smt-counters.txt", &format!("{shown}{notes}\n"));
    let rows = csv::rows(&basis, &activity, 2);
    let first = rows.lines().next().unwrap();
    assert!(first.contains(",0,0 1,0.2000,0.3000,0.2000,0.3000,0.0000,0.000000000,"), "{first}");
    assert!(first.ends_with(",0.000000010,AnyThread reference cycles"), "{first}");
    let value = document::value(&json::summary(&basis, &activity, &[], None));
    assert_eq!(value["source"], event);
    assert_eq!(value["simulated"], "haswell");
    assert_eq!(value["choice"], "counters were chosen");
    assert_eq!(value["step_s"], 1e-8);
    assert_eq!(value["cores"][0]["only"], serde_json::json!([0.3, 0.2]));
    assert_eq!(value["cores"][0]["skew_s"], 0.0);
}
