//! `run --record` where the file cannot have the data. `pacman-train` has the tests of the rows.

use std::fs;

use super::scratch::Scratch;
use super::{pacman_pmu, text};

#[test]
fn what_cannot_be_written_is_known_before_the_run() {
    let scratch = Scratch::new();
    let foreign = scratch.file("foreign.csv", "name,age\nx,3\n").display().to_string();
    for (data, why) in [
        ("/no-such-directory/d.csv", "cannot write /no-such-directory/d.csv: No such file"),
        (foreign.as_str(), "line 1: no column threads, so it is not a table"),
    ] {
        for (strict, status, ran) in [(false, 3, "ran\n"), (true, 2, "")] {
            let mut command = pacman_pmu(&["run", "--record", data]);
            command.args(strict.then_some("--strict")).args(["--", "sh", "-c", "echo ran; exit 3"]);
            let answer = command.output().expect("it runs");
            assert_eq!((answer.status.code(), text(&answer.stdout)), (Some(status), ran));
            let said = text(&answer.stderr);
            assert_eq!(said.lines().filter(|line| line.contains(why)).count(), 1, "{said}");
            assert_eq!(said.contains("; not run\n"), strict, "{said}");
        }
    }
    assert_eq!(fs::read_to_string(&foreign).expect("a file"), "name,age\nx,3\n");
    let data = scratch.path("data.csv");
    let mut both = pacman_pmu(&["run", "--adapt", "--record"]);
    let both = both.arg(&data).args(["--", "echo", "ran"]).output().expect("it runs");
    assert_eq!((both.status.code(), text(&both.stdout)), (Some(2), ""));
    assert!(text(&both.stderr).contains("--record"), "{}", text(&both.stderr));
    assert!(!data.exists());
}
