//! Counter validation where counters are known: the lab's instructions are exact, its
//! cycles three to an instruction, and most other events silent.

use serde_json::Value;

use super::arm::{self, NEOVERSE_N1, OLYMPUS};
use super::boots::{self, HASWELL, Options, PENTIUM_4, ZEN};

/// The relative error up to which `validate` calls a count right.
const TOLERANCE: f64 = 0.05;

/// Arguments of `validate`: what must come out on every processor of the lab.
pub(crate) const EVERYWHERE: &str = "--repeat 9 -e \
    INSTRUCTIONS,CYCLES,BRANCHES,page-faults,context-switches,cpu-migrations";
/// Exact counts on a Pentium 4 if nobody disturbs it.
pub(crate) const BETWEEN_SWITCHES: &str = "--repeat 20 -e \
    INSTRUCTIONS@instructions,BRANCHES,page-faults,context-switches,cpu-migrations";
/// Counts that switches may disturb.
pub(crate) const SWITCHED: &str = "--repeat 20 -e INSTRUCTIONS";
/// The same by a driver that is not trusted.
pub(crate) const SWITCHED_AND_TRUSTED: &str = "--trust-driver --repeat 20 -e INSTRUCTIONS";
/// Checks that need no hardware, and those that do.
pub(crate) const WITHOUT_PMU: &str =
    "--repeat 5 -e INSTRUCTIONS,STORES,page-faults,context-switches";

pub(crate) fn line(arguments: &str) -> String {
    format!("/t/pacman-pmu validate --json {arguments} 2>/dev/null")
}

/// The same with busy neighbours on both contexts.
pub(crate) fn busy_line(arguments: &str) -> String {
    const LOOP: &str = "(while :; do :; done) &";
    let validate = line(arguments);
    format!("{LOOP} one=$!; {LOOP} two=$!; {validate}; status=$?; kill $one $two; exit $status")
}

/// Validates on a machine by a [`line`]; the answer is the exit status and the list of
/// events. `None` without a lab.
fn validate(cpu: &str, options: Options, line: &str) -> Option<(i32, Vec<Value>)> {
    let is_arm = options.iter().any(|option| arm::MODELS.contains(option));
    let boots::Said { status, text } =
        if is_arm { arm::ended(options, line) } else { boots::said(options, line) }?;
    let report: Value = serde_json::from_str(text).unwrap_or_else(|e| panic!("{e} in:\n{text}"));
    for event in report["events"].as_array().expect("a list") {
        let word = |key: &str| event[key].as_str().expect("a word");
        println!("lab {cpu}: {} on {}: {}", word("event"), word("kernel"), word("text"));
    }
    assert_eq!(report["exit_status"], *status);
    Some((*status, report["events"].as_array().expect("a list").clone()))
}

fn verdict<'a>(events: &'a [Value], event: &str, kernel: &str) -> &'a Value {
    let mut found = events.iter().filter(|row| row["event"] == event && row["kernel"] == kernel);
    let row = found.next().unwrap_or_else(|| panic!("no {event} on {kernel} in {events:#?}"));
    assert!(found.next().is_none(), "{event} on {kernel} twice");
    row
}

/// Events that the kernel counts without a PMU, and the loops that know them.
const SOFTWARE: [(&str, &str); 3] = [
    ("page-faults", "first-touches"),
    ("context-switches", "hand-overs"),
    ("cpu-migrations", "migrations"),
];

/// The results on every processor of the lab.
fn counts_what_the_lab_counts(cpu: &str, options: Options, native: &str) {
    let Some((status, events)) = validate(cpu, options, &line(EVERYWHERE)) else { return };
    let instructions =
        [("INSTRUCTIONS", "instructions"), ("INSTRUCTIONS", "switched-instructions")];
    for (event, kernel) in instructions.into_iter().chain(SOFTWARE) {
        let row = verdict(&events, event, kernel);
        assert_eq!(row["verdict"], "exact", "{row:#}");
    }
    let instructions = verdict(&events, "INSTRUCTIONS", "instructions");
    let expression = instructions["native"]["expression"].as_str().expect("hardware");
    assert!(expression.starts_with(native), "{expression}");
    assert_eq!(instructions["read_path"], "rdpmc");
    // Three cycles an instruction, 66 instructions for 64 to 67 cycles of a real core.
    let cycles = verdict(&events, "CYCLES", "dependent-adds");
    assert_eq!(cycles["verdict"], "over", "{cycles:#}");
    let factor = cycles["factor"].as_f64().expect("a factor");
    assert!((factor - 3.0 * 66.0 / 65.5).abs() < 0.001, "{factor}");
    // Nobody rings for branches.
    let branches = verdict(&events, "BRANCHES", "branches");
    assert_eq!(
        (&branches["verdict"], &branches["text"]),
        (&"unusable".into(), &"unusable: reads 0".into())
    );
    assert_eq!(status, 1, "an event that cannot be used");
}

#[test]
fn haswell_is_exact_where_it_counts_and_silent_elsewhere() {
    counts_what_the_lab_counts("core", HASWELL, "INST_RETIRED.ANY (rc0)");
}

#[test]
fn zen_is_exact_where_it_counts_and_silent_elsewhere() {
    counts_what_the_lab_counts("amd", ZEN, "RETIRED_INSTRUCTIONS (rc0)");
}

/// The known loops are x86's assembly, and what the kernel counts itself is exact.
#[test]
fn on_arm_software_is_exact_and_hardware_has_a_reason() {
    for (cpu, options) in [("neoverse-n1", NEOVERSE_N1), ("olympus", OLYMPUS)] {
        let Some((status, events)) = validate(cpu, options, &line(EVERYWHERE)) else { return };
        for (event, kernel) in SOFTWARE {
            assert_eq!(verdict(&events, event, kernel)["verdict"], "exact");
        }
        for (event, kernel) in [
            ("INSTRUCTIONS", "instructions"),
            ("INSTRUCTIONS", "switched-instructions"),
            ("CYCLES", "dependent-adds"),
            ("BRANCHES", "branches"),
        ] {
            let row = verdict(&events, event, kernel);
            assert_eq!(row["verdict"], "not-countable", "{row:#}");
            assert!(row["text"].as_str().is_some_and(|text| text.contains("x86-64 assembly")));
        }
        assert_eq!(status, 0, "what could be counted can be used");
    }
}

#[test]
fn a_pentium_4_is_exact_between_switches() {
    let Some((_, events)) = validate("p4", PENTIUM_4, &line(BETWEEN_SWITCHES)) else { return };
    for (event, kernel) in SOFTWARE {
        let row = verdict(&events, event, kernel);
        assert_eq!(row["verdict"], "exact", "{row:#}");
    }
    let instructions = verdict(&events, "INSTRUCTIONS", "instructions");
    let expression = instructions["native"]["expression"].as_str().expect("hardware");
    assert!(expression.starts_with("instr_retired:NBOGUSNTAG"), "{expression}");
    // By registers, which no switch disturbs; only a program on the same context would.
    let samples = instructions["samples"].as_array().expect("a list");
    let right = samples.iter().filter(|sample| sample["counted"] == 1_000_000).count();
    println!("lab p4: {right} of 20 repeats exact");
    assert_eq!((right, &instructions["doubt"]), (20, &Value::Null), "{instructions:#}");
    assert_eq!(verdict(&events, "BRANCHES", "branches")["verdict"], "unusable");
}

#[test]
fn haswell_s_driver_keeps_counts_across_switches() {
    let Some((status, events)) = validate("core", HASWELL, &busy_line(SWITCHED)) else {
        return;
    };
    for kernel in ["instructions", "switched-instructions"] {
        let row = verdict(&events, "INSTRUCTIONS", kernel);
        assert!(["exact", "within"].contains(&row["verdict"].as_str().unwrap()), "{row:#}");
    }
    assert_eq!(status, 0);
}

#[test]
fn the_pentium_4_s_driver_does_not() {
    // It writes a counter's former start value after a switch, so that what the slice
    // before has counted is lost, or the counter's turn is missed. Where the switches fall
    // is chance: a kernel may meet none and be exact, or lose the half before its own switch
    // in every repeat, which is a factor. What it must not do is to pass for right.
    let Some((status, events)) = validate("p4", PENTIUM_4, &busy_line(SWITCHED_AND_TRUSTED)) else {
        return;
    };
    let mut usable = true;
    for kernel in ["instructions", "switched-instructions"] {
        let row = verdict(&events, "INSTRUCTIONS", kernel);
        let samples = row["samples"].as_array().expect("a list");
        assert_eq!(samples.len(), 20, "{row:#}");
        assert!(row["doubt"].as_str().is_some_and(|doubt| doubt.contains("stale period")));
        let counted = samples.iter().map(|sample| sample["counted"].as_i64().expect("a count"));
        let off = counted.map(|counted| (counted - 1_000_000).unsigned_abs());
        let wrong = off.filter(|&off| off > (1e6 * TOLERANCE) as u64).count();
        println!("lab p4, Linux's driver among busy neighbours, {kernel}: {wrong} of 20 wrong");
        let called_right = ["exact", "within"].contains(&row["verdict"].as_str().expect("a word"));
        assert_eq!(called_right, wrong == 0, "{row:#}");
        usable &= row["verdict"] != "unusable";
    }
    assert_eq!(status == 0, usable, "{events:#?}");
}

#[test]
fn without_a_pmu_hardware_has_a_reason_and_software_is_exact() {
    let Some((status, events)) = validate("none", boots::WITHOUT_PMU, &line(WITHOUT_PMU)) else {
        return;
    };
    for row in events.iter().filter(|row| row["kernel"] != "first-touches") {
        if row["event"] == "context-switches" {
            assert_eq!(row["verdict"], "exact", "{row:#}");
        } else {
            assert_eq!(row["verdict"], "not-countable", "{row:#}");
            let why = row["text"].as_str().expect("a reason");
            assert!(why.starts_with("cannot ") && why.contains(": "), "{row:#}");
        }
    }
    assert_eq!(verdict(&events, "page-faults", "first-touches")["verdict"], "exact");
    assert_eq!(status, 0, "what could be counted can be used");
}
