//! The promises of sessions that x86's suites hold, held on Arm: presets, groups, siblings at once, rotation,
//! whole contexts, foreign code, and system calls that fail. The jobs and their judges are those of the other files.

use super::arm::{self, NEOVERSE_N1, OLYMPUS, SMALL_OLYMPUS, TIMER};
use super::boots::{self, Options};
use super::models::Model;
use super::omp::{self, RegionBound};
use super::{a_forked_child_is_told, guest, stat, turns};

/// Each with the events and the counters of `turns`.
const BOTH: [Options; 2] = [NEOVERSE_N1, OLYMPUS];

const EVENTS_AND_COUNTERS: [usize; 2] = [9, 6];

/// The jobs of both processors. The one that takes a CPU away is the last.
pub(crate) fn jobs() -> Vec<String> {
    let mut jobs: Vec<String> = ["model", "forked", "conflicts", "refused-registers"]
        .into_iter()
        .chain(["foreign closed", "foreign replaced"])
        .map(boots::guest)
        .collect();
    for how in ["per-execution", "staggered"] {
        jobs.push(boots::guest(&turns::job(how, "kernel")));
    }
    jobs.push(stat::line(stat::CONTEXTS));
    jobs.push(boots::guest("wide"));
    jobs
}

const NEVER: [&str; 3] = ["NON_HALTED_CLOCKTICKS", "NON_SLEEP_CLOCKTICKS", "REF_XCLK_ANY"];

static N1: Model = Model {
    options: NEOVERSE_N1,
    name: "neoverse-n1",
    refused: &[
        "FP_OPS",
        "MEM_STALL_CYCLES",
        NEVER[0],
        NEVER[1],
        "ONE_THREAD_ACTIVE",
        "REF_CYCLES",
        NEVER[2],
        "UOPS_RETIRED",
    ],
    silent: &[],
    by_itself: &["BRANCHES", "CYCLES", "INSTRUCTIONS", "UOPS_ISSUED"],
};

static VERA: Model = Model {
    options: OLYMPUS,
    name: "olympus",
    refused: &NEVER,
    silent: &[],
    by_itself: &["BRANCHES", "CYCLES", "INSTRUCTIONS", "ONE_THREAD_ACTIVE"],
};

#[test]
fn presets_and_groups_of_a_neoverse_n1() {
    N1.all();
}

#[test]
fn presets_and_groups_of_an_olympus() {
    VERA.all();
}

/// The counters of a context are its own: the plan gives each sibling all six, and so does the kernel, at the same time.
#[test]
fn each_sibling_has_all_counters() {
    if VERA.text().is_none() {
        return;
    }
    VERA.both_count("six-beside-six");
}

/// Nothing programs Arm's counters but the kernel, so that no partition is to be had.
#[test]
fn a_partition_by_registers_is_refused() {
    for options in BOTH {
        let Some(text) = guest(options, "refused-registers") else { return };
        let refused: Vec<_> = text.lines().collect();
        assert_eq!(refused.len(), 3, "{text}");
        for line in refused {
            assert!(line.len() > "refused ".len() + 20, "a reason: {text}");
        }
    }
}

/// Linux's driver leaves a disabled leader out when it checks that a group fits.
#[test]
fn one_event_too_many_is_refused_when_the_session_starts() {
    for options in BOTH {
        let Some(text) = guest(options, "conflicts") else { return };
        let lines: Vec<_> = text.lines().collect();
        let [too_many, taken] = lines[..] else { panic!("{text}") };
        assert!(
            too_many.starts_with("too-many Conflict: ") && too_many.contains("in 2 sets"),
            "{text}"
        );
        assert!(taken.starts_with("taken NotScheduled: "), "{text}");
    }
}

#[test]
fn a_forked_child_gets_an_error_and_does_not_fault() {
    BOTH.into_iter().for_each(a_forked_child_is_told);
}

#[test]
fn a_change_of_sets_stops_no_foreign_counter() {
    BOTH.into_iter().for_each(turns::no_foreign_counter_stops);
}

#[test]
fn sets_take_turns_and_are_spread_over_threads() {
    for options in BOTH {
        for how in ["per-execution", "staggered"] {
            turns::more_events_than_counters(options, how, "kernel", EVENTS_AND_COUNTERS);
        }
    }
}

#[test]
fn stat_sees_every_context() {
    stat::every_context_is_seen(NEOVERSE_N1, &[6_000_000, 0]);
    stat::every_context_is_seen(OLYMPUS, &[6_000_000, 16_000_000, 0, 0]);
}

#[test]
fn contexts_are_counted_until_they_are_gone() {
    for (options, contexts) in [(NEOVERSE_N1, 2), (OLYMPUS, 4)] {
        let Some(lines) = stat::contexts_until_they_are_gone(options, contexts) else { return };
        assert_eq!(lines, stat::CONTEXT_1_GOES);
    }
}

/// Two threads on siblings, each with 6 executions of known work: each of the 12 has counts that are right, or an error.
#[test]
fn a_failed_call_gives_the_truth_or_an_error() {
    let Some(text) = guest(SMALL_OLYMPUS, "faults") else { return };
    for name in ["fitting", "rotating"] {
        let [right, refused, opened, mapped, switched, read] = faults(text, name);
        assert!(right > refused && refused > 0, "{text}");
        assert!([opened, mapped, switched, read].iter().all(|calls| *calls > 0), "{text}");
    }
}

/// The program prints and ends as alone, and its counts are right, or a line says why there are none.
#[test]
fn a_failed_call_changes_no_observed_program() {
    let Some(text) = guest(SMALL_OLYMPUS, "faulty-commands") else { return };
    for name in ["stat", "run"] {
        let [right, refused, opened, .., read] = faults(text, name);
        assert!([right, refused, opened, read].iter().all(|number| *number > 0), "{text}");
    }
}

/// The numbers of a scenario in which nothing was wrong: what was right and what was refused, and the calls by kind.
fn faults(text: &str, name: &str) -> [usize; 6] {
    let wrong: Vec<&str> = text.lines().filter(|line| line.starts_with("wrong ")).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let prefix = format!("faults {name} ");
    let line = text.lines().find_map(|line| line.strip_prefix(&prefix));
    let numbers = line.unwrap_or_else(|| panic!("{name} in:\n{text}")).split(' ');
    let numbers: Vec<usize> = numbers.map(|word| word.parse().expect("a number")).collect();
    let [runs, right, refused, wrong, opened, mapped, switched, read] = numbers[..] else {
        panic!("{text}")
    };
    println!(
        "lab olympus, {name}: {runs} runs with faults at {opened} perf_event_open, {mapped} mmap, {switched} ioctl and \
         {read} read: {right} right, {refused} refused, {wrong} wrong"
    );
    assert_eq!(wrong, 0);
    [right, refused, opened, mapped, switched, read]
}

/// More than on x86: libgomp wakes and waits by the C library's `syscall`, which passes the library's entry, and not by an
/// instruction of its own.
#[test]
fn what_a_region_costs_each_thread() {
    let Some(text) = arm::said(SMALL_OLYMPUS, &omp::line(TIMER)) else { return };
    let bounds = [
        RegionBound { threads: 1, counted: 390.0, unasked: 225.0, around: 30 },
        RegionBound { threads: 2, counted: 440.0, unasked: 150.0, around: 95 },
    ];
    omp::each_region_costs_at_most(text, "olympus", &bounds);
}
