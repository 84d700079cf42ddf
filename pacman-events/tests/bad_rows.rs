//! A bad row fails the build with `file:line: reason`: the build's own reader, fed with
//! faults.

#[allow(dead_code)]
#[path = "../build/events.rs"]
mod events;
#[path = "../build/fields.rs"]
mod fields;
#[allow(dead_code)]
#[path = "../build/models.rs"]
mod models;
#[allow(dead_code)]
#[path = "../build/tsv.rs"]
mod tsv;

use std::path::{Path, PathBuf};
use std::{env, fs};

/// A copy of the data with one file's text changed.
struct Copy(PathBuf);

impl Copy {
    fn with(name: &str, file: &str, change: impl Fn(&str) -> String) -> Self {
        let copy = env::temp_dir().join(format!("pacman-events-{}-{name}", std::process::id()));
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
        for directory in ["", "intel", "amd", "arm", "niagara", "power", "s390x"] {
            fs::create_dir_all(copy.join(directory)).expect("a directory");
            for entry in fs::read_dir(data.join(directory)).expect("the data") {
                let entry = entry.expect("an entry");
                if entry.path().is_file() {
                    fs::copy(entry.path(), copy.join(directory).join(entry.file_name()))
                        .expect("a copy");
                }
            }
        }
        let text = fs::read_to_string(data.join(file)).expect("the file");
        let changed = change(&text);
        assert_ne!(text, changed, "the change applies");
        fs::write(copy.join(file), changed).expect("the change");
        Copy(copy)
    }

    /// The message of the build.
    fn fault(&self) -> String {
        let fault =
            models::read(&self.0).and_then(|models| events::read(&self.0, &models).map(drop));
        fault.expect_err("a fault").to_string()
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).expect("own files");
    }
}

/// Line 3 of Skylake's table is its first event.
fn skl_with(name: &str, from: &str, to: &str) -> String {
    let change = |text: &str| {
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines[2] = lines[2].replacen(from, to, 1);
        lines.join("\n")
    };
    Copy::with(name, "intel/skl.tsv", change).fault()
}

#[test]
fn a_bad_row_is_named_by_file_line_and_reason() {
    let first =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("data/intel/skl.tsv"))
            .expect("the table")
            .lines()
            .nth(2)
            .expect("an event")
            .to_owned();
    let cells: Vec<_> = first.split('\t').collect();
    let place = "data/intel/skl.tsv:3: ";
    for (name, from, to, reason) in [
        ("select", cells[1], "0xzz", "select is \"0xzz\", not CONFIG or CONFIG@MSR|…"),
        ("counter", "\t0xf\t", "\t0x1ff\t", "counters 0x1ff has counters skl lacks"),
        ("none", "\t0xf\t0xff\t", "\t-\t-\t", "no counter can count it"),
        (
            "order",
            "\t0xf\t0xff\t",
            "\t0xf\t0x1\t",
            "counters with SMT on that are closed with SMT off",
        ),
        ("cells", "\t-\t-", "\t-", "7 cells where 8 are due"),
        ("flag", "\t-\t-\t-\t-", "\t-\t-\twrong\t-", "no flag wrong"),
        ("value", "\t-\t-\t-\t-", "\t-\t0x1\t-\t-", "an extra register and its value go together"),
        ("fixed", "\t-\t-\t-\t-", "\t9\t-\t-\t-", "skl has no fixed counter 9"),
    ] {
        assert_eq!(skl_with(name, from, to), format!("{place}{reason}"), "{first}");
    }
}

#[test]
fn a_name_twice_is_found_under_the_folding_of_the_lookup() {
    let twice = |text: &str| {
        let first = text.lines().nth(2).expect("an event");
        format!("{text}{}\n", first.to_lowercase().replacen('.', ":", 1))
    };
    let copy = Copy::with("twice", "intel/skl.tsv", twice);
    assert!(copy.fault().ends_with("stands twice in the table"), "{}", copy.fault());
}

#[test]
fn a_correction_that_no_longer_applies_is_a_fault() {
    let stale = |text: &str| text.replacen("snb\tUOPS_EXECUTED", "snb\tUOPS_VANISHED", 1);
    let copy = Copy::with("stale", "corrections.tsv", stale);
    assert!(copy.fault().ends_with(": corrects no row"), "{}", copy.fault());
}

#[test]
fn a_processor_without_its_table_is_a_fault() {
    let lost = |text: &str| text.replacen("\tskl\n", "\tsky\n", 1);
    let copy = Copy::with("lost", "cpuid.tsv", lost);
    assert!(copy.fault().starts_with("data/cpuid.tsv:"), "{}", copy.fault());
    assert!(copy.fault().ends_with(": no table sky"), "{}", copy.fault());
}

#[test]
fn a_field_is_of_an_event_that_the_table_has() {
    for (name, from, to, reason) in [
        ("field-event", "RETIRED_INT_OPS\t", "RETIRED_INT_OPTS\t", "has no unit masks of one code"),
        ("field-table", "zen4,zen5", "zen44,zen5", "no table zen44"),
        ("field-bits", "0xe000\t0x0", "0x1e000\t0x0", "not of the unit mask"),
        ("field-empty", "0xe000\t0x0", "0xe000\t0x0100", "empty is not of the field"),
        ("field-holds", "0x0\tone", "0x0\ttwo", "not one of bits, one"),
    ] {
        let copy = Copy::with(name, "fields.tsv", |text| text.replacen(from, to, 1));
        let models = models::read(&copy.0).expect("good models");
        let events = events::read(&copy.0, &models).expect("good events");
        let fault = fields::to_rust(&copy.0, &models, &events).expect_err(name).to_string();
        assert!(fault.starts_with("data/fields.tsv:") && fault.contains(reason), "{fault}");
    }
}
