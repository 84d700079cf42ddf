//! `run` with more events than the machine has counters for. Simulated programs have constant rates, so
//! that estimates are known.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::rows::rows;
use super::run_page::drawn;
use super::scratch::Scratch;
use super::{pacman_pmu, text};

/// The first argument is the number of executions.
const SOURCE: &str = "#include <stdlib.h>\n\
    int main(int count, char **words) {\n\
    for (int turn = 0; turn < atoi(words[count - 1]); turn++) {\n\
    #pragma omp parallel num_threads(2)\n\
    { volatile double sum = 0; for (int i = 0; i < 2000000; i++) sum = i; }\n\
    } return 0; }\n";

const EIGHT: &str =
    "CYCLES,INSTRUCTIONS,BRANCHES,BRANCH_MISSES,LOADS,L1D_MISSES,L2_MISSES,task-clock";

struct Program {
    scratch: Scratch,
    path: PathBuf,
}

impl Program {
    /// `None`, and said, without a compiler.
    fn new(compiler: &str) -> Option<Program> {
        let scratch = Scratch::new();
        let path = scratch.compile(compiler, &["-g", "-O1", "-fopenmp"], SOURCE)?;
        Some(Program { scratch, path })
    }

    /// The report of a run on a simulated machine.
    fn run(&self, form: &str, events: &str, executions: u32, options: &[&str]) -> String {
        let report = self.scratch.path(&format!("report.{form}"));
        let mut command = pacman_pmu(&["--machine", "skylake", "run", "-e", events, "-o"]);
        let command = command.arg(&report).args(options).arg("--").arg(&self.path);
        let answer = command.arg(executions.to_string()).output().expect("it runs");
        assert_eq!(answer.status.code(), Some(0), "{}", text(&answer.stderr));
        fs::read_to_string(&report).expect("a report")
    }

    fn json(&self, events: &str, executions: u32, options: &[&str]) -> Value {
        let report = self.run("json", events, executions, options);
        let report: Value = serde_json::from_str(&report).expect("JSON");
        report["processes"][0].clone()
    }
}

/// Count and counted share of an event in figures.
fn count(figures: &Value, event: &str) -> (f64, f64) {
    let share = &figures["counted_shares"][event];
    let count = figures["counts"][event].as_f64();
    (count.unwrap_or_else(|| panic!("no {event}: {figures:#}")), share.as_f64().unwrap_or(1.0))
}

fn constant_rates(program: &Program, options: &[&str]) {
    let rotated = program.json(EIGHT, 400, options);
    assert!(rotated["sets"].as_array().expect("sets").len() > 1, "{rotated:#}");
    let rotated = &rotated["regions"][0];
    let figures = &rotated["figures"];
    assert_eq!(figures["complete"], true, "each set had executions on each thread");
    let rate = |figures: &Value, event: &str, beside: &str| {
        count(figures, event).0 / count(figures, beside).0
    };
    let always = |event: &&str| count(figures, event).1 == 1.0;
    let (exact, estimated): (Vec<&str>, Vec<&str>) = EIGHT.split(',').partition(always);
    assert!(exact.contains(&"task-clock"), "the kernel always counts its own events: {figures:#}");
    assert!(estimated.len() > 1, "{figures:#}");
    for event in estimated {
        let (value, share) = count(figures, event);
        let margin = figures["margins"][event].as_f64().expect("an interval");
        assert!(margin > 0.0 && margin <= value, "{value} ±{margin} {event}");
        assert!(share > 0.02, "{event} was counted in {share} of the executions");
        let alone = program.json(&format!("INSTRUCTIONS,{event}"), 400, options);
        assert_eq!(alone["sets"].as_array().map(Vec::len), Some(1));
        let alone = &alone["regions"][0]["figures"];
        assert_eq!(alone["counted_shares"], Value::Null, "nothing is estimated");
        // Executions of one length differ by what else the processor does.
        let apart = rate(figures, event, "INSTRUCTIONS") / rate(alone, event, "INSTRUCTIONS") - 1.0;
        assert!(apart.abs() < 0.2, "{event} is off by {apart}: {figures:#}");
    }
    for thread in rows(&rotated["threads"]) {
        assert_eq!(thread["counted"], thread["executions"], "each execution counts one set");
    }
}

#[test]
fn estimates_of_a_constant_rate_are_the_count_and_have_their_share() {
    for compiler in ["gcc", "clang"] {
        let Some(program) = Program::new(compiler) else { continue };
        constant_rates(&program, &[]);
    }
}

#[test]
fn waits_are_timed_while_sets_take_turns() {
    let Some(program) = Program::new("gcc") else { return };
    constant_rates(&program, &["--waits"]);
    let report = program.json(EIGHT, 200, &["--waits"]);
    let region = &report["regions"][0];
    assert!(rows(&region["threads"])[1]["states"]["useful_s"].as_f64() > Some(0.0), "{region:#}");
    assert_eq!(region["useful_figures"], Value::Null, "counts of states are not estimated");
}

#[test]
fn a_region_with_too_few_executions_has_no_count_of_the_other_sets() {
    let Some(program) = Program::new("gcc") else { return };
    let report = program.json(EIGHT, 1, &[]);
    let figures = &report["regions"][0]["figures"];
    let absent: Vec<&str> =
        EIGHT.split(',').filter(|event| figures["counts"][*event].is_null()).collect();
    assert!(!absent.is_empty() && absent.len() < 8, "one set was counted: {figures:#}");
    for event in absent {
        assert_eq!(figures["counted_shares"][event], 0.0, "{figures:#}");
    }
    let few = program.json(EIGHT, report["sets"].as_array().expect("sets").len() as u32, &[]);
    let figures = &few["regions"][0]["figures"];
    for event in EIGHT.split(',') {
        let share = figures["counted_shares"][event].as_f64().expect("a share");
        assert!(share > 0.0, "each set had an execution: {figures:#}");
        let is_shown = figures["counts"][event].is_u64();
        assert_eq!(is_shown, share == 1.0, "one execution says nothing of the others: {figures:#}");
        assert_eq!(figures["margins"][event].is_number(), is_shown, "{figures:#}");
    }
}

#[test]
fn figures_are_of_one_set_or_absent() {
    let Some(program) = Program::new("gcc") else { return };
    let report = program.json(EIGHT, 400, &[]);
    let figures = &report["regions"][0]["figures"];
    let ipc = figures["metrics"]["ipc"].as_f64().expect("cycles and instructions are in one set");
    let quotient = count(figures, "INSTRUCTIONS").0 / count(figures, "CYCLES").0;
    assert!((ipc - quotient).abs() < 1e-6, "{ipc} is not {quotient}");
    let sets = report["sets"].as_array().expect("sets");
    let in_set = |event: &str| {
        let events = report["events"].as_array().expect("events");
        let at = events.iter().position(|known| known["name"] == event).expect("an event");
        let at = Value::from(at);
        let has = |set: &Value| set.as_array().expect("a set").contains(&at);
        sets.iter().map(has).collect::<Vec<bool>>()
    };
    let apart = |pair: [&str; 2]| in_set(pair[0]) != in_set(pair[1]);
    let is_apart = apart(["BRANCH_MISSES", "INSTRUCTIONS"]);
    let rate = &figures["metrics"]["branch-mpki"];
    assert_eq!(rate.is_null(), is_apart, "{figures:#}");
}

#[test]
fn text_csv_and_pages_mark_estimates() {
    let Some(program) = Program::new("gcc") else { return };
    let said = program.run("txt", EIGHT, 200, &[]);
    assert!(said.contains("\n(%)  estimate: "), "{said}");
    assert!(said.matches("%) ").count() > 2 && said.contains(" ±"), "{said}");
    let page = program.run("html", EIGHT, 200, &[]);
    if let Some(said) = drawn(&page) {
        // A browser joins the two spaces.
        assert!(said.contains("(%) estimate: ") && said.matches("%)").count() > 2, "{said}");
    }
    let csv = program.run("csv", EIGHT, 200, &[]);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let heading = reader.headers().expect("a heading").clone();
    let row = reader.records().next().expect("a row").expect("as many fields as columns");
    let at = heading.iter().position(|name| name == "L2_MISSES counted [share]");
    let share = row[at.expect("a column")].parse::<f64>();
    assert!(share.as_ref().is_ok_and(|share| *share > 0.0 && *share < 1.0), "{share:?}: {csv}");
    let at = heading.iter().position(|name| name.starts_with("L2_MISSES margin ["));
    let margin = row[at.expect("a column")].parse::<f64>();
    assert!(margin.as_ref().is_ok_and(|margin| *margin > 0.0), "{margin:?}: {csv}");
    let metrics = program.run("prom", EIGHT, 200, &[]);
    assert!(metrics.contains("estimate=\"true\""), "{metrics}");
}

#[test]
fn commands_that_read_a_report_say_that_counts_are_estimates() {
    let Some(program) = Program::new("gcc") else { return };
    program.run("json", EIGHT, 200, &[]);
    let mut command = pacman_pmu(&["metrics", "--counts"]);
    let answer = command.arg(program.scratch.path("report.json")).output().expect("it runs");
    let said = text(&answer.stderr);
    assert!(said.contains(" are estimates: event sets "), "{said}");
    let report = program.scratch.named("report.json");
    let answer = pacman_pmu(&["compare", &report, &report]).output().expect("it runs");
    let said = text(&answer.stdout);
    assert!(said.contains(" are estimates: event sets took turns"), "{said}");
}

#[test]
fn an_unknown_event_among_too_many_is_refused_before_the_program_runs() {
    let Some(program) = Program::new("gcc") else { return };
    let events = format!("{EIGHT},r00ff:unknown");
    let report = program.scratch.path("refused.json");
    let mut command = pacman_pmu(&["--machine", "skylake", "run", "-e", &events, "-o"]);
    let answer = command.arg(report).arg("--").arg(&program.path).arg("1").output();
    assert_eq!(answer.expect("it runs").status.code(), Some(2), "refused before the program runs");
}
