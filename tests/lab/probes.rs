//! The lab's own C programs, which hold its emulator against Linux's drivers.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use super::boots::{self, Options};
use super::processors::PROCESSORS;

/// Haswell with narrow counters: the kernel counts on by interrupts.
pub(crate) const NARROW: [Options; 2] =
    [&["--model", "haswell", "--width", "32"], &["--model", "haswell", "--width", "40"]];
pub(crate) const NARROW_JOB: &str = "/t/overflow narrow";

/// All probes, by the names of their files.
pub(crate) const PROBES: [&str; 8] =
    ["boot", "topdown", "topdown_page", "hybrid", "energy", "overflow", "unplug", "netburst_stale"];

/// The job of a probe.
pub(crate) fn job(probe: &str) -> String {
    format!("/t/{probe} ")
}

/// A probe's file, compiled once.
///
/// # Panics
/// If it does not compile.
pub(crate) fn program(probe: &'static str) -> PathBuf {
    compiled_by("gcc", probe)
}

/// As [`program`], by another compiler.
pub(crate) fn compiled_by(gcc: &str, probe: &'static str) -> PathBuf {
    // Another machine may be copying the file: it must not be written again.
    static COMPILED: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
    let mut compiled = COMPILED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("probes");
    std::fs::create_dir_all(&folder).expect("cargo's own directory can be written to");
    let program = folder.join(probe);
    if compiled.contains(probe) {
        return program;
    }
    let source = format!("{}/../lab/probes/{probe}.c", env!("CARGO_MANIFEST_DIR"));
    // Static, so that the guest needs none of the libraries.
    let mut compile = Command::new(gcc);
    compile.args(["-O2", "-Wall", "-static", "-pthread", &source, "-o"]).arg(&program);
    assert!(compile.status().is_ok_and(|status| status.success()), "{source} does not compile");
    compiled.insert(probe);
    program
}

fn holds(model: &str, probe: &str) {
    let processor = PROCESSORS.iter().find(|it| it.options[1] == model).expect("a line of it");
    let Some(said) = boots::said(processor.options, &job(probe)) else { return };
    assert_eq!(said.status, 0, "{probe} on {model}:\n{}", said.text);
}

#[test]
fn top_down_fractions_come_out_by_read_and_by_rdpmc() {
    for model in ["icelake", "sapphirerapids", "alderlake"] {
        holds(model, "topdown");
    }
}

#[test]
fn a_thread_that_moves_between_kinds_of_cores_loses_no_count() {
    holds("alderlake", "hybrid");
}

#[test]
fn energy_follows_the_power_that_was_set() {
    for model in ["haswell", "icelake", "zen4"] {
        holds(model, "energy");
    }
}

#[test]
fn every_period_gives_a_sample() {
    for model in ["haswell", "sapphirerapids", "zen4"] {
        holds(model, "overflow");
    }
}

#[test]
fn narrow_counters_count_past_their_width() {
    for options in NARROW {
        let Some(said) = boots::said(options, NARROW_JOB) else { return };
        assert_eq!(said.status, 0, "{options:?}:\n{}", said.text);
        let width = format!("{} bits", options[3]);
        assert!(said.text.contains(&width), "no {width:?} in:\n{}", said.text);
    }
}

#[test]
fn a_sibling_goes_offline_and_comes_back() {
    for model in ["haswell", "sapphirerapids", "zen4"] {
        holds(model, "unplug");
    }
}

/// `docs/lab-findings.md` describes the fault. An end of it here is an end of it in Debian's kernel.
#[test]
fn linux_still_starts_netburst_counters_with_a_stale_period() {
    let processor = PROCESSORS.iter().find(|it| it.options[1] == "p4").expect("a line of it");
    let Some(said) = boots::said(processor.options, &job("netburst_stale")) else { return };
    assert_eq!(said.status, 0, "{}", said.text);
    assert!(said.text.contains("FAULT SEEN"), "the fault is gone:\n{}", said.text);
    // The second event of a period, started with that very period, is right.
    assert!(said.text.contains("20 samples of 20\n"), "{}", said.text);
}

/// As above: the page of `slots` has the slots from before a sleep twice.
#[test]
fn linux_still_adds_slots_to_the_page_that_the_register_keeps() {
    let processor = PROCESSORS.iter().find(|it| it.options[1] == "icelake").expect("a line of it");
    let Some(said) = boots::said(processor.options, &job("topdown_page")) else { return };
    assert_eq!(said.status, 1, "{}", said.text);
    assert!(said.text.contains("at once: page"), "{}", said.text);
    assert!(said.text.contains("FAULT SEEN"), "the fault is gone:\n{}", said.text);
}
