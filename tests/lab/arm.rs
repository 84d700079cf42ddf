//! The Arm lab: Linux's PMU driver on a Neoverse N1 and on an Olympus, which has two threads a core.

use std::process::Command;
use std::sync::OnceLock;

use pacman_suite::{lab, skipped_part};

use super::boots::{self, LIMIT, Options, Said, guest};
use super::{arm_command, arm_suites, counted_at_once, omp, probes, slots, smt, validate};

/// The Arm processors of `lab/models.tsv`.
pub(crate) const MODELS: [&str; 2] = ["neoverse-n1", "olympus"];

pub(crate) const NEOVERSE_N1: Options = &["--model", "neoverse-n1"];
pub(crate) const OLYMPUS: Options = &["--model", "olympus"];
/// A kernel of Debian's with pages of 16 KiB, which is also a later one.
const LARGE_PAGES: Options = &["--model", "olympus", "--pages", "16"];
/// Cycles follow time, so that threads of a core overlap.
pub(crate) const TIMED_OLYMPUS: Options = &["--model", "olympus", "--time"];
/// Two contexts alone, which boots sooner.
pub(crate) const SMALL_OLYMPUS: Options =
    &["--model", "olympus", "--smp", "2,sockets=1,cores=1,threads=2"];

/// The most instructions of a session's own in a phase, as on x86.
const EDGE: i64 = 200;

/// The clock of Arm processors.
pub(crate) const TIMER: &str = "arch_sys_counter";

const PROBE: &str = "/t/arm";
const TIMED_PROBE: &str = "/t/arm by-time";
const DRIVER: &str = "dmesg | grep perfevents";
const TOPOLOGY: &str =
    "cd /sys/devices/system/cpu; cat smt/active cpu*/topology/thread_siblings_list";
const EVENTS: &str = "ls /sys/bus/event_source/devices/armv8_pmuv3/events";
/// The end of the first line about a mapping's pages.
const PAGE_SIZE: &str = "sed -n 's/^KernelPageSize: *//p' /proc/self/smaps | head -n 1";
const SIBLINGS: &str = "/t/lab-guest siblings";
const ALONE: &str = "/t/lab-guest alone";

/// A machine, which boots once for all its jobs.
struct Machine {
    options: Options,
    jobs: Vec<String>,
    said: OnceLock<Vec<Said>>,
}

fn machine(options: Options, jobs: &[&str], more: Vec<String>) -> Machine {
    let jobs = jobs.iter().map(|job| (*job).to_owned()).chain(more).collect();
    Machine { options, jobs, said: OnceLock::new() }
}

fn machines() -> &'static [Machine] {
    static MACHINES: OnceLock<Vec<Machine>> = OnceLock::new();
    MACHINES.get_or_init(|| {
        let suites = arm_suites::jobs;
        // First, as on x86: it wants every repeat exact.
        let validate = validate::line(validate::EVERYWHERE);
        let on_neoverse = [&*validate, DRIVER, TOPOLOGY, EVENTS, PROBE, SIBLINGS, ALONE];
        let on_olympus = [
            &*validate,
            PAGE_SIZE,
            DRIVER,
            TOPOLOGY,
            EVENTS,
            PROBE,
            SIBLINGS,
            ALONE,
            arm_command::DOCTOR,
            arm_command::STAT,
        ];
        let by_time =
            [TIMED_PROBE, ALONE, arm_command::SHARES, arm_command::RUN, arm_command::TURNS];
        vec![
            machine(NEOVERSE_N1, &on_neoverse, suites()),
            machine(OLYMPUS, &on_olympus, suites()),
            machine(LARGE_PAGES, &[PAGE_SIZE, SIBLINGS, ALONE], Vec::new()),
            machine(TIMED_OLYMPUS, &by_time, vec![smt::timetable()]),
            machine(
                SMALL_OLYMPUS,
                &[],
                vec![
                    guest("faults"),
                    guest("faulty-commands"),
                    omp::line(TIMER),
                    slots::line("arm"),
                    slots::stalls(),
                ],
            ),
        ]
    })
}

impl Machine {
    fn boot(&self) -> Vec<Said> {
        let jobs: Vec<&str> = self.jobs.iter().map(String::as_str).collect();
        boots::answers(&jobs, |script| {
            let mut programs = vec![probes::compiled_by(lab::ARM_GCC, "arm")];
            let wants = |program: &str| script.contains(&format!("/t/{program} "));
            programs.extend(wants("lab-guest").then(lab::arm_guest));
            if wants("pacman-pmu") {
                programs.extend(lab::arm_command_and_libraries());
            }
            let wants_program = |program: &&str| match *program {
                // The guest program starts it.
                "arm-teams" => script.contains("lab-guest faulty-commands"),
                program => wants(program),
            };
            let all = ["arm-regions", "arm-turns", "lab-regions", "lab-slots", "arm-teams"];
            for program in all.into_iter().filter(wants_program) {
                programs.push(arm_command::program(program));
            }
            let programs: Vec<_> = programs.iter().map(|program| program.as_path()).collect();
            lab::arm_shell(&[self.options, &LIMIT].concat(), script, &programs)
        })
    }
}

/// The output of a job that ended well; `None` where there is no Arm lab.
pub(crate) fn said(options: Options, job: &str) -> Option<&'static str> {
    let said = ended(options, job)?;
    assert_eq!(said.status, 0, "{job} on {options:?}:\n{}", said.text);
    Some(said.text.trim())
}

/// As [`said`], with any exit status.
pub(crate) fn ended(options: Options, job: &str) -> Option<&'static Said> {
    if !lab::arm_is_there() || options == LARGE_PAGES && !large_pages_are_there() {
        return None;
    }
    let machine = machines().iter().find(|machine| machine.options == options);
    let machine = machine.expect("a machine of the list");
    let number = machine.jobs.iter().position(|it| it == job).expect("a job of the machine");
    Some(&machine.said.get_or_init(|| machine.boot())[number])
}

fn large_pages_are_there() -> bool {
    let build = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab/build");
    let check =
        Command::new(build).args(["--arch", "aarch64", "--pages", "16", "--check"]).status();
    let there = check.is_ok_and(|status| status.success());
    if !there {
        skipped_part("pages of 16 KiB", "no kernel: lab/build --arch aarch64 --pages 16");
    }
    there
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

#[test]
fn pages_are_as_large_as_was_asked() {
    for (options, size) in [(OLYMPUS, "4 kB"), (LARGE_PAGES, "16 kB")] {
        let Some(text) = said(options, PAGE_SIZE) else { return };
        assert_eq!(text, size, "{options:?}");
    }
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

/// By `mrs`, of 64 bits on Olympus and of 32 on a Neoverse N1; both threads run at the same time. An instruction is 3
/// cycles, and PMCCNTR would show those of the sibling, too.
#[test]
fn sessions_count_each_thread_without_a_system_call() {
    let machines =
        [("olympus", OLYMPUS), ("neoverse-n1", NEOVERSE_N1), ("large pages", LARGE_PAGES)];
    for (cpu, options) in machines {
        let Some(text) = said(options, SIBLINGS) else { return };
        for context in ["reads 0 Rdpmc", "reads 1 Rdpmc"] {
            assert!(text.lines().any(|line| line == context), "{context} in:\n{text}");
        }
        counted_at_once(cpu, text, EDGE);
        for line in text.lines().filter(|line| line.starts_with("sample ")) {
            let words: Vec<&str> = line.split(' ').collect();
            let [counted, cycles] = [2, 6].map(|at| words[at].parse::<f64>().expect("a number"));
            assert!((2.99..3.01).contains(&(cycles / counted)), "{cpu}: {line}");
        }
    }
}

/// A tick of the kernel's may come between; a system call would be in every phase.
#[test]
fn a_phase_costs_no_system_call_and_an_idle_sibling_no_cycles() {
    for options in [OLYMPUS, NEOVERSE_N1, TIMED_OLYMPUS, LARGE_PAGES] {
        let Some(text) = said(options, ALONE) else { return };
        let numbers = |name: &str| -> Vec<f64> {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            let words = line.unwrap_or_else(|| panic!("{name} in:\n{text}")).split(' ');
            words.filter_map(|word| word.parse().ok()).collect()
        };
        assert!(text.contains("reads Rdpmc"), "{text}");
        let [quiet, phases] = numbers("quiet ")[..] else { panic!("{text}") };
        println!("lab {options:?}: no kernel instruction in {quiet} of {phases} phases");
        assert!(quiet >= 0.95 * phases, "{text}");
        let [known, counted, cycles] = numbers("known ")[..] else { panic!("{text}") };
        println!("lab {options:?}: {counted} instructions of {known}, {cycles} cycles");
        assert!((0.0..=EDGE as f64).contains(&(counted - known)), "{text}");
        assert!((2.9..3.1).contains(&(cycles / counted)), "{text}");
    }
}
