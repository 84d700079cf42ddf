//! The JSON Schemas of reports in docs/schemas and their tables in docs/output.md, from the types that are written.
//!
//! Only tests compile this module, so that the command carries no schema. It writes the files where
//! `BLESS` is set: `BLESS=1 cargo test -p pacman-report --lib schemas`.

pub(crate) mod foreign;
mod format;
mod held;
mod help;
mod session;
pub(crate) mod states;
mod table;

use self::format::Format;
use crate::{compare, run, stat};

#[test]
fn the_schemas_and_the_tables_are_those_of_the_types() {
    let formats = [
        Format::of::<compare::Document>("compare", "Comparison of runs (pacman-compare)"),
        Format::of::<compare::HistoryDocument>(
            "history",
            "History of runs (pacman-pmu report REPORT.json… --json)",
        ),
        Format::of::<run::Written>("run", "Report of an OpenMP program (pacman-run)"),
        Format::of::<session::Report>("report", "Report of a session (pacman-report)"),
        Format::of::<stat::Whole>(
            "stat",
            "Counts of a command (pacman-stat); one document, or one for each interval",
        ),
    ];
    held::hold(&formats);
    let [compare, history, run, _, stat] = &formats;
    help::hold("pacman-cli", compare, 0);
    help::hold("pacman-cli", history, 1);
    help::hold("pacman-cli", run, 1);
    help::hold("pacman-cli", stat, 2);
    held::hold_file("../pacman-cli/src/help/run-csv.txt", &csv());
}

/// The columns of `run`'s CSV for its help.
fn csv() -> String {
    let names = run::columns().join(",");
    let lines = help::wrapped(&names, ',', 96).join("\n  ");
    format!(
        "CSV, a row for each thread of a region or phase:\n  {lines}\n  and columns for each event, such as CYCLES \
         [cycles], or CYCLES? [cycles] if its counts may be\n  wrong. Absent values are empty."
    )
}
