//! Counts that are mostly of the readings themselves: each `read` of a clock of the kernel counts a part of itself.

use std::fs;

use serde_json::Value;

use super::scratch::Scratch;
use super::{alone, pacman_pmu};

/// A region of about a microsecond and one of ten milliseconds, whose work both take from the clock.
const SOURCE: &str = r"
#include <time.h>
static double used(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec / 1e9;
}
static volatile int sink;
static void short_one(void) {
#pragma omp parallel num_threads(2)
  sink = 1;
}
static void long_one(void) {
#pragma omp parallel num_threads(2)
  {
    double begun = used();
    while (used() - begun < 0.01)
      ;
  }
}
int main(void) {
  for (int at = 0; at < 3000; at++) short_one();
  for (int at = 0; at < 6; at++) long_one();
  return 0;
}
";

struct Program(Scratch, std::path::PathBuf);

impl Program {
    fn run(&self, form: &str, events: &str) -> String {
        let report = self.0.path(&format!("report.{form}"));
        let mut command = pacman_pmu(&["run", "-e", events, "-o"]);
        let output = command.arg(&report).arg("--").arg(&self.1).output().expect("it runs");
        assert!(output.status.success(), "{output:?}");
        fs::read_to_string(report).expect("a report")
    }
}

fn region<'a>(process: &'a Value, name: &str) -> &'a Value {
    let regions = process["regions"].as_array().expect("regions");
    let is_it = |region: &&Value| region["name"].as_str().is_some_and(|own| own.contains(name));
    regions.iter().find(is_it).unwrap_or_else(|| panic!("no {name}: {process:#}"))
}

#[test]
fn a_count_that_is_mostly_of_the_readings_is_marked() {
    // Beside other work the region itself takes longer than its readings.
    let _alone = alone();
    let scratch = Scratch::new();
    let Some(path) = scratch.compile("gcc", &["-g", "-O1", "-fopenmp"], SOURCE) else { return };
    let program = Program(scratch, path);
    for clock in ["task-clock", "cpu-clock"] {
        let events = format!("{clock},page-faults");
        let report: Value = serde_json::from_str(&program.run("json", &events)).expect("JSON");
        let process = &report["processes"][0];
        let own = process["events"][0]["reading_count"].as_u64().expect("a count");
        assert!((50..100_000).contains(&own), "{own} ns a reading");
        assert_eq!(process["events"][1]["reading_count"], 0, "a reading faults no page");
        let (short, long) = (region(process, "short_one"), region(process, "long_one"));
        let share = |region: &Value| region["figures"]["reading_shares"][clock].as_f64();
        assert!(share(short) > Some(0.5), "{short:#}");
        assert_eq!(short["figures"]["rates"][clock], Value::Null);
        let count = short["figures"]["counts"][clock].as_u64().expect("it stays as it is");
        assert!(count > 3000 * own, "two threads of 3000 executions: {count}");
        assert!(share(long) < Some(0.1), "{long:#}");
        assert!(long["figures"]["rates"][clock].is_number(), "{long:#}");
        let said = process["notes"].to_string();
        assert!(said.contains("most of the count is of the readings"), "{said}");
    }
    let said = program.run("txt", "task-clock");
    let lines: Vec<&str> = said.lines().filter(|line| line.contains("s!")).collect();
    assert!(lines.iter().any(|line| line.contains("short_one")), "{said}");
    assert!(!lines.iter().any(|line| line.contains("long_one")), "{said}");
    assert!(program.run("html", "task-clock").contains("s!"));
    assert!(program.run("prom", "task-clock").contains("mostly_readings=\"true\""));
    let csv = program.run("csv", "task-clock");
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let heading = reader.headers().expect("a heading").clone();
    let at = heading.iter().position(|name| name == "task-clock readings [share]");
    let row = reader.records().map(|row| row.expect("a row"));
    let at = at.expect("a column");
    let shares: Vec<f64> = row.filter_map(|row| row[at].parse().ok()).collect();
    assert!(shares.iter().any(|share| *share > 0.5), "{csv}");
}
