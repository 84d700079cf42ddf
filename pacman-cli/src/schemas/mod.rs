//! The JSON Schemas in docs/schemas and the tables of docs/output.md, from the types that are written.
//!
//! Only tests compile this module, so that the command carries no schema. It writes the files where
//! `BLESS` is set: `BLESS=1 cargo test -p pacman-cli --lib schemas`.

mod either;
pub(crate) mod foreign;
mod format;
mod session;
mod table;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

use self::format::Format;
pub(crate) use self::format::words_of_skipped_fields;
use crate::{budget, compare, doctor, events, model, remembered, run, smt, stat, validate};

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
        Format::of::<model::EvaluateDocument>(
            "evaluate",
            "Quality of predictors (pacman-pmu evaluate --json)",
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
        Format::of::<model::PredictDocument>("predict", "Prediction (pacman-pmu predict --json)"),
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
        Format::of::<model::Summary>("train", "A trained model (pacman-pmu train --json)"),
        Format::of::<validate::Document>(
            "validate",
            "Validation of counters (pacman-pmu validate --json)",
        ),
    ]
}

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs")
}

fn read(file: &str) -> String {
    let path = docs().join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Compares a file with its text, or writes it.
fn hold(file: &str, text: &str) {
    if env::var_os("BLESS").is_some() {
        let path = docs().join(file);
        fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    assert!(
        read(file) == text,
        "docs/{file} is not that of the types; BLESS=1 cargo test -p pacman-cli --lib schemas \
         writes it"
    );
}

#[test]
fn the_schemas_are_those_of_the_types() {
    for format in formats() {
        hold(&format.file(), &format.text());
    }
}

#[test]
fn every_schema_has_a_type() {
    let known: BTreeSet<String> = formats().iter().map(Format::file).collect();
    let files = fs::read_dir(docs().join("schemas")).expect("a folder");
    let files = files.map(|file| file.expect("a file").file_name());
    let files: BTreeSet<String> =
        files.map(|name| format!("schemas/{}", name.to_string_lossy())).collect();
    assert_eq!(files, known);
}

#[test]
fn the_page_has_the_tables_of_the_types() {
    let mut page = read("output.md");
    for format in formats() {
        assert!(page.contains(&format!("({})", format.file())), "no link to {}", format.file());
        let begin = format!("<!-- members of {} -->\n", format.name);
        let (before, rest) =
            page.split_once(&begin).unwrap_or_else(|| panic!("output.md has no {begin}"));
        let (_, after) = rest.split_once(END).unwrap_or_else(|| panic!("{begin} has no end"));
        let tables = table::tables(&format.schema);
        page = format!("{before}{begin}\n{tables}\n{END}{after}");
    }
    hold("output.md", &page);
}

/// The end of the tables of a document in the page.
const END: &str = "<!-- end of members -->\n";
