//! `compare` on reports of real runs, and on reports that it refuses.

use std::fs;
use std::process::{Command, Output};

use pacman_suite::skipped;
use serde_json::Value;

use super::scratch::Scratch;
use super::{pacman_pmu, refused, run, text, told};

/// Two regions.
const SOURCE: &str = r#"
int main(void) {
  for (int i = 0; i < 20; i++) {
#pragma omp parallel num_threads(2)
    for (volatile int turn = 0; turn < 100000; turn++)
      ;
  }
  for (int i = 0; i < 20; i++) {
#pragma omp parallel num_threads(2)
    for (volatile int turn = 0; turn < 100000; turn++)
      ;
  }
  return 0;
}
"#;

/// A report whose first region takes these parts of the time of the report `real`: any machine has other
/// times in every run.
fn scaled(scratch: &Scratch, real: &Value, part: f64, name: &str) -> String {
    let mut report = real.clone();
    // The machine may be busy now; these times are made up.
    report["processes"][0]["lacks_processors"] = false.into();
    let regions = report["processes"][0]["regions"].as_array_mut().expect("a list");
    let first = regions.iter_mut().find(|one| one["name"] == "main, region 0").expect("a region");
    let mean = first["mean_s"].as_f64().expect("seconds");
    for (member, execution) in [("time_s", 20.0), ("shortest_s", 0.98), ("longest_s", 1.02)] {
        first[member] = (execution * mean * part).into();
    }
    if let Some(states) = first["threads"]["states"].as_object_mut() {
        states.insert("end_s".into(), (0.01 * part).into());
    }
    scratch.file(name, &report.to_string());
    scratch.named(name)
}

fn status(output: &Output) -> Option<i32> {
    output.status.code()
}

#[test]
fn regions_match_where_their_lines_have_moved() {
    let scratch = Scratch::new();
    let mut reports = Vec::new();
    for (name, source) in [("before", SOURCE.to_owned()), ("after", format!("\n\n{SOURCE}"))] {
        // The source files have one name in two directories.
        let directory = scratch.path(&format!("{name} it"));
        fs::create_dir(&directory).expect("a directory");
        let (source_file, program) = (directory.join("app.c"), directory.join("app"));
        fs::write(&source_file, source).expect("a file");
        let mut cc = Command::new("cc");
        let built =
            cc.args(["-g", "-O1", "-fopenmp", "-o"]).arg(&program).arg(&source_file).status();
        if !built.is_ok_and(|status| status.success()) {
            return skipped("no cc with OpenMP");
        }
        let path = scratch.named(name);
        let report = format!("{path}.json");
        let output = pacman_pmu(&["run", "-o", &report, "--"]).arg(&program).output();
        assert_eq!(status(&output.expect("it runs")), Some(0));
        reports.push(report);
    }
    let output = run(&["compare", "--json", &reports[0], &reports[1]]);
    // On a busy machine one may seem slower.
    assert!([Some(0), Some(1)].contains(&status(&output)), "{}", text(&output.stderr));
    let comparison: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let names = |list: &str| -> Vec<&str> {
        let list = comparison[list].as_array().expect("a list").iter();
        let mut names: Vec<&str> = list.map(|one| one["name"].as_str().expect("a name")).collect();
        names.sort_unstable();
        names
    };
    assert_eq!(names("regions"), ["main, line 12", "main, line 7"], "as the later side has them");
    assert!(names("only_before").is_empty() && names("only_after").is_empty(), "{comparison:#}");
}

#[test]
fn a_region_that_got_slower_is_named_and_changes_the_exit_status() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("cc", &["-O1", "-fopenmp"], SOURCE) else { return };
    let path = scratch.named("real.json");
    let mut command = pacman_pmu(&["run", "--waits", "-o", &path, "--"]);
    let output = command.arg(&program).output().expect("it runs");
    assert_eq!(status(&output), Some(0), "{}", text(&output.stderr));
    let real = fs::read_to_string(&path).expect("a report");
    let real: Value = serde_json::from_str(&real).expect("JSON");
    let of = |times: f64, side: &str| -> Vec<String> {
        let noise = [1.0, 1.01, 0.99, 1.02, 1.0].iter().enumerate();
        noise
            .map(|(number, part)| {
                scaled(&scratch, &real, part * times, &format!("{side}{number}.json"))
            })
            .collect()
    };
    let (before, after) = (of(1.0, "before"), of(3.0, "after"));
    let mut words = vec!["compare", "--json"];
    words.extend(before.iter().map(String::as_str));
    words.push("--to");
    words.extend(after.iter().map(String::as_str));
    let output = run(&words);
    assert_eq!(status(&output), Some(1), "{}", text(&output.stderr));
    let comparison: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let regions = comparison["regions"].as_array().expect("a list");
    let region = |name: &str| {
        let found = regions.iter().find(|one| one["name"] == name);
        found.unwrap_or_else(|| panic!("no {name} in {comparison:#}"))
    };
    let slower = region("main, region 0");
    assert_eq!(slower["verdict"], "slower", "{slower:#}");
    let number = |value: &Value| value.as_f64().expect("a number");
    assert!((number(&slower["ratio"]) - 3.0).abs() < 1e-9, "{slower:#}");
    assert!(number(&slower["low"]) > 2.8 && number(&slower["high"]) < 3.2, "{slower:#}");
    // Both threads waited 10 ms at the end, the median of the reports.
    let end = |side: &str| number(&slower[side]["states"]["end"]);
    assert!((end("before") - 0.02).abs() < 1e-9 && (end("after") - 0.06).abs() < 1e-9);
    assert_eq!(region("main, region 1")["verdict"], "same", "{comparison:#}");
    assert_eq!(comparison["before"]["reports"], 5);
    // The other way round it is faster, and the same report is neither.
    let text_of = |one: &str, other: &str| {
        let output = run(&["compare", one, other, "--least", "0"]);
        (status(&output), text(&output.stdout).to_owned())
    };
    let (code, said) = text_of(&after[0], &before[0]);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.lines().next().is_some_and(|line| line.contains("faster: main, region 0")),
        "{said}"
    );
    assert!(said.contains("one report a side"), "{said}");
    let (code, said) = text_of(&before[0], &before[0]);
    assert_eq!(code, Some(0));
    assert!(said.contains("no region differs"), "{said}");
    let page = scratch.named("comparison.html");
    let output = run(&["compare", &before[0], &after[0], "-o", &page]);
    assert_eq!((status(&output), text(&output.stdout)), (Some(1), ""));
    let page = fs::read_to_string(page).expect("a page");
    let document =
        page.split("data-form=\"json\">").nth(1).and_then(|rest| rest.split("</script>").next());
    let document: Value = serde_json::from_str(document.expect("a document")).expect("JSON");
    let output = run(&["compare", &before[0], &after[0], "--json"]);
    assert_eq!(document, serde_json::from_str::<Value>(text(&output.stdout)).expect("JSON"));
}

#[test]
fn small_regions_change_no_status_and_changed_functions_are_noted() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("cc", &["-g", "-O1", "-fopenmp"], SOURCE) else { return };
    let path = scratch.named("real.json");
    let output = pacman_pmu(&["run", "-o", &path, "--"]).arg(&program).output();
    assert_eq!(status(&output.expect("it runs")), Some(0));
    let real = fs::read_to_string(&path).expect("a report").replace(", line ", ", region ");
    let mut real: Value = serde_json::from_str(&real).expect("JSON");
    let regions = real["processes"][0]["regions"].as_array_mut().expect("a list");
    regions.sort_by_key(|one| one["line"].as_u64());
    for (number, region) in regions.iter_mut().enumerate() {
        region["name"] = format!("main, region {number}").into();
    }
    let before = scaled(&scratch, &real, 1.0, "before.json");
    let after = scaled(&scratch, &real, 9.0, "after.json");
    for (least, code) in [("1", 1), ("100", 0)] {
        let output = run(&["compare", &before, &after, "--least", least]);
        assert_eq!(status(&output), Some(code), "{}", text(&output.stdout));
    }
    real["processes"][0]["regions"].as_array_mut().expect("a list").truncate(1);
    let fewer = scaled(&scratch, &real, 1.0, "fewer.json");
    let output = run(&["compare", &before, &fewer]);
    let said = text(&output.stdout);
    assert!(said.contains("has 2 regions before and 1 after: those are matched"), "{said}");
}

#[test]
fn verdicts_are_unclear_where_the_sides_cannot_be_trusted() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("cc", &["-O1", "-fopenmp"], SOURCE) else { return };
    let path = scratch.named("real.json");
    let output = pacman_pmu(&["run", "-o", &path, "--"]).arg(&program).output().expect("it runs");
    assert_eq!(status(&output), Some(0), "{}", text(&output.stderr));
    let real = fs::read_to_string(&path).expect("a report");
    let mut real: Value = serde_json::from_str(&real).expect("JSON");
    real["provenance"]["began"] = "2026-02-01T10:00:00Z".into();
    let edited = |name: &str, edit: &dyn Fn(&mut Value)| {
        let slower = scaled(&scratch, &real, 3.0, name);
        let mut report: Value =
            serde_json::from_str(&fs::read_to_string(&slower).expect("a report")).expect("JSON");
        edit(&mut report);
        scratch.file(name, &report.to_string());
        slower
    };
    let before = scaled(&scratch, &real, 1.0, "before.json");
    let later =
        edited("later.json", &|one| one["provenance"]["began"] = "2026-02-02T10:00:00Z".into());
    let earlier =
        edited("earlier.json", &|one| one["provenance"]["began"] = "2026-01-31T10:00:00Z".into());
    let busy = edited("busy.json", &|one| one["processes"][0]["lacks_processors"] = true.into());
    let renamed = edited("renamed.json", &|one| {
        for region in one["processes"][0]["regions"].as_array_mut().expect("a list") {
            let name = region["name"].as_str().expect("a name").replace("main", "start");
            region["name"] = name.into();
        }
    });
    let teams = edited("teams.json", &|one| {
        for region in one["processes"][0]["regions"].as_array_mut().expect("a list") {
            region["teams"][0]["threads"] = 64.into();
        }
    });
    for (after, more, code, verdict, said) in [
        (&later, &[][..], 1, "slower", "slower: main, region 0"),
        (&earlier, &[], 0, "unclear", "the reports before are newer than those after"),
        (&earlier, &["--any-order"], 1, "slower", "slower: main, region 0"),
        (&busy, &[], 0, "unclear", "threads had no processor of their own after"),
        (&teams, &[], 1, "slower", "different teams: 2 threads, then 64 threads"),
        (&renamed, &[], 3, "", "no region of one side is on the other: nothing is compared"),
        (&renamed, &[], 3, "", "start, region 0"),
    ] {
        let words = [&["compare", &before, after], more].concat();
        let output = run(&words);
        assert_eq!(status(&output), Some(code), "{words:?}: {}", text(&output.stdout));
        assert!(text(&output.stdout).contains(said), "{}", text(&output.stdout));
        let output = run(&[&words[..], &["--json"]].concat());
        let comparison: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let regions = comparison["regions"].as_array().expect("a list").iter();
        let first = regions.filter(|one| one["name"] == "main, region 0");
        let verdicts: Vec<_> = first.map(|one| one["verdict"].as_str().expect("a word")).collect();
        assert_eq!(verdicts.concat(), verdict, "{words:?}");
    }
}

#[test]
fn what_cannot_be_compared_is_refused_in_a_line() {
    let scratch = Scratch::new();
    let file = |name: &str, content: &str| {
        scratch.file(name, content);
        scratch.named(name)
    };
    let old = file("old.json", r#"{"format":"pacman-run","version":1}"#);
    let other = file("other.json", r#"{"format":"pacman-stat","version":1}"#);
    let text_file = file("report.txt", "x");
    let missing = scratch.named("missing.json");
    let mut told = told("compare: refusals");
    for words in [
        vec!["compare", &old, &old],
        vec!["compare", &other, &old],
        vec!["compare", &text_file, &old],
        vec!["compare", &missing, &old],
        vec!["compare", &old],
        vec!["compare", &old, &old, &old],
        vec!["compare", &old, &old, "--threshold", "-1"],
        vec!["compare", &old, &old, "-o", "x.csv"],
    ] {
        refused(&mut told, &run(&words), 2, &scratch);
    }
}
