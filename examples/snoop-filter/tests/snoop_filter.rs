//! The example program on this machine and on a simulated one.

use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_snoop-filter"));
    program.env_remove("PACMAN_MACHINE").args(arguments).output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// The lines of trials: two times and the text of the fills.
fn trials(output: &str) -> Vec<(f64, f64, String)> {
    let lines = output.lines().skip_while(|line| !line.starts_with("trial "));
    let rows = lines.skip(1).take_while(|line| line.starts_with(' '));
    rows.map(|line| {
        let words: Vec<_> = line.split_whitespace().collect();
        (words[1].parse().unwrap(), words[2].parse().unwrap(), words[3..].join(" "))
    })
    .collect()
}

const SMALL: [&str; 6] = ["--kilobytes", "64", "--passes", "200", "--trials", "3"];

#[test]
fn it_times_each_trial_and_says_why_it_does_not_count() {
    let output = run(&SMALL);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
    let trials = trials(&out);
    assert_eq!(trials.len(), 3, "{out}");
    for (fastest, slowest, fills) in &trials {
        assert!(*fastest > 0.0 && fastest <= slowest, "{out}");
        if fills == "not counted" {
            assert_eq!(err.lines().count(), 1, "{err}");
            let start = "snoop-filter: times only, L2 fills are not counted: ";
            assert!(err.starts_with(start) && err.len() > start.len() + 20, "{err}");
        } else {
            assert!(fills.ends_with(" a line read") && err.is_empty(), "{out}{err}");
        }
    }
    assert!(out.contains("the slowest trial took "), "{out}");
}

#[test]
fn it_counts_the_fills_of_each_core_of_a_simulated_machine() {
    let output = run(&[&SMALL[..], &["--machine", "skylake"]].concat());
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
    assert!(out.contains("L2_LINES_IN.ALL"), "{out}");
    let fills = |out: &str| -> Vec<f64> {
        let rows = trials(out).into_iter();
        rows.map(|(_, _, fills)| fills.trim_end_matches(" a line read").parse().unwrap()).collect()
    };
    // The simulated threads fill no L2, and the report says so.
    assert_eq!(fills(&out), [0.0; 3]);
    assert!(err.contains("L2_LINES_IN.ALL stayed at 0"), "{err}");
    let output = run(&[&SMALL[..], &["--machine", "skylake", "--event", "INSTRUCTIONS"]].concat());
    let counts = fills(&text(&output.stdout));
    assert!(counts.len() == 3 && counts.iter().all(|count| *count > 0.0), "{counts:?}");
}

#[test]
fn bad_options_are_one_line() {
    for (arguments, problem) in [
        (&["--trials", "0"][..], "is not a number from 1"),
        (&["--trial", "1"], "no option"),
        (&["--passes"], "needs a value"),
        (&["--event", "NO_SUCH_EVENT", "--machine", "skylake"], "NO_SUCH_EVENT"),
    ] {
        let output = run(arguments);
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(err.lines().count() == 1 && err.contains(problem), "{arguments:?}: {err}");
    }
}
