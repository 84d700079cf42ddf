//! `run --waits` on programs that time their own waits.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use pacman_suite::skipped;
use serde_json::Value;

use super::rows::{rows, waits};
use super::scratch::Scratch;
use super::trials::{Differences, LOST, each_is_right_once};
use super::{alone, pacman_pmu, text};

const SOURCE: &str = include_str!("known.c");
const TAIL: &str = include_str!("tail.c");
const FORTRAN: &str = include_str!("known.f90");

/// A region's name and a thread: the seconds that it waited inside of the region, and those outside
/// of its body and tasks.
type Times = BTreeMap<(String, u64), [f64; 2]>;
/// A figure: a region's name, a thread and a state. State 0 is inside, 1 outside.
type Key = (String, u64, usize);

/// A run: what the program printed, and the report on it.
struct Run {
    known: Times,
    seen: Times,
    /// Seconds of the regions, by the program's own clock.
    regions: f64,
    /// Seconds for which the threads of a region were ready and had no processor.
    lost: BTreeMap<String, f64>,
    process: Value,
}

fn run(program: &Path, scratch: &Scratch) -> Run {
    let path = scratch.path("report.json");
    let mut command = pacman_pmu(&["run", "--waits", "-o"]);
    let answer = command.arg(&path).arg("--").arg(program).output().expect("it runs");
    assert!(answer.status.success(), "{}", text(&answer.stderr));
    let (mut known, mut regions, mut lost) = (Times::new(), 0.0, BTreeMap::new());
    for line in text(&answer.stdout).lines() {
        let mut words = line.split_whitespace();
        let mut next = || words.next().expect("a word");
        let name = next().to_owned();
        let thread: u64 = next().parse().expect("a thread");
        let [inside, outside, whole, without] =
            [(); 4].map(|()| next().parse::<f64>().expect("seconds"));
        lost.insert(name.clone(), without);
        known.insert((name, thread), [inside, outside]);
        regions += if thread == 0 { whole } else { 0.0 };
    }
    let report = fs::read_to_string(&path).expect("a report");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let process = report["processes"][0].clone();
    let mut seen = Times::new();
    for region in process["regions"].as_array().expect("a list") {
        let name = region["name"].as_str().expect("a name");
        let name = name.split([',', ' ']).next().expect("a word").to_lowercase();
        for thread in &rows(&region["threads"]) {
            let states = &thread["states"];
            let seconds = |state: &Value| state.as_f64().expect("seconds");
            let waits = waits(states);
            let inside = waits.iter().map(|wait| seconds(&wait["time_s"])).sum();
            let outside = seconds(&states["starting_s"]) + seconds(&states["end_s"]);
            let number = thread["thread"].as_u64().expect("a number");
            seen.insert((name.clone(), number), [inside, outside]);
        }
    }
    Run { known, seen, regions, lost, process }
}

/// The first wait at a construct takes some hundred microseconds of bookkeeping outside of the wait,
/// and so does the first execution of a region.
const FIRST_USE: f64 = 1.5e-3;

/// Half a point. Without optimisation the library's own time around waits takes as much again.
const TREE_ERROR: f64 = if cfg!(debug_assertions) { 0.01 } else { 0.005 };

/// The figures of `run` in `states` that differ from what is known by more than 2 %, and the efficiency tree.
fn differences(run: &Run, states: &[usize]) -> Differences<Key> {
    let mut all = Differences::new();
    for ((name, thread), known) in &run.known {
        let seen = run.seen.get(&(name.clone(), *thread));
        for &state in states {
            let seen = seen.map_or(f64::INFINITY, |seen| seen[state]);
            let (key, known) = ((name.clone(), *thread, state), known[state]);
            all.compare(key, seen, known, 0.02 * known + FIRST_USE, run.lost[name]);
        }
    }
    // The Fortran program does not time what is outside of its regions' bodies.
    if states.contains(&1) {
        let tree = ("efficiency tree".to_owned(), 0, 0);
        let [seen, known] = efficiencies(run);
        let lost: f64 = run.lost.values().sum();
        all.compare(tree, seen, known, TREE_ERROR, lost / (2.0 * seconds(run)));
    }
    all
}

fn seconds(run: &Run) -> f64 {
    run.process["time_s"].as_f64().expect("seconds")
}

/// The parallel efficiency of a run in its report, and as its program measured it.
fn efficiencies(run: &Run) -> [f64; 2] {
    let of = |name: &str| run.process["efficiency"][name].as_f64().expect("a part");
    let product = of("serialization") * of("load_balance") * of("scheduling");
    assert!((product - of("parallel")).abs() < 1e-9, "{:#}", run.process["efficiency"]);
    let idle: f64 = run.known.values().flatten().sum();
    let lost = idle + seconds(run) - run.regions;
    [of("parallel"), 1.0 - lost / (2.0 * seconds(run))]
}

/// Compares runs of a compiler's program with what it measures, and gives the report of the last one.
fn compare(compiler: &str, program: &Path, scratch: &Scratch, states: &[usize]) -> Value {
    let mut last = Value::Null;
    each_is_right_once(compiler, 8, || {
        let run = run(program, scratch);
        let differences = differences(&run, states);
        last = run.process;
        differences
    });
    last
}

/// The first and the last line of a function of the source.
fn lines(function: &str) -> (u64, u64) {
    let head = format!("static void {function}_body(");
    let from = SOURCE.lines().position(|line| line.starts_with(&head)).expect("it is there");
    let rest = SOURCE.lines().skip(from);
    let length = rest.take_while(|line| !line.starts_with('}')).count();
    (from as u64 + 1, (from + length) as u64 + 1)
}

/// The causes by which a compiler's program waits in each function.
const CAUSES: [(&str, &[&str], &[&str]); 11] = [
    ("triangle", &["barrier"], &["loop"]),
    ("dynamic", &["chunks", "loop"], &["chunks", "loop"]),
    ("single", &["barrier"], &["single"]),
    ("sections", &["sections"], &["sections"]),
    ("critical", &["critical"], &["critical"]),
    ("locked", &["lock"], &["lock"]),
    ("barrier", &["barrier"], &["barrier"]),
    ("ordered", &["chunks", "loop", "ordered"], &["chunks", "loop", "ordered"]),
    ("tasks", &["barrier"], &["barrier"]),
    ("taskwait", &["barrier", "taskwait"], &["barrier", "taskwait"]),
    ("taskloop", &["barrier", "taskgroup"], &["single", "taskgroup"]),
];

fn check_sites(process: &Value, compiler: &str) {
    for region in process["regions"].as_array().expect("a list") {
        let name = region["name"].as_str().expect("a name").split(',').next().expect("a word");
        let known = CAUSES.iter().find(|(function, ..)| *function == name);
        let Some((_, gcc, clang)) = known else { continue };
        let expected = if compiler == "gcc" { gcc } else { clang };
        let (first, last) = lines(name);
        let mut causes = Vec::new();
        for thread in &rows(&region["threads"]) {
            for wait in waits(&thread["states"]) {
                let site = &process["sites"][wait["site"].as_u64().expect("an index") as usize];
                causes.push(site["cause"].as_str().expect("a word").to_owned());
                let line = site["line"].as_u64().expect("a line");
                assert!((first..=last).contains(&line), "{name}: {site:#}");
            }
        }
        causes.sort();
        causes.dedup();
        assert_eq!(&causes, expected, "{name}, {compiler}");
    }
}

#[test]
fn each_state_is_what_the_program_measured_itself() {
    let _alone = alone();
    for compiler in ["gcc", "clang"] {
        let scratch = Scratch::new();
        let flags = ["-g", "-O1", "-fopenmp", LOST];
        let Some(program) = scratch.compile(compiler, &flags, SOURCE) else { continue };
        check_sites(&compare(compiler, &program, &scratch, &[0, 1]), compiler);
    }
}

/// With optimisation the last call of a body is a jump, whose return address is the library's.
#[test]
fn a_wait_that_ends_a_body_has_the_place_of_the_body() {
    let _alone = alone();
    for compiler in ["gcc", "clang"] {
        let scratch = Scratch::new();
        let flags = ["-g", "-O2", "-fopenmp"];
        let Some(program) = scratch.compile(compiler, &flags, TAIL) else { continue };
        let run = run(&program, &scratch);
        let sites = run.process["sites"].as_array().expect("a list");
        for (cause, region) in [("barrier", 0), ("taskwait", 1)] {
            let site = sites.iter().find(|site| site["cause"] == cause);
            let site = site.unwrap_or_else(|| panic!("{compiler}: no {cause} in {sites:#?}"));
            let heads = TAIL.lines().zip(1..).filter(|(line, _)| line.contains("omp parallel"));
            let head: u64 = heads.map(|(_, number)| number).nth(region).expect("it is there");
            let line = site["line"].as_u64().unwrap_or_else(|| panic!("{compiler}: {site:#}"));
            assert!((head..head + 9).contains(&line), "{compiler}: {site:#}");
        }
    }
}

#[test]
fn a_fortran_program_has_its_waits() {
    let _alone = alone();
    let scratch = Scratch::new();
    let source = scratch.file("known.f90", FORTRAN);
    let program = scratch.path("known");
    let made = Command::new("gfortran")
        .args(["-g", "-O1", "-fopenmp", "-o"])
        .args([&program, &source])
        .arg(LOST)
        .current_dir(source.parent().expect("a directory"))
        .status();
    if !made.is_ok_and(|status| status.success()) {
        return skipped("no gfortran");
    }
    let process = compare("gfortran", &program, &scratch, &[0]);
    let sites = process["sites"].as_array().expect("a list");
    let causes: Vec<&str> = sites.iter().filter_map(|site| site["cause"].as_str()).collect();
    assert!(causes.contains(&"critical") && causes.contains(&"barrier"), "{causes:?}");
    assert!(sites.iter().all(|site| site["line"].as_u64() > Some(0)), "{sites:#?}");
}

#[test]
fn without_the_option_there_are_no_states() {
    let _alone = alone();
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("gcc", &["-g", "-O1", "-fopenmp", LOST], SOURCE) else {
        return;
    };
    let path = scratch.path("report.json");
    let mut command = pacman_pmu(&["run", "-o"]);
    let answer = command.arg(&path).arg("--").arg(&program).output().expect("it runs");
    assert!(answer.status.success(), "{}", text(&answer.stderr));
    let report = fs::read_to_string(&path).expect("a report");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let process = &report["processes"][0];
    assert_eq!((&process["efficiency"], &process["sites"]), (&Value::Null, &Value::Array(vec![])));
    assert_eq!(rows(&process["regions"][0]["threads"])[0]["states"], Value::Null);
    let answer = pacman_pmu(&["run", "--waits", "--adapt", "--", "true"]).output();
    assert_eq!(answer.expect("it runs").status.code(), Some(2), "they exclude each other");
}
