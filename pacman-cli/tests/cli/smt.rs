//! Sibling activity on simulated machines, as a user asks for it.

use serde_json::Value;

use super::{run, text};

#[test]
fn a_simulated_machine_is_counted_and_labelled() {
    let answer = run(&["--machine", "haswell", "smt", "--duration", "0.3", "--json"]);
    assert_eq!(answer.status.code(), Some(0), "{}", text(&answer.stderr));
    let report: Value = serde_json::from_slice(&answer.stdout).expect("JSON");
    assert_eq!(report["simulated"], "haswell");
    assert_eq!(report["method"], "AnyThread reference cycles");
    let choice = report["choice"].as_str().unwrap();
    assert!(choice.starts_with("counters were chosen: idle times"), "{choice}");
    let cores = report["cores"].as_array().unwrap();
    assert_eq!(cores.len(), 4, "{report:#}");
    for core in cores {
        let share = |value: &Value| value.as_f64().unwrap();
        let only: f64 = core["only"].as_array().unwrap().iter().map(share).sum();
        let all = share(&core["idle"]) + only + share(&core["shared"]);
        assert!((all - 1.0).abs() < 1e-5, "{core:#}");
        assert!(core["skew_s"].as_f64().unwrap() > 0.0, "{core:#}");
    }
}

#[test]
fn every_field_is_documented() {
    let answer = run(&["--machine", "haswell", "smt", "--duration", "0.1", "--json"]);
    let report: Value = serde_json::from_slice(&answer.stdout).expect("JSON");
    let help = run(&["smt", "--help"]);
    let help = text(&help.stdout);
    let fields = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    for field in fields(&report).into_iter().chain(fields(&report["cores"][0])) {
        let word = |word: &str| word.trim_matches([',', '.']) == field;
        assert!(help.split_whitespace().any(word), "{field} in:\n{help}");
    }
}

#[test]
fn a_simulated_machine_without_a_method_is_refused() {
    for (arguments, why) in [
        (&["--machine", "zen4", "smt", "--duration", "1"][..], "Zen 4 is not computable because"),
        (&["--machine", "p4", "smt", "--method", "counters"], "NetBurst has no AnyThread count"),
        (&["--machine", "haswell", "smt", "--method", "idle"], "cannot measure by idle times"),
    ] {
        let answer = run(arguments);
        let said = text(&answer.stderr);
        assert_eq!((answer.status.code(), text(&answer.stdout)), (Some(1), ""), "{said}");
        assert!(said.lines().last().unwrap().contains(why), "{said}");
    }
}

#[test]
fn a_file_that_cannot_be_written_is_an_error_before_the_command_runs() {
    let file =
        ["--machine", "haswell", "smt", "-o", "/no-such-directory/file", "--", "echo", "ran"];
    let answer = run(&file);
    assert_eq!((answer.status.code(), text(&answer.stdout)), (Some(4), ""));
    assert_eq!(
        text(&answer.stderr).lines().last().unwrap_or_default(),
        "pacman-pmu: cannot write /no-such-directory/file: No such file or directory (os error 2); name a file in a directory that can be written"
    );

    let full = run(&["--machine", "haswell", "smt", "-o", "/dev/full", "--duration", "0.1"]);
    assert_eq!(full.status.code(), Some(4));
    assert_eq!(
        text(&full.stderr).lines().last().unwrap_or_default(),
        "pacman-pmu: cannot write /dev/full: No space left on device (os error 28); make room, or name a file elsewhere"
    );
}
