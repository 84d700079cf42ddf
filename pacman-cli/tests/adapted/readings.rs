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

    /// A report that `is_marked` as one in which readings are most of the short region's counts. Beside other programs,
    /// whose data are in the caches, the region itself may take longer than its readings. So several runs may be needed.
    fn run_until(&self, form: &str, events: &str, is_marked: impl Fn(&str) -> bool) -> String {
        let report = (0..8).map(|_| self.run(form, events)).find(|report| is_marked(report));
        report.unwrap_or_else(|| panic!("none of eight reports as {form} has the mark"))
    }
}

fn share(region: &Value, clock: &str) -> Option<f64> {
    region["figures"]["reading_shares"][clock].as_f64()
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
        let parsed = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
        let report = program.run_until("json", &events, |text| {
            share(region(&parsed(text)["processes"][0], "short_one"), clock) > Some(0.5)
        });
        let report = parsed(&report);
        let process = &report["processes"][0];
        let own = process["events"][0]["reading_count"].as_u64().expect("a count");
        assert!((50..100_000).contains(&own), "{own} ns a reading");
        assert_eq!(process["events"][1]["reading_count"], 0, "a reading faults no page");
        let (short, long) = (region(process, "short_one"), region(process, "long_one"));
        let share = |region: &Value| share(region, clock);
        assert!(share(short) > Some(0.5), "{short:#}");
        assert_eq!(short["figures"]["rates"][clock], Value::Null);
        let count = short["figures"]["counts"][clock].as_u64().expect("it stays as it is");
        assert!(count > 3000 * own, "two threads of 3000 executions: {count}");
        assert!(share(long) < Some(0.1), "{long:#}");
        assert!(long["figures"]["rates"][clock].is_number(), "{long:#}");
        let said = process["notes"].to_string();
        assert!(said.contains("most of the count is of the readings"), "{said}");
    }
    let marked = |text: &str, name: &str| {
        text.lines().any(|line| line.contains("s!") && line.contains(name))
    };
    let said = program.run_until("txt", "task-clock", |said| marked(said, "short_one"));
    assert!(!marked(&said, "long_one"), "{said}");
    program.run_until("prom", "task-clock", |text| text.contains("mostly_readings=\"true\""));
    program.run_until("csv", "task-clock", |text| {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let heading = reader.headers().expect("a heading").clone();
        let at = heading.iter().position(|name| name == "task-clock readings [share]");
        let at = at.expect("a column");
        let rows = reader.records().map(|row| row.expect("a row"));
        let mut shares = rows.filter_map(|row| row[at].parse::<f64>().ok());
        shares.any(|share| share > 0.5)
    });
}
