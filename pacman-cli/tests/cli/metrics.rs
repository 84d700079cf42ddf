//! Metrics from a pipe, and places on a die, with what goes where.

use std::io::Write;
use std::process::Stdio;

use super::{pacman_pmu, run, text};

#[test]
fn counts_come_from_standard_input() {
    let mut child = pacman_pmu(&["metrics", "ipc", "branch-mpki", "--counts", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(b"event,count\nINSTRUCTIONS,3000\nCYCLES,2000\n").unwrap();
    drop(pipe);
    let answer = child.wait_with_output().unwrap();
    assert_eq!(answer.status.code(), Some(1));
    // The lines are those of the tests of `metrics`.
    assert_eq!(text(&answer.stdout).lines().count(), 2, "{answer:?}");
    let said = text(&answer.stderr);
    assert!(said.starts_with("pacman-pmu: branch-mpki ") && said.lines().count() == 1, "{said}");
}

/// The one line that a command says of bad input on its standard input.
fn refused(arguments: &[&str], input: &str) -> String {
    let mut child = pacman_pmu(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let answer = child.wait_with_output().unwrap();
    assert_eq!((answer.status.code(), text(&answer.stdout)), (Some(2), ""), "{arguments:?}");
    text(&answer.stderr).to_owned()
}

#[test]
fn standard_input_is_called_by_its_name() {
    let budget = ["budget", "--cpu", "niagara1", "--clock", "1.2e9", "-"];
    for (arguments, input) in [
        (&["metrics", "ipc", "--counts", "-"][..], "a\n"),
        (&budget, "Instr_cnt,5\n"),
        (&["metrics", "--file", "-"], "nonsense\n"),
    ] {
        let line = refused(arguments, input);
        assert!(line.starts_with("pacman-pmu: standard input"), "{line}");
    }
}

#[test]
fn options_that_contradict_each_other_are_bad_input() {
    for arguments in [
        &["metrics", "--list", "ipc"][..],
        &["metrics", "--list", "--counts", "-"],
        &["topo", "--tiles", "--synthetic", "2 cores"],
        &["topo", "--tiles", "--unfold"],
    ] {
        let answer = run(arguments);
        assert_eq!((answer.status.code(), text(&answer.stdout)), (Some(2), ""), "{arguments:?}");
        assert_eq!(text(&answer.stderr).lines().count(), 1, "{arguments:?}");
    }
}

/// Whatever this machine is: it tells places, or says in one line that none are known.
#[test]
fn places_on_the_die_are_shown_or_refused() {
    let answer = run(&["topo", "--tiles"]);
    let (shown, said) = (text(&answer.stdout), text(&answer.stderr));
    match answer.status.code() {
        Some(0) => assert!(shown.contains("tile") && said.is_empty(), "{shown}{said}"),
        Some(1) => assert!(shown.is_empty() && said.lines().count() == 1, "{shown}{said}"),
        other => panic!("{other:?}: {shown}{said}"),
    }
    let facts: serde_json::Value =
        serde_json::from_slice(&run(&["topo", "--tiles", "--json"]).stdout).unwrap();
    let unknown = facts["tiles"].is_null() && facts["cha"].is_null();
    assert_eq!(answer.status.code(), Some(i32::from(unknown)), "{facts}");
}

#[test]
fn metrics_and_budget_read_what_stat_and_run_write() {
    let scratch = super::scratch::Scratch::new();
    let (stat, report) = (scratch.path("stat.json"), scratch.path("run.json"));
    let (stat, report) = (stat.to_str().expect("UTF-8"), report.to_str().expect("UTF-8"));
    let events = ["-e", "CYCLES,INSTRUCTIONS"];
    let machine = ["--machine", "haswell"];
    let counted =
        run(&[&machine[..], &["stat", "--json", "-o", stat], &events, &["--", "true"]].concat());
    assert!(counted.status.success(), "{counted:?}");
    let ipc = run(&["metrics", "ipc", "--json", "--counts", stat]);
    let document = |path: &str| -> serde_json::Value {
        serde_json::from_str(&std::fs::read_to_string(path).expect("a report")).expect("JSON")
    };
    let value = |output: &std::process::Output| -> f64 {
        let list: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        list[0]["value"].as_f64().unwrap_or_else(|| panic!("{output:?}"))
    };
    let counts = &document(stat)["total"]["counts"];
    let expected = counts[1].as_f64().expect("a count") / counts[0].as_f64().expect("a count");
    assert!((value(&ipc) - expected).abs() < 1e-9, "{ipc:?} and {counts}");
    let budget = run(&["budget", "--cpu", "niagara1", "--clock", "1e9", stat]);
    assert_eq!(budget.status.code(), Some(2), "{budget:?}");
    assert!(text(&budget.stderr).contains("\"INSTRUCTIONS\""), "{budget:?}");

    let source = include_str!("../faults/regions.c");
    let Some(program) = scratch.compile("gcc", &["-O1", "-fopenmp"], source) else { return };
    let mut command = pacman_pmu(&[&machine[..], &["run", "-o", report], &events].concat());
    let output = command.arg("--").arg(program).env("OMP_NUM_THREADS", "2").output();
    assert!(output.as_ref().is_ok_and(|output| output.status.success()), "{output:?}");
    let regions = &document(report)["processes"][0]["regions"];
    for region in regions.as_array().expect("regions") {
        let name = region["name"].as_str().expect("a name");
        let ipc = run(&["metrics", "ipc", "--json", "--counts", report, "--phase", name]);
        let counts = &region["figures"]["counts"];
        let count = |event: &str| counts[event].as_f64().expect("a count");
        let expected = count("INSTRUCTIONS") / count("CYCLES");
        assert!((value(&ipc) - expected).abs() < 1e-9, "{ipc:?} and {counts}");
    }
    let lost = run(&["metrics", "ipc", "--counts", report, "--phase", "none"]);
    assert_eq!(lost.status.code(), Some(2), "{lost:?}");
}
