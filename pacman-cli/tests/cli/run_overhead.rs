//! `run --overhead`: the threads of short regions are timed now and then; executions and their time always.

use std::path::Path;

use pacman_suite::skipped;
use serde_json::Value;

use super::rows::{rows, waits};
use super::scratch::Scratch;
use super::{pacman_pmu, refused, text, told};

const SOURCE: &str = include_str!("overhead/tiny.c");

/// A run: the seconds that the program measured inside of its short region, and the process.
fn run(scratch: &Scratch, program: &Path, arguments: &[&str]) -> (f64, Value) {
    let path = scratch.path("report.json");
    let mut command = pacman_pmu(&[&["run"], arguments, &["-o"]].concat());
    let answer = command.arg(&path).arg("--").arg(program).env("OMP_NUM_THREADS", "1").output();
    let answer = answer.expect("it runs");
    assert!(answer.status.success(), "{}", text(&answer.stderr));
    let known = text(&answer.stdout).trim().parse().expect("seconds");
    let report = std::fs::read_to_string(&path).expect("a report");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    (known, report["processes"][0].clone())
}

fn region<'a>(process: &'a Value, name: &str) -> &'a Value {
    let regions = process["regions"].as_array().expect("a list");
    let is_it =
        |region: &&Value| region["name"].as_str().is_some_and(|whole| whole.starts_with(name));
    regions.iter().find(is_it).unwrap_or_else(|| panic!("no {name}: {process:#}"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value:#} is no number"))
}

#[test]
fn short_regions_are_counted_and_timed_exactly() {
    for compiler in ["gcc", "clang"] {
        let scratch = Scratch::new();
        let flags = ["-g", "-O1", "-fopenmp"];
        let Some(program) = scratch.compile(compiler, &flags, SOURCE) else { continue };
        // Another process may take the processor between the program's clock and the library's.
        let is_within = (0..4).any(|_| {
            let (known, process) = run(&scratch, &program, &[]);
            let (tiny, rare) = (region(&process, "tiny"), region(&process, "rare"));
            assert_eq!((&tiny["executions"], &rare["executions"]), (&100_000.into(), &20.into()));
            assert_eq!(tiny["teams"][0]["executions"], 100_000, "{tiny:#}");
            let timed = number(&tiny["sampling"]["timed"]);
            assert!((8.0..50_000.0).contains(&timed), "{tiny:#}");
            let time = number(&tiny["time_s"]);
            // The region's time includes the start of the team and the program's clock.
            let start = 2e-6 * 1e5 + 0.1 * known;
            eprintln!("{compiler}: {time} s of {known} s, {timed} timed");
            known <= time && time <= known + start
        });
        assert!(is_within, "{compiler}: four times are off by more than the start of the team");
    }
}

/// The numbers of waits do not depend on other processes, so that they show whether the sample is one.
#[test]
fn the_waits_of_a_sample_stand_for_those_of_all_executions() {
    for compiler in ["gcc", "clang"] {
        let scratch = Scratch::new();
        let flags = ["-g", "-O1", "-fopenmp"];
        let Some(program) = scratch.compile(compiler, &flags, SOURCE) else { continue };
        let (_, process) = run(&scratch, &program, &["--waits"]);
        let tiny = region(&process, "tiny");
        assert_eq!(tiny["executions"], 100_000, "{tiny:#}");
        let timed = number(&tiny["sampling"]["timed"]);
        let waits = waits(&rows(&tiny["threads"])[0]["states"]);
        let mut counts: Vec<f64> = waits.iter().map(|wait| number(&wait["count"])).collect();
        counts.sort_by(f64::total_cmp);
        // A small sample may have no execution with the rare lock.
        let (rarely, always) = match counts[..] {
            [always] => (0.0, always),
            [rarely, always] => (rarely, always),
            _ => panic!("two locks: {tiny:#}"),
        };
        // Each execution has one. If the thread loses its processor in the call, that is no wait.
        assert!((0.8e5..=1e5).contains(&always), "{always} waits: {tiny:#}");
        let part: f64 = 1.0 / 16.0;
        // Blocks differ in length, as the time of the latest executions does.
        let error = (2.0 * part * (1.0 - part) / timed).sqrt();
        let seen = rarely / 1e5;
        assert!((seen - part).abs() < 5.0 * error, "{compiler}: {seen}, ±{error}: {tiny:#}");
    }
}

/// The present cost of a reading of a thread's processor clock: a processor has faster and slower states.
fn reading() -> f64 {
    const READINGS: u32 = 500;
    let batch = |_| {
        let begun = std::time::Instant::now();
        for _ in 0..READINGS {
            let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            // SAFETY: filled by the call.
            unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut now) };
            std::hint::black_box(now.tv_nsec);
        }
        begun.elapsed().as_secs_f64() / f64::from(READINGS)
    };
    (0..200).map(batch).fold(f64::INFINITY, f64::min)
}

/// Each part of a thread reads the processor clock twice, by system calls of 0.35 to 0.7 µs in many virtual machines. Where
/// they take less, the calls of locks, which nothing optimises here, take as long: up to 1.2 µs under clang.
#[test]
fn the_time_of_a_short_region_has_no_readings_of_the_processor_clock() {
    const LEAST: f64 = 0.35e-6;
    let fast = reading();
    if fast < LEAST {
        skipped(format!("a reading of the clock takes {:.2} us: too little to show", 1e6 * fast));
        return;
    }
    for compiler in ["gcc", "clang"] {
        let scratch = Scratch::new();
        let flags = ["-g", "-O1", "-fopenmp"];
        let Some(program) = scratch.compile(compiler, &flags, SOURCE) else { continue };
        // Another thread may take the processor during a reading, which makes that execution longer. The
        // shortest has none of that.
        let shortest = |arguments: &[&str]| {
            let (_, process) = run(&scratch, &program, arguments);
            number(&region(&process, "tiny")["shortest_s"])
        };
        let all = ["--overhead", "100"];
        // The processor may be slower in one of the two runs.
        let is_within = (0..4).any(|_| {
            let more = shortest(&[&all[..], &["--waits"]].concat()) - shortest(&all);
            let reading = reading();
            eprintln!("{compiler}: {more} s more in an execution, a reading takes {reading}");
            // The two calls of locks take half of it where nothing is optimised; with the readings it is five
            // of them.
            more < 3.0 * reading
        });
        assert!(is_within, "{compiler}: four executions are longer");
    }
}

#[test]
fn every_execution_is_timed_on_request_and_where_figures_need_it() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("gcc", &["-O1", "-fopenmp"], SOURCE) else { return };
    for arguments in [&["--overhead", "100"][..], &["-e", "page-faults"]] {
        let (_, process) = run(&scratch, &program, arguments);
        let tiny = region(&process, "tiny");
        assert_eq!((&tiny["executions"], &tiny["sampling"]), (&100_000.into(), &Value::Null));
        assert_eq!(rows(&tiny["threads"])[0]["executions"], 100_000, "{arguments:?}");
    }
    let mut told = told("run: options that --overhead excludes");
    for arguments in [
        &["--overhead", "0"][..],
        &["--overhead", "2", "--adapt"],
        &["--overhead", "2", "--energy"],
        &["--overhead", "2", "-e", "CYCLES"],
        &["--overhead", "2", "--record", "data.csv"],
    ] {
        let answer = pacman_pmu(&["run"]).args(arguments).args(["--", "true"]).output();
        refused(&mut told, &answer.expect("it runs"), 2, &scratch);
    }
}

#[test]
fn a_report_marks_its_estimates() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("gcc", &["-O1", "-fopenmp"], SOURCE) else { return };
    for (form, marks) in [
        ("txt", &["±", " estimated figures of threads", " executions (--overhead)"][..]),
        ("html", &["\"sampling\":{\"timed\":"]),
        ("csv", &["timed_executions", "region_margin"]),
    ] {
        let path = scratch.path(&format!("report.{form}"));
        let mut command = pacman_pmu(&["run", "-o"]);
        command.arg(&path).arg("--").arg(&program).env("OMP_NUM_THREADS", "1");
        assert!(command.output().expect("it runs").status.success());
        let report = std::fs::read_to_string(&path).expect("a report");
        assert!(marks.iter().all(|mark| report.contains(mark)), "{form}: {report}");
    }
}
