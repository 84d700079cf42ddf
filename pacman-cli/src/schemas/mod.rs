//! The JSON Schemas in docs/schemas and the tables of docs/output.md, from the types that are written.
//!
//! Only tests compile this module, so that the command carries no schema. It writes the files where
//! `BLESS` is set: `BLESS=1 cargo test -p pacman-cli --lib schemas`.

mod either;
pub(crate) mod foreign;
mod format;
mod held;
mod session;
mod table;

use std::collections::BTreeSet;
use std::fs;

use self::format::Format;
pub(crate) use self::format::words_of_skipped_fields;
use crate::{budget, compare, doctor, events, remembered, run, smt, stat, validate};

/// All documents with a schema.
fn formats() -> Vec<Format> {
    vec![
        Format::of::<budget::Document>("budget", "Stall budget (pacman-pmu budget --json)"),
        Format::of::<compare::Document>("compare", "Comparison of runs (pacman-compare)"),
        Format::of::<doctor::Document>("doctor", "Diagnosis (pacman-pmu doctor --json)"),
        Format::of::<Vec<events::Answer>>(
            "encode",
            "Encodings of events (pacman-pmu encode --json)",
        ),
        Format::of::<compare::HistoryDocument>(
            "history",
            "History of runs (pacman-pmu report REPORT.json… --json)",
        ),
        Format::of::<Vec<either::Listed>>(
            "list",
            "Events of a processor, or tables (pacman-pmu list --json)",
        ),
        Format::of::<remembered::ListDocument>(
            "memory",
            "Measurements of adaptation in earlier runs (pacman-pmu memory list --json)",
        ),
        Format::of::<either::Metrics>(
            "metrics",
            "Metrics (pacman-pmu metrics --json): the list, or values by --counts",
        ),
        Format::of::<either::Plan>(
            "plan",
            "Counters of events on the threads of a core (pacman-pmu plan --json)",
        ),
        Format::of::<run::Written>("run", "Report of an OpenMP program (pacman-run)"),
        Format::of::<smt::Document>("smt", "SMT activity (pacman-pmu smt --json)"),
        Format::of::<session::Report>("report", "Report of a session (pacman-report)"),
        Format::of::<stat::Whole>(
            "stat",
            "Counts of a command (pacman-stat); one document, or one for each interval",
        ),
        Format::of::<either::Topology>(
            "topo",
            "Topology (pacman-pmu topo --json), or tiles of a die (topo --tiles --json)",
        ),
        Format::of::<validate::Document>(
            "validate",
            "Validation of counters (pacman-pmu validate --json)",
        ),
    ]
}

/// Documents whose types are in `pacman-train`.
const OF_TRAINING: [&str; 3] = ["evaluate", "predict", "train"];

#[test]
fn the_schemas_and_the_tables_are_those_of_the_types() {
    held::hold(&formats());
}

#[test]
fn every_schema_has_a_type() {
    let own = formats().iter().map(|format| format.name).collect::<Vec<_>>();
    let known: BTreeSet<String> =
        own.into_iter().chain(OF_TRAINING).map(|name| format!("{name}.schema.json")).collect();
    let files = fs::read_dir(held::docs().join("schemas")).expect("a folder");
    let files = files.map(|file| file.expect("a file").file_name());
    let files: BTreeSet<String> = files.map(|name| name.to_string_lossy().into_owned()).collect();
    assert_eq!(files, known);
}
