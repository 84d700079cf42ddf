//! Habits of all commands: help, version, refusals.

use super::{run, text};

#[test]
fn help_shows_examples_and_exit_statuses() {
    for arguments in [&["--help"][..], &["-h"], &["doctor", "--help"], &["doctor", "-h"]] {
        let answer = run(arguments);
        let said = text(&answer.stdout);
        assert_eq!(answer.status.code(), Some(0));
        assert_eq!(text(&answer.stderr), "");
        for part in ["Examples:\n  pacman-pmu ", "Exit status:\n  0  ", "  4  "] {
            assert!(said.contains(part), "{arguments:?} lacks {part:?}:\n{said}");
        }
    }
    let long = run(&["doctor", "--help"]);
    for part in [
        "JSON:\n  verdict               Conclusion: hardware, software-only or nothing",
        "no-pmu-in-vm",
    ] {
        assert!(text(&long.stdout).contains(part), "{}", text(&long.stdout));
    }
}

#[test]
fn the_version_is_one_line() {
    for option in ["--version", "-V"] {
        let answer = run(&[option]);
        assert_eq!(answer.status.code(), Some(0));
        assert_eq!(text(&answer.stdout), format!("pacman-pmu {}\n", env!("CARGO_PKG_VERSION")));
    }
}

#[test]
fn bad_input_gets_one_line_and_exit_status_2() {
    for (arguments, line) in [
        (
            &["doktor"][..],
            "pacman-pmu: unrecognized subcommand 'doktor'; tip: a similar subcommand exists: 'doctor'\n",
        ),
        (&["zebra"], "pacman-pmu: unrecognized subcommand 'zebra'\n"),
        (
            &["doctor", "--jsno"],
            "pacman-pmu: unexpected argument '--jsno' found; tip: a similar argument exists: '--json'\n",
        ),
        (&["doctor", "now"], "pacman-pmu: unexpected argument 'now' found\n"),
        (
            &["doctor", "--json=yes"],
            "pacman-pmu: unexpected value 'yes' for '--json' found; no more were expected\n",
        ),
        (
            &["smt", "--duration", "-1"],
            "pacman-pmu: cannot take -1 for --duration: numbers here are not below 0\n",
        ),
        (
            &["budget", "--cpu", "niagara1", "--clock", "-1.2e9", "-"],
            "pacman-pmu: cannot take -1.2e9 for --clock: numbers here are not below 0\n",
        ),
        (
            &["stat", "--interval", "-0.5", "--", "true", "-1"],
            "pacman-pmu: cannot take -0.5 for --interval: numbers here are not below 0\n",
        ),
        (&[], "pacman-pmu: no command was given; pacman-pmu --help lists them\n"),
    ] {
        let answer = run(arguments);
        assert_eq!(answer.status.code(), Some(2), "{arguments:?}");
        assert_eq!(text(&answer.stderr), line);
        assert_eq!(text(&answer.stdout), "");
    }
}
