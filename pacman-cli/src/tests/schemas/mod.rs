//! The JSON Schemas in docs/schemas and the tables of docs/output.md, from the types that are written.
//!
//! Only tests compile this module, so that the command carries no schema. It writes the files where
//! `BLESS` is set: `BLESS=1 cargo test -p pacman-cli --lib schemas`.

mod either;
pub(crate) mod foreign;
#[path = "../../../../pacman-report/src/tests/schemas/format.rs"]
mod format;
#[path = "../../../../pacman-report/src/tests/schemas/held.rs"]
mod held;
#[path = "../../../../pacman-report/src/tests/schemas/help.rs"]
mod help;
#[path = "../../../../pacman-report/src/tests/schemas/table.rs"]
mod table;

use std::collections::BTreeSet;
use std::fs;

use schemars::Schema;
use serde_json::{Value, json};

use self::format::Format;
use crate::{budget, doctor, events, remembered, smt, validate};

/// The documents whose types are in this package.
fn formats() -> Vec<Format> {
    vec![
        Format::of::<budget::Document>("budget", "Stall budget (pacman-pmu budget --json)"),
        Format::of::<doctor::Document>("doctor", "Diagnosis (pacman-pmu doctor --json)"),
        Format::of::<Vec<events::Answer>>(
            "encode",
            "Encodings of events (pacman-pmu encode --json)",
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
        Format::of::<smt::Document>("smt", "SMT activity (pacman-pmu smt --json)"),
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

/// Documents whose types are in `pacman-report`.
const OF_REPORTS: [&str; 5] = ["compare", "history", "report", "run", "stat"];

/// Serde writes a variant whose only field is skipped as a word, and schemars takes it for an object.
pub(crate) fn words_of_skipped_fields(schema: &mut Schema) {
    let Some(Value::Array(variants)) = schema.get_mut("oneOf") else {
        panic!("not an enumeration")
    };
    for variant in variants.iter_mut().filter(|variant| variant["type"] == "object") {
        let word = variant["required"][0].clone();
        let text = variant["description"].clone();
        *variant = json!({"description": text, "type": "string", "const": word});
    }
}

#[test]
fn the_schemas_and_the_tables_are_those_of_the_types() {
    let formats = formats();
    held::hold(&formats);
    // The manual alone has the others.
    let in_help = ["budget", "doctor", "memory", "metrics", "smt", "validate"];
    for format in formats.iter().filter(|format| in_help.contains(&format.name)) {
        help::hold("pacman-cli", format, 2);
    }
}

#[test]
fn every_schema_has_a_type() {
    let own = formats().iter().map(|format| format.name).collect::<Vec<_>>();
    let known: BTreeSet<String> = own
        .into_iter()
        .chain(OF_TRAINING)
        .chain(OF_REPORTS)
        .map(|name| format!("{name}.schema.json"))
        .collect();
    let files = fs::read_dir(held::docs().join("schemas")).expect("a folder");
    let files = files.map(|file| file.expect("a file").file_name());
    let files: BTreeSet<String> = files.map(|name| name.to_string_lossy().into_owned()).collect();
    assert_eq!(files, known);
}
