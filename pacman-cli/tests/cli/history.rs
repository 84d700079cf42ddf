//! `pacman-pmu report` of several reports.

use serde_json::Value;

use super::schema::Schema;
use super::scratch::Scratch;
use super::{pacman_pmu, refused, text, told};

const SOURCE: &str = "int main(void) {
  for (int i = 0; i < 20; i++) {
#pragma omp parallel num_threads(2)
    for (volatile int turn = 0; turn < 10000; turn++)
      ;
  }
}
";

/// Runs the program with a label; the path of its report.
fn reported(
    scratch: &Scratch,
    program: &std::path::Path,
    label: &str,
    name: &str,
) -> Option<String> {
    let path = scratch.named(name);
    let mut command = pacman_pmu(&["run", "--waits", "--label", label, "-o", &path, "--"]);
    let answer = command.arg(program).output().expect("it runs");
    assert!(answer.status.success(), "{}", text(&answer.stderr));
    Some(path)
}

#[test]
fn runs_of_one_label_are_repeats_and_every_form_has_them() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("gcc", &["-g", "-O1", "-fopenmp"], SOURCE) else { return };
    let runs = [("old", "1.json"), ("old", "2.json"), ("new", "3.json"), ("new", "4.json")];
    let reports: Vec<String> =
        runs.iter().filter_map(|(label, name)| reported(&scratch, &program, label, name)).collect();
    let written: Value =
        serde_json::from_str(&std::fs::read_to_string(&reports[0]).expect("a report"))
            .expect("JSON");
    assert_eq!(written["label"], "old");
    let answer = pacman_pmu(&["report", "--json"]).args(&reports).output().expect("it runs");
    assert_eq!((answer.status.code(), text(&answer.stderr)), (Some(0), ""));
    let history: Value = serde_json::from_slice(&answer.stdout).expect("JSON");
    Schema::of("history").holds("report --json", &history);
    let runs = history["runs"].as_array().expect("a list");
    let of = |member: &str| -> Vec<&Value> { runs.iter().map(|run| &run[member]).collect() };
    assert_eq!(of("label"), ["old", "new"]);
    assert_eq!(of("reports"), [2, 2]);
    assert!(runs[1]["low"].is_number() && runs[0]["verdict"].is_null(), "{history:#}");
    let page = scratch.named("history.html");
    let mut command = pacman_pmu(&["report", "-o", &page]);
    let answer = command.args(&reports).output().expect("it runs");
    assert_eq!(
        (answer.status.code(), text(&answer.stdout), text(&answer.stderr)),
        (Some(0), "", "")
    );
    assert!(std::fs::read_to_string(&page).expect("a page").contains("pacman-history"));
    let answer = pacman_pmu(&["report"]).args(&reports).output().expect("it runs");
    let said = text(&answer.stdout);
    assert!(
        said.contains(": 2 runs; ") && said.lines().any(|line| line.starts_with("new ")),
        "{said}"
    );
}

#[test]
fn a_run_without_a_label_has_the_name_of_its_file_and_errors_are_one_line() {
    let scratch = Scratch::new();
    let report = |command: &str| {
        format!(
            r#"{{"format": "pacman-run", "version": 3, "command": ["{command}"], "time_s": 1.0, "processes": [],
                "provenance": {{"host": "h", "processor": null, "began": "2026-11-29T09:00:00Z"}}}}"#
        )
    };
    let file = |name: &str, content: &str| {
        scratch.file(name, content).to_str().expect("a path in UTF-8").to_owned()
    };
    let (one, two) = (file("c1.json", &report("./app")), file("c2.json", &report("/opt/app")));
    let answer = pacman_pmu(&["report", "--json", &one, &two]).output().expect("it runs");
    let history: Value = serde_json::from_slice(&answer.stdout).expect("JSON");
    let labels: Vec<&Value> =
        history["runs"].as_array().expect("a list").iter().map(|run| &run["label"]).collect();
    assert_eq!(labels, ["c1", "c2"]);
    let other = file("other.json", &report("./another"));
    let stat = file("stat.json", r#"{"format": "pacman-stat", "version": 1}"#);
    let mut told = told("history: refusals");
    for (arguments, status) in [
        (vec![&*one, &stat], 2),
        (vec![&one, &other], 2),
        (vec![&one, "--json"], 2),
        (vec![&one, &two, "-o", "page.pdf"], 2),
        (vec![&one, &two, "-o", &one], 2),
        (vec![&one, &two, "--threshold", "-1"], 2),
        (vec![&one, &two, "-o", "/no/such/page.html"], 4),
    ] {
        let answer = pacman_pmu(&["report"]).args(&arguments).output().expect("it runs");
        refused(&mut told, &answer, status, &scratch);
    }
}
