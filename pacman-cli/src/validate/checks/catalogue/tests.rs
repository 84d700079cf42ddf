//! Tests of `catalogue`.

use super::*;

#[test]
fn every_kernel_has_one_name_and_an_event() {
    for id in KernelId::all() {
        assert_eq!(id.name().parse::<KernelId>().unwrap(), id);
        assert!(EVENTS.iter().any(|row| row.1 == id), "{id} is for nothing");
    }
    let mut names: Vec<&str> = NAMES.iter().map(|row| row.1).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), NAMES.len());
}

#[test]
fn defaults_are_portable_and_none_is_left_out() {
    let defaults = Check::defaults();
    assert_eq!(defaults.len(), EVENTS.len() - 3, "all but the vendors' names");
    for check in &defaults {
        assert!(Event::names().any(|name| name == check.name), "{}", check.name);
    }
}

#[test]
fn an_event_may_have_several_kernels_and_a_named_one() {
    let kernels = |list: &str| -> Vec<&str> {
        Check::parse_list(list).unwrap().iter().map(|check| check.kernel.name()).collect()
    };
    assert_eq!(kernels("task-clock"), ["cpu-time"]);
    assert_eq!(kernels("cs, page-faults"), ["hand-overs", "first-touches"]);
    assert_eq!(kernels("page-faults@hand-overs"), ["hand-overs"]);
}

#[test]
fn native_spellings_of_a_preset_have_its_kernels() {
    for (cpu, text, kernels) in [
        ("skl", "rc4", &["branches"][..]),
        ("zen3", "RETIRED_BRANCH_INSTRUCTIONS", &["branches"]),
        ("skl", "INST_RETIRED.ANY", &["instructions", "switched-instructions"]),
        ("skl", "INSTRUCTIONS:uk", &["instructions", "switched-instructions"]),
        ("skl", "BR_INST_RETIRED.NEAR_TAKEN", &["taken-branches"]),
        // The kernels run in user mode, and Linux's own work meanwhile is unknown.
        ("skl", "INSTRUCTIONS:k", &[]),
        ("skl", "MACHINE_CLEARS.COUNT", &[]),
    ] {
        let cpu = CpuModel::named(cpu).unwrap();
        let event = Event::on(cpu, text).unwrap();
        let found = known(cpu, event.name(), Some(&event));
        let names: Vec<&str> = found.iter().map(|id| id.name()).collect();
        assert_eq!(names, kernels, "{text}");
    }
}

#[test]
fn refusals_say_what_there_is() {
    for (list, line) in [
        ("major-faults", "cannot validate major-faults: no kernel knows its count; if one does"),
        ("task-clock@nothing", "cannot validate on \"nothing\": no such kernel; there are ins"),
        ("task-klock", "nearest: task-clock"),
        (" , ", "cannot count an empty list of events"),
    ] {
        let error = Check::parse_list(list).unwrap_err().to_string();
        assert!(error.contains(line), "{error}");
    }
}
