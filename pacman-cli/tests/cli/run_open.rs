//! Regions that are open when their process ends.

use std::fs;

use pacman_suite::skipped;
use serde_json::Value;

use super::rows::rows;
use super::run_page::drawn;
use super::scratch::Scratch;
use super::{pacman_pmu, text};

/// Runs a region to its end. In its next execution thread 1 sleeps before each of four barriers, and thread 0 waits
/// for it. Then thread 0 ends the process.
const STEPS: &str = r#"
#include <omp.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void steps(int number, int ending)
{
    #pragma omp parallel num_threads(2)
    {
        for (int step = 0; step < number; step++) {
            if (omp_get_thread_num() == 1)
                usleep(40000);
            #pragma omp barrier
        }
        if (ending && omp_get_thread_num() == 0) {
            if (ending < 100)
                raise(ending);
            else if (ending == 100)
                exit(3);
            else
                _exit(4);
        }
        if (ending)
            for (;;)
                pause();
    }
}

int main(int count, char **arguments)
{
    steps(1, 0);
    steps(4, count > 1 ? atoi(arguments[1]) : 0);
    return 0;
}
"#;

fn seconds(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no seconds: {value}"))
}

#[test]
fn a_region_that_never_ends_is_reported_with_what_it_has_so_far() {
    for compiler in ["gcc", "clang"] {
        let scratch = Scratch::new();
        let Some(program) = scratch.compile(compiler, &["-g", "-O1", "-fopenmp", "-x", "c"], STEPS)
        else {
            skipped(format!("no {compiler} with OpenMP"));
            continue;
        };
        // SIGINT, SIGKILL, SIGTERM, `exit` and `_exit`.
        for (ending, waits) in
            [("2", true), ("9", true), ("15", true), ("100", true), ("101", true), ("9", false)]
        {
            let path = scratch.path("report.json");
            let mut command = pacman_pmu(&["run", "-o"]);
            command.arg(&path).args(waits.then_some("--waits")).arg("--").arg(&program);
            let answer = command.arg(ending).output().expect("it runs");
            let said = format!("{compiler}, {ending}: {}", text(&answer.stderr));
            let report: Value =
                serde_json::from_str(&fs::read_to_string(&path).expect("a report")).expect("JSON");
            let process = &report["processes"][0];
            let region = &process["regions"][0];
            assert_eq!(region["executions"], 1, "{said}: one has ended");
            let open = &region["open"];
            let life = seconds(&process["time_s"]);
            let so_far = seconds(&open["time_s"]);
            assert!(so_far > 0.15, "{said}: {region}");
            let both = seconds(&region["time_s"]) + so_far;
            assert!(both < 1.001 * life, "{said}: {both} s of {life}: {region}");
            let threads = rows(&open["open_threads"]);
            assert_eq!(threads.len(), 2, "{said}: {open}");
            let barrier = &threads[0]["open_waits"]["0"];
            if waits {
                let waited = seconds(&barrier["time_s"]);
                assert_eq!(barrier["count"], 4, "{said}: {open}");
                assert!((0.1..so_far).contains(&waited), "{said}: {open}");
            } else {
                assert_eq!(*barrier, Value::Null, "{said}");
            }
            let notes = process["notes"].to_string();
            assert!(notes.contains("an execution was open when the process ended"), "{notes}");
        }
    }
}

#[test]
fn each_form_marks_an_open_region() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("gcc", &["-g", "-O1", "-fopenmp", "-x", "c"], STEPS) else {
        return;
    };
    let reported = |form: &str| {
        let path = scratch.path(&format!("report.{form}"));
        let mut command = pacman_pmu(&["run", "-o"]);
        command.arg(&path).arg("--").arg(&program).arg("9").output().expect("it runs");
        fs::read_to_string(&path).expect("a report")
    };
    assert!(reported("txt").contains("  open at the end\n"));
    if let Some(said) = drawn(&reported("html")) {
        assert!(said.contains("open at the end"), "{said}");
    }
    let table = reported("csv");
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let heading = reader.headers().expect("a heading").clone();
    let at = heading.iter().position(|name| name == "open_s").expect("a column");
    for row in reader.records() {
        let open: f64 = row.expect("a row")[at].parse().expect("seconds");
        assert!(open > 0.1, "{table}");
    }
}

#[test]
fn a_region_that_has_ended_is_not_open() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("gcc", &["-g", "-O1", "-fopenmp", "-x", "c"], STEPS) else {
        return;
    };
    let path = scratch.path("report.json");
    let mut command = pacman_pmu(&["run", "--waits", "-o"]);
    let answer = command.arg(&path).arg("--").arg(&program).output().expect("it runs");
    assert!(answer.status.success(), "{}", text(&answer.stderr));
    let report: Value =
        serde_json::from_str(&fs::read_to_string(&path).expect("a report")).expect("JSON");
    let region = &report["processes"][0]["regions"][0];
    assert_eq!((&region["open"], &region["executions"]), (&Value::Null, &Value::from(2)));
}
