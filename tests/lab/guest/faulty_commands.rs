//! Every system call about counters failing in turn, under `stat` and `run`: the program prints and ends as it does alone.

use pacman_core::Result;

use crate::doorbell::ring;
use crate::faults::{Ended, REPORT, Seen, everywhere, programs_stay_where_they_are, rings};

/// As `faults::run`.
pub(crate) fn run() -> Result<()> {
    programs_stay_where_they_are();
    let stat =
        ["/t/pacman-pmu", "stat", "--json", "-e", "r0151", "--", "/t/lab-guest", "ends-by-7"];
    everywhere("stat", &stat, |alone, seen| of_program(alone, seen, stat_counts));
    let run =
        ["/t/pacman-pmu", "run", "-e", "INSTRUCTIONS,r0151", "-o", REPORT, "--", "/t/arm-teams"];
    everywhere("run", &run, |alone, seen| of_program(alone, seen, run_counts));
    Ok(())
}

/// A command: its program prints and ends as alone, or was not begun, and a line says why. Then `counts` has the last
/// word: right, refused with a reason, or neither.
fn of_program(alone: &Seen, seen: &Seen, counts: impl Fn(&Seen) -> Option<Ended>) -> Option<Ended> {
    let said = seen.complained.lines().any(|line| line.starts_with("pacman"));
    if seen.printed.is_empty() {
        let one_line = said && seen.complained.lines().count() == 1;
        let good = one_line && matches!(seen.status, Some(1 | 2 | 4 | 126));
        return good.then_some(Ended { right: 0, refused: 1 });
    }
    let good = (seen.status, &seen.printed) == (alone.status, &alone.printed);
    good.then(|| counts(seen))?
}

/// The thread and the total have the rings, or a row has a note, or a line says why there is no row.
fn stat_counts(seen: &Seen) -> Option<Ended> {
    let answer: String = seen.complained.split_whitespace().collect();
    let right = usize::from(answer.matches(&format!("\"counts\":[{}]", rings(1))).count() == 2);
    let has_null = answer.contains("\"counts\":null") && answer.contains("\"notes\":[\"");
    let refused = has_null || seen.complained.lines().any(|line| line.starts_with("pacman"));
    (right == 1 || refused).then_some(Ended { right, refused: 1 - right })
}

/// Each of three threads has its rings of two executions, or null and then a reason.
fn run_counts(seen: &Seen) -> Option<Ended> {
    const THREADS: usize = 3;
    let said = seen.report.contains("\"notes\":[\"") || !seen.complained.is_empty();
    let threads = seen.report.split_once("\"threads\":{\"thread\":");
    let counts = threads.and_then(|(_, rest)| rest.split_once("\"figures\":{\"counts\":{"));
    let event = counts.and_then(|(_, rest)| rest.split_once('}')?.0.split_once("\"r151\":"));
    let both = (2 * rings(1)).to_string();
    // A list if they differ, else one number for all.
    let right = match event.map(|(_, value)| value) {
        None | Some("null") => 0,
        Some(value) => match value.strip_prefix('[').and_then(|list| list.split_once(']')) {
            None => THREADS * usize::from(value == both),
            Some((list, _)) => {
                let known = |value: &&str| *value == both || *value == "null";
                let wrong = list.split(',').filter(|value| !known(value)).count();
                if wrong > 0 {
                    return None;
                }
                list.split(',').filter(|value| *value == both).count()
            }
        },
    };
    (right == THREADS || said).then_some(Ended { right, refused: THREADS - right })
}

/// A program of `stat`.
pub(crate) fn ends_by_7() -> Result<()> {
    ring(0x151, rings(1));
    println!("sum 12");
    std::process::exit(7)
}
