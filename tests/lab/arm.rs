//! The Arm lab: Linux's PMU driver on a Neoverse N1 and on an Olympus, which has two threads a core.

use std::sync::OnceLock;

use pacman_suite::lab;

use super::boots::{self, LIMIT, Options, Said};
use super::{counted_at_once, probes};

/// The Arm processors of `lab/models.tsv`.
pub(crate) const MODELS: [&str; 2] = ["neoverse-n1", "olympus"];

const NEOVERSE_N1: Options = &["--model", "neoverse-n1"];
const OLYMPUS: Options = &["--model", "olympus"];
/// Cycles follow time, so that threads of a core overlap.
const TIMED_OLYMPUS: Options = &["--model", "olympus", "--time"];

const PROBE: &str = "/t/arm";
const TIMED_PROBE: &str = "/t/arm by-time";
const DRIVER: &str = "dmesg | grep perfevents";
const TOPOLOGY: &str =
    "cd /sys/devices/system/cpu; cat smt/active cpu*/topology/thread_siblings_list";
const EVENTS: &str = "ls /sys/bus/event_source/devices/armv8_pmuv3/events";
const SIBLINGS: &str = "/t/lab-guest siblings";

static MACHINES: [Machine; 3] = [
    machine(NEOVERSE_N1, &[DRIVER, TOPOLOGY, EVENTS, PROBE]),
    machine(OLYMPUS, &[DRIVER, TOPOLOGY, EVENTS, PROBE, SIBLINGS]),
    machine(TIMED_OLYMPUS, &[TIMED_PROBE]),
];

/// A machine, which boots once for all its jobs.
struct Machine {
    options: Options,
    jobs: &'static [&'static str],
    said: OnceLock<Vec<Said>>,
}

const fn machine(options: Options, jobs: &'static [&'static str]) -> Machine {
    Machine { options, jobs, said: OnceLock::new() }
}

impl Machine {
    fn boot(&self) -> Vec<Said> {
        boots::answers(self.jobs, |script| {
            let mut programs = vec![probes::compiled_by(lab::ARM_GCC, "arm")];
            programs.extend(script.contains("/t/lab-guest ").then(lab::arm_guest));
            let programs: Vec<_> = programs.iter().map(|program| program.as_path()).collect();
            lab::arm_shell(&[self.options, &LIMIT].concat(), script, &programs)
        })
    }
}

/// What a job that ended well printed; `None` where there is no Arm lab.
fn said(options: Options, job: &str) -> Option<&'static str> {
    if !lab::arm_is_there() {
        return None;
    }
    let machine = MACHINES.iter().find(|machine| machine.options == options);
    let machine = machine.expect("a machine of the list");
    let number = machine.jobs.iter().position(|it| *it == job).expect("a job of the machine");
    let said = &machine.said.get_or_init(|| machine.boot())[number];
    assert_eq!(said.status, 0, "{job} on {options:?}:\n{}", said.text);
    Some(said.text.trim())
}

#[test]
fn the_driver_finds_six_counters_and_the_clock() {
    for options in [NEOVERSE_N1, OLYMPUS] {
        let Some(text) = said(options, DRIVER) else { return };
        assert!(text.contains("armv8_pmuv3 PMU driver, 7 counters available"), "{text}");
    }
}

#[test]
fn an_olympus_has_two_threads_a_core_and_a_neoverse_one() {
    let Some(text) = said(OLYMPUS, TOPOLOGY) else { return };
    assert_eq!(text.lines().collect::<Vec<_>>(), ["1", "0-1", "0-1", "2-3", "2-3"]);
    let Some(text) = said(NEOVERSE_N1, TOPOLOGY) else { return };
    assert_eq!(text.lines().collect::<Vec<_>>(), ["0", "0", "1"]);
}

/// An event that never happens would read as a count of zero.
#[test]
fn only_events_that_count_are_announced() {
    for options in [NEOVERSE_N1, OLYMPUS] {
        let Some(text) = said(options, EVENTS) else { return };
        assert_eq!(
            text.split_whitespace().collect::<Vec<_>>(),
            ["br_retired", "cpu_cycles", "inst_retired", "inst_spec"],
            "{options:?}"
        );
    }
}

#[test]
fn counts_by_calls_and_by_user_reads_are_exact() {
    let Some(text) = said(OLYMPUS, PROBE) else { return };
    assert!(text.contains("user reads of 64 bits: yes"), "{text}");
    let Some(text) = said(NEOVERSE_N1, PROBE) else { return };
    assert!(text.contains("user reads of 64 bits: Operation not supported"), "{text}");
}

#[test]
fn siblings_overlap_where_cycles_follow_time() {
    let Some(text) = said(TIMED_OLYMPUS, TIMED_PROBE) else { return };
    assert!(text.contains("beside a busy CPU"), "{text}");
}

/// A call of the kernel has a longer edge than a user read.
#[test]
fn sessions_count_each_sibling_of_an_olympus_core() {
    let Some(text) = said(OLYMPUS, SIBLINGS) else { return };
    let reads = text.lines().filter(|line| line.starts_with("reads "));
    let ways: Vec<&str> = reads.filter_map(|line| line.split(' ').nth(2)).collect();
    let edge = match ways.as_slice() {
        ["Rdpmc", "Rdpmc"] => 200,
        ["ReadCall", "ReadCall"] => 400,
        _ => panic!("two threads that read in one way:\n{text}"),
    };
    counted_at_once("olympus", text, edge);
}
