//! `run --overhead`: short regions are observed now and then, and counted always.

use std::path::Path;

use super::scratch::Scratch;
use super::{pacman_pmu, text};

const SOURCE: &str = include_str!("overhead/tiny.c");

/// A region of the text report.
#[derive(Debug)]
struct Line {
    seconds: f64,
    /// The standard error as a part of the time, if the time is estimated.
    error: Option<f64>,
    executions: String,
}

/// A run: the seconds that the program measured, the report's lines and the whole report.
fn run(program: &Path, arguments: &[&str]) -> (f64, Vec<Line>, String) {
    let mut command = pacman_pmu(&[&["run"], arguments].concat());
    let answer = command.arg("--").arg(program).env("OMP_NUM_THREADS", "1").output();
    let answer = answer.expect("it runs");
    let report = text(&answer.stderr).to_owned();
    assert!(answer.status.success(), "{report}");
    let known = text(&answer.stdout).trim().parse().expect("seconds");
    (known, report.lines().filter_map(line).collect(), report)
}

/// `144 ms ±0.5%  17.5  100,000  1.2 µs …`
fn line(text: &str) -> Option<Line> {
    let mut words = text.split_whitespace().peekable();
    let value: f64 = words.next()?.parse().ok()?;
    let unit = match words.next()? {
        "s" => 1.0,
        "ms" => 1e-3,
        "µs" => 1e-6,
        _ => return None,
    };
    let error = words.next_if(|word| word.starts_with('±')).map(|word| {
        let percent = word.trim_start_matches('±').trim_end_matches('%');
        percent.parse::<f64>().expect("a percentage") / 100.0
    });
    let executions = words.nth(1)?.to_owned();
    Some(Line { seconds: value * unit, error, executions })
}

#[test]
#[ignore = "observed executions take longer than those that are skipped, in builds without optimisation"]
fn tiny_regions_are_counted_exactly_and_timed_within_the_stated_error() {
    for compiler in ["gcc", "clang"] {
        let scratch = Scratch::new();
        let Some(program) = scratch.compile(compiler, &["-O1", "-fopenmp"], SOURCE) else {
            continue;
        };
        // Another process may slow down the executions of a sample.
        let is_within = (0..3).any(|_| {
            let (known, lines, report) = run(&program, &["--overhead", "1"]);
            let [tiny, rare] = &lines[..] else { panic!("two regions: {report}") };
            assert_eq!((&*tiny.executions, &*rare.executions), ("100,000", "20"), "{report}");
            let error = tiny.error.expect("an estimate");
            assert!(report.contains(" executions (--overhead)"), "{report}");
            assert!(error < 0.1, "too few executions were observed: {report}");
            // The region's time includes the start of the team and the program's clock.
            let start = 1.5e-6 * 1e5;
            let allowed = 4.0 * error * tiny.seconds;
            let is_within =
                known - allowed <= tiny.seconds && tiny.seconds <= known + allowed + start;
            eprintln!("{compiler}: {} s of {known} s, {error}", tiny.seconds);
            is_within
        });
        assert!(is_within, "{compiler}: three estimates off by more than four standard errors");
    }
}

#[test]
fn a_budget_of_all_observes_every_execution() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("gcc", &["-O1", "-fopenmp"], SOURCE) else { return };
    let (_, lines, report) = run(&program, &["--overhead", "100"]);
    assert!(lines.iter().all(|line| line.error.is_none()), "{report}");
    assert_eq!(lines[0].executions, "100,000");
    for (arguments, why) in [
        (&["--overhead", "0"][..], "the overhead must be from 0.0001 to 100 percent"),
        (&["--overhead", "2", "--adapt"], "cannot be used with"),
        (&["--overhead", "2", "--energy"], "cannot be used with"),
    ] {
        let answer = pacman_pmu(&["run"]).args(arguments).args(["--", "true"]).output();
        let answer = answer.expect("it runs");
        assert_eq!(answer.status.code(), Some(2), "{arguments:?}");
        assert!(text(&answer.stderr).contains(why), "{}", text(&answer.stderr));
    }
}
