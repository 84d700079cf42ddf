//! `run` on a runtime that is like libgomp and reports to a tool of OMPT as well: `ompt/runtime.c`.
//!
//! The library sees the same regions and waits at the calls as the runtime reports. Each
//! counts once. A runtime that starts before the library gets no tool.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use pacman_suite::skipped;

use super::rows::{rows, waits};
use super::scratch::Scratch;
use super::{pacman_pmu, text};

const RUNTIME: &str = include_str!("ompt/runtime.c");
const PROGRAM: &str = include_str!("ompt/program.c");

/// Starts the program that another file has, so that its runtime is loaded later than the library.
const STARTER: &str = "
#include <dlfcn.h>
int main(void) {
    void *program = dlopen(PROGRAM, RTLD_NOW | RTLD_GLOBAL);
    return program ? ((int (*)(void))dlsym(program, \"main\"))() : 1;
}
";

/// Has each execution timed.
const EACH: &[&str] = &["--overhead", "100"];

/// Where the program's runtime is.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// In a library that starts with the program.
    Linked,
    /// In a library that is loaded later.
    Loaded,
    /// In the program itself, whose calls no library sees.
    Inside,
}

fn program(scratch: &Scratch, place: Place) -> Option<PathBuf> {
    let (runtime, program) =
        (scratch.file("runtime.c", RUNTIME), scratch.file("program.c", PROGRAM));
    let (library, object) = (scratch.path("libgomp.so.1"), scratch.path("program.o"));
    let made = scratch.path("program");
    let run = |arguments: &[&str], files: &[&Path]| {
        let done = Command::new("gcc").args(arguments).args(files).output();
        let done = done.map_err(|error| skipped(format_args!("gcc: {error}"))).ok()?;
        assert!(done.status.success(), "{}", text(&done.stderr));
        Some(())
    };
    run(&["-g", "-O1", "-fPIC", "-fopenmp", "-c", "-o"], &[&object, &program])?;
    if place == Place::Inside {
        run(&["-O1", "-rdynamic", "-pthread", "-o"], &[&made, &object, &runtime])?;
        return Some(made);
    }
    run(&["-O1", "-shared", "-fPIC", "-pthread", "-o"], &[&library, &runtime])?;
    let rpath = format!("-Wl,-rpath,{}", library.parent()?.display());
    if place == Place::Linked {
        run(&[&rpath, "-o"], &[&made, &object, &library])?;
    } else {
        let (shared, starter) = (scratch.path("program.so"), scratch.file("starter.c", STARTER));
        let name = format!("-DPROGRAM=\"{}\"", shared.display());
        run(&["-shared", &rpath, "-o"], &[&shared, &object, &library])?;
        run(&[&name, "-o"], &[&made, &starter])?;
    }
    Some(made)
}

/// Runs the program, and gives the process of its report. `told` is what the program says of the
/// runtime's tool.
fn observed(scratch: &Scratch, program: &Path, arguments: &[&str], told: &str) -> Value {
    let path = scratch.path("report.json");
    let mut command = pacman_pmu(&["run", "-o"]);
    let answer = command.arg(&path).args(arguments).arg("--").arg(program).output();
    let answer = answer.expect("it runs");
    assert_eq!(text(&answer.stdout), format!("15150 {told}\n"), "{}", text(&answer.stderr));
    assert_eq!(answer.status.code(), Some(3));
    let report = fs::read_to_string(&path).expect("a report");
    let mut report: Value = serde_json::from_str(&report).expect("JSON");
    report["processes"][0].take()
}

/// Each region with its line, its executions, its threads and their executions.
fn regions(process: &Value) -> Vec<(u64, u64, Vec<u64>)> {
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    let executions = |region: &Value| {
        let threads = rows(&region["threads"]);
        threads.iter().map(|thread| number(&thread["executions"])).collect()
    };
    let of = |region: &Value| {
        (number(&region["line"]), number(&region["executions"]), executions(region))
    };
    let mut regions: Vec<_> =
        process["regions"].as_array().expect("a list").iter().map(of).collect();
    regions.sort();
    regions
}

#[test]
fn a_runtime_with_calls_and_a_tool_interface_is_counted_once() {
    for (place, told) in [(Place::Linked, "told"), (Place::Loaded, "told")] {
        let scratch = Scratch::new();
        let Some(program) = program(&scratch, place) else { return };
        for arguments in [EACH, &["--overhead", "100", "--waits"], &["-e", "task-clock"]] {
            let process = observed(&scratch, &program, arguments, told);
            let expected = [(7, 50, vec![50; 3]), (13, 50, vec![50; 3])];
            assert_eq!(regions(&process), expected, "{arguments:?}: {process:#}");
            let notes = process["notes"].to_string();
            assert!(!notes.contains("OMPT"), "no region needed it: {notes}");
        }
        let process = observed(&scratch, &program, &["--overhead", "100", "--waits"], told);
        for line in [9, 11, 15] {
            // The thread that comes last may lose the processor to those that it wakes, and waits for nobody.
            let waits = waits_at(&process, line);
            assert!((75..=150).contains(&waits), "line {line}: {waits} of 150: {process:#}");
        }
    }
}

/// The waits at a line of the program, of all threads.
fn waits_at(process: &Value, line: u64) -> u64 {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let sites = list(&process["sites"]);
    let is_there = |wait: &&Value| {
        let site = wait["site"].as_u64().and_then(|site| sites.get(site as usize));
        site.is_some_and(|site| site["line"] == line)
    };
    let regions = list(&process["regions"]);
    let threads: Vec<Value> = regions.iter().flat_map(|region| rows(&region["threads"])).collect();
    let waits: Vec<Value> = threads.iter().flat_map(|it| waits(&it["states"])).collect();
    waits.iter().filter(is_there).filter_map(|wait| wait["count"].as_u64()).sum()
}

#[test]
fn the_same_runtime_inside_of_the_program_is_counted_by_its_reports() {
    let scratch = Scratch::new();
    let Some(program) = program(&scratch, Place::Inside) else { return };
    let process = observed(&scratch, &program, EACH, "told");
    let executions: Vec<u64> = regions(&process).into_iter().map(|region| region.1).collect();
    assert_eq!(executions, [50, 50], "{process:#}");
    let notes = process["notes"].to_string();
    assert!(notes.contains("OMPT"), "{notes}");
}
