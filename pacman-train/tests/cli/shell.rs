//! Rules that all commands share: refusals, standard input, the calls that they cannot do without, and their place beside
//! `pacman-pmu`.

use std::io::Write;
use std::process::Stdio;

use super::forbidden::is_named_where_forbidden;
use super::scratch::Scratch;
use super::{everyday, pacman_pmu, text};

#[test]
fn bad_input_gets_one_line_and_exit_status_2() {
    let place = Scratch::new();
    let report = place.file("run.json", "{\"format\": \"pacman-run\"}").display().to_string();
    for (arguments, line) in [
        (
            &["record", "-o", "x", "--runs", "-3", "--", "true"][..],
            "pacman-pmu: cannot take -3 for --runs: numbers here are not below 0\n",
        ),
        (
            &["record", "./program"],
            "pacman-pmu: the following required arguments were not provided: --output <DATA.csv>\n",
        ),
        (
            &["train", "--mtehod", "ridge"],
            "pacman-pmu: unexpected argument '--mtehod' found; tip: a similar argument exists: '--method'\n",
        ),
        (&["doctor"], "pacman-pmu: unrecognized subcommand 'doctor'\n"),
        (
            &["evaluate", "-"],
            "pacman-pmu: standard input: line 1: no column threads; there is machine, app\n",
        ),
    ] {
        let mut command = pacman_pmu(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it runs");
        // A command that reads nothing may have ended.
        let _ = child.stdin.take().expect("a pipe").write_all(b"machine,app\n");
        let answer = child.wait_with_output().expect("it ends");
        assert_eq!(answer.status.code(), Some(2), "{arguments:?}");
        assert_eq!((text(&answer.stdout), text(&answer.stderr)), ("", line));
    }
    let train = pacman_pmu(&["train", &report, "-o", "/dev/null"]).output().expect("it runs");
    assert!(text(&train.stderr).contains("pacman-pmu run --record DATA.csv"), "{train:?}");
}

#[test]
fn the_machine_that_samples_are_from_is_not_the_simulated_one() {
    let asked = ["predict", "--model", "/no/model", "--measured-on", "Keystone", "--sample", "8=1"];
    let answer = pacman_pmu(&asked).output().expect("it runs");
    let said = text(&answer.stderr);
    assert_eq!(answer.status.code(), Some(2), "{said}");
    assert!(said.starts_with("pacman-pmu: cannot read /no/model"), "{said}");
}

#[test]
fn without_the_signals_calls_nothing_is_begun_and_the_call_is_named() {
    let place = Scratch::new();
    let data = place.named("data.csv");
    let record = ["record", "-o", &data, "--", "sh", "-c", "echo ran"];
    is_named_where_forbidden(|| pacman_pmu(&record));
}

/// Whoever types a command of this program types it after `pacman-pmu`.
#[test]
fn the_everyday_command_says_what_this_program_says() {
    let Some(everyday) = everyday() else { return };
    for arguments in [
        &["train", "--help"][..],
        &["record", "-h"],
        &["help", "evaluate"],
        &["--machine", "p4", "help", "predict"],
        &["predict", "--nothing"],
        &["--machine", "p4", "record", "-o", "x", "--", "true"],
        &["record", "--machine", "p4", "-o", "x", "--", "true"],
        &["train", "/nonexistent", "-o", "x"],
    ] {
        let mut own = pacman_pmu(arguments);
        // Usage lines have the name of the program that was typed.
        std::os::unix::process::CommandExt::arg0(&mut own, &everyday);
        let (own, through) = (own.output(), super::command(&everyday, arguments).output());
        let (own, through) = (own.expect("it runs"), through.expect("it runs"));
        assert_eq!(text(&through.stdout), text(&own.stdout), "{arguments:?}");
        assert_eq!(text(&through.stderr), text(&own.stderr), "{arguments:?}");
        assert_eq!(through.status, own.status, "{arguments:?}");
        assert!(!own.stdout.is_empty() || !own.stderr.is_empty(), "{arguments:?}");
    }
}
