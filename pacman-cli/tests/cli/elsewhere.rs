//! Commands of `pacman-train`, which the command starts where it is beside it or in `PATH`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use pacman_suite::command::finish;

use super::scratch::Scratch;
use super::text;

/// The command in a folder of its own, where no other program is beside it. Another process writes it: a fork of
/// this one by another test could still have it open when it is started.
fn alone(scratch: &Scratch) -> PathBuf {
    let program = scratch.path("pacman-pmu");
    finish(Command::new("cp").arg(env!("CARGO_BIN_EXE_pacman-pmu")).arg(&program));
    program
}

/// A program that says how it was started.
fn double(folder: &Path) {
    let script = "for word; do echo \"[$word]\"; done; echo to stderr >&2; exit 7";
    let write = "printf '#!/bin/sh\n%s\n' \"$1\" >pacman-train && chmod +x pacman-train";
    finish(Command::new("sh").args(["-c", write, "sh", script]).current_dir(folder));
}

const ASKED: [&[&str]; 7] = [
    &["train", "data.csv", "-o", "a b", "--", "--json"],
    &["record", "--help"],
    &["evaluate", "-h"],
    &["help", "predict"],
    &["--machine", "p4", "help", "train"],
    &["--machine=p4", "--trust-driver", "predict", "--sample", "8=2"],
    &["record"],
];

#[test]
fn the_program_gets_all_arguments_and_its_status_is_the_command_s() {
    let scratch = Scratch::new();
    let command = alone(&scratch);
    let folder = scratch.path("");
    let elsewhere = scratch.path("elsewhere");
    fs::create_dir(&elsewhere).expect("a folder");
    for (place, path) in [(&elsewhere, elsewhere.display().to_string()), (&folder, "/none".into())]
    {
        double(place);
        for arguments in ASKED {
            // The shell of the script needs no PATH.
            let answer = Command::new(&command).args(arguments).env("PATH", &path).output();
            let answer = answer.expect("it runs");
            let words: String = arguments.iter().map(|word| format!("[{word}]\n")).collect();
            assert_eq!(text(&answer.stdout), words, "{arguments:?}");
            assert_eq!(text(&answer.stderr), "to stderr\n", "{arguments:?}");
            assert_eq!(answer.status.code(), Some(7), "{arguments:?}");
        }
    }
}

#[test]
fn a_line_says_that_the_program_is_missing() {
    let scratch = Scratch::new();
    let command = alone(&scratch);
    for arguments in ASKED {
        let answer = Command::new(&command).args(arguments).env("PATH", "/none").output();
        let answer = answer.expect("it runs");
        assert_eq!((answer.status.code(), text(&answer.stdout)), (Some(127), ""), "{arguments:?}");
        let said = text(&answer.stderr);
        let begin = "pacman-pmu: cannot run pacman-train, which has the commands evaluate, predict, \
                     record, train: it is neither in /";
        assert!(said.starts_with(begin) && said.lines().count() == 1, "{arguments:?}: {said}");
        assert!(said.contains("install it with ./install.sh"), "{said}");
    }
    fs::write(scratch.path("pacman-train"), "").expect("a file");
    let answer = Command::new(&command).arg("train").output().expect("it runs");
    assert_eq!(answer.status.code(), Some(126), "{}", text(&answer.stderr));
    assert!(text(&answer.stderr).contains("make it executable"), "{}", text(&answer.stderr));
}

/// A link to the command itself is not the program: the command would become itself for ever.
#[test]
fn a_link_to_the_command_is_passed_over() {
    let scratch = Scratch::new();
    let command = alone(&scratch);
    symlink("pacman-pmu", scratch.path("pacman-train")).expect("a link");
    let path = scratch.path("").display().to_string();
    let answer = Command::new(&command).arg("train").env("PATH", path).output().expect("it runs");
    assert_eq!(answer.status.code(), Some(127), "{}", text(&answer.stderr));
}

/// The other commands, also where their words are the names of those.
#[test]
fn other_commands_stay_here() {
    let scratch = Scratch::new();
    let command = alone(&scratch);
    double(&scratch.path(""));
    for arguments in [
        &["list", "--cpu", "skl", "train"][..],
        &["help", "doctor"],
        &["--machine", "train", "topo"],
    ] {
        let answer = Command::new(&command).args(arguments).output().expect("it runs");
        assert_ne!(answer.status.code(), Some(7), "{arguments:?}");
    }
}
