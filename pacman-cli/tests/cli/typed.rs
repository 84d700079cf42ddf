//! Command lines as people type them: a program without `--`, a path in the place of a command, `adapt`, perf's options.

use std::process::Output;

use super::{pacman_pmu, text};

fn run(words: &[&str]) -> Output {
    pacman_pmu(words).output().expect("it runs")
}

#[test]
fn a_program_needs_no_dashes_before_it_and_keeps_its_options() {
    let script = "echo $# $0 $1 $2; exit 5";
    for begin in [
        &["stat"][..],
        &["stat", "-q", "--"],
        &["run"],
        &["run", "--waits"],
        &["adapt"],
        &["adapt", "--strict", "--"],
        &["smt", "--quiet"],
    ] {
        let words = [begin, &["sh", "-c", script, "--json", "--", "-e"]].concat();
        let answer = run(&words);
        assert_eq!(answer.status.code(), Some(5), "{begin:?}: {answer:?}");
        assert!(text(&answer.stdout).starts_with("2 --json -- -e\n"), "{begin:?}: {answer:?}");
    }
}

#[test]
fn a_path_in_the_place_of_a_command_is_a_program_to_run() {
    let answer = run(&["/bin/sh", "-c", "echo $0; exit 6", "--waits"]);
    assert_eq!((answer.status.code(), text(&answer.stdout)), (Some(6), "--waits\n"));
    let answer = run(&["--", "sh", "-c", "exit 6"]);
    assert_eq!(answer.status.code(), Some(6), "{answer:?}");
    let answer = run(&["./no/such"]);
    assert_eq!(answer.status.code(), Some(127));
    assert_eq!(
        text(&answer.stderr),
        "pacman-pmu: cannot run ./no/such: No such file or directory (os error 2)\n"
    );
    // A name without a slash may be a mistyped command.
    let answer = run(&["statt"]);
    assert_eq!(answer.status.code(), Some(2), "{answer:?}");
}

#[test]
fn adapt_is_an_option_of_run_with_its_help_and_its_conflicts() {
    let answer = run(&["adapt", "--waits", "true"]);
    let line = "pacman-pmu: the argument '--adapt' cannot be used with '--waits'\n";
    assert_eq!((answer.status.code(), text(&answer.stderr)), (Some(2), line));
    let helps = [&["adapt", "--help"][..], &["help", "adapt"], &["run", "--help"]].map(run);
    let [own, asked, of_run] = helps.map(|answer| text(&answer.stdout).to_owned());
    assert!(of_run.contains("--max-loss"), "{of_run}");
    assert_eq!((&own, &asked), (&of_run, &of_run));
}

#[test]
fn options_of_perf_work_or_name_the_option_that_does_it() {
    for words in [&["-e", "task-clock", "-e", "page-faults"][..], &["-I", "1000"]] {
        let answer = run(&[&["stat"], words, &["true"]].concat());
        assert_eq!(answer.status.code(), Some(0), "{answer:?}");
    }
    for (option, advice) in [("-x,", "--csv prints"), ("-C0", "-a counts"), ("-d", "list has")] {
        let answer = run(&["stat", option, "true"]);
        let line = text(&answer.stderr);
        assert_eq!((answer.status.code(), line.lines().count()), (Some(2), 1), "{line}");
        assert!(line.contains(advice), "{line}");
    }
    let answer = run(&["run", "-x", "stat"]);
    assert!(!text(&answer.stderr).contains("--csv"), "that is stat's: {answer:?}");
}
