//! Pictures of known readings, commands that end in every way, and the truth on this machine.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use pacman_core::Topology;

use super::idle::{ContextClocks, IdleClocks, IdleTimes, parse};
use super::meter::{Activity, Meter};
use super::options::{MethodArg, SmtArgs, seconds};
use super::picture::{Picture, Style};
use super::source::{Basis, Source};
use super::{csv, json, smt};
use crate::error::CliError;
use crate::tests::snapshot::snapshot;
use pacman_report::document;

mod alone;
mod simulated;
mod truth;

const PLAIN: Style = Style { unicode: false, colour: false, rows: 24 };

fn args(command: &[&str]) -> SmtArgs {
    SmtArgs {
        interval: 1_000,
        method: MethodArg::Auto,
        duration: None,
        json: false,
        csv: false,
        quiet: false,
        output: None,
        command: command.iter().map(|&word| word.into()).collect(),
    }
}

fn idle_times() -> Basis {
    IdleTimes::default().basis()
}

/// Readings `seconds` after the first, with the idle seconds of CPUs 0, 1, ….
fn reading(start: Instant, seconds: u64, idle: &[f64]) -> IdleClocks {
    let clocks = |idle: &f64| ContextClocks { idle: *idle, stolen: 0.0 };
    let contexts: BTreeMap<u32, _> = (0..).zip(idle.iter().map(clocks)).collect();
    IdleClocks { at: start + Duration::from_secs(seconds), took: 0.0, contexts }
}

/// Two cores of two contexts over 20 s. On core 0 the contexts take turns. On core 1 one context is
/// always busy, and the other for a quarter of the time.
fn two_intervals() -> (Meter<IdleClocks>, [Activity; 2]) {
    let topology = Topology::synthetic("2 cores, 2 threads").unwrap();
    let start = Instant::now();
    let mut meter = Meter::begin(&topology, reading(start, 0, &[100.0, 50.0, 7.0, 7.0]));
    let first = meter.next(reading(start, 10, &[100.0, 60.0, 7.0, 12.0]));
    let second = meter.next(reading(start, 20, &[110.0, 60.0, 7.0, 22.0]));
    (meter, [first, second])
}

#[test]
fn proc_stat_is_read_by_context() {
    let text = "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 10 0 20 300 4 0 0 50 0 0\n\
                cpu12 1 2 3 400\ncpu13 1 2 3\nintr 1 2 3\ncpufreq 1 2 3 4 5\n";
    let found: Vec<_> = parse(text, 100.0).into_iter().collect();
    let clocks = |idle, stolen| ContextClocks { idle, stolen };
    assert_eq!(found, [(0, clocks(3.04, 0.5)), (12, clocks(4.0, 0.0))]);
}

#[test]
fn intervals_decide_what_the_whole_leaves_open() {
    let (meter, [first, second]) = two_intervals();
    assert_eq!(first.cores[0].split.only, [10.0, 0.0]);
    assert_eq!(second.cores[0].split.only, [0.0, 10.0]);
    assert_eq!((first.until, second.until, second.seconds()), (10.0, 20.0, 10.0));
    let whole = meter.whole();
    assert!(whole.cores.iter().all(|core| core.split.is_decided()));
    assert_eq!(whole.cores[0].split.only, [10.0, 10.0]);
    assert_eq!((whole.cores[1].split.only[0], whole.cores[1].split.shared), (15.0, 5.0));
    // Two steps of 10 ms, of 20 s.
    assert!((whole.cores[0].split.uncertainty - 0.02).abs() < 1e-9);
}

#[test]
fn bars_show_both_then_each_alone() {
    let (meter, _) = two_intervals();
    let shown = Picture::new(PLAIN).summary(&idle_times(), &meter.whole());
    snapshot("smt.txt", &shown);
}

#[test]
fn what_is_not_decided_is_shown_as_a_range() {
    let topology = Topology::synthetic("1 core, 2 threads").unwrap();
    let start = Instant::now();
    let mut meter = Meter::begin(&topology, reading(start, 0, &[0.0, 0.0]));
    let half = meter.next(reading(start, 10, &[5.0, 5.0]));
    let shown = Picture::new(PLAIN).frame(&half);
    let notes = super::picture::notes(&idle_times(), &half).join("\n");
    snapshot("smt-undecided.txt", &format!("{shown}{notes}\n"));
    let csv = csv::heading(2) + &csv::rows(&idle_times(), &half, 2);
    let expected = "until_s,core,cpus,idle,only_0,only_1,shared,uncertainty,skew_s,\
                    step_s,method\n\
                    10.000,0,0 1,0.2500,0.2500,0.2500,0.2500,0.0020,0.000000000,0.010000000,\
                    idle times\n";
    assert_eq!(csv, expected);
    let value =
        document::value(&json::summary(&idle_times(), &half, std::slice::from_ref(&half), Some(3)));
    assert_eq!(value["cores"][0]["bounds"]["shared"], serde_json::json!([0.0, 0.5]));
    assert_eq!(value["cores"][0]["active"], serde_json::json!([0.5, 0.5]));
    assert_eq!(value["intervals"][0]["cores"], value["cores"]);
    assert_eq!((&value["source"], &value["exit_status"]), (&"/proc/stat".into(), &3.into()));
}

#[test]
fn frames_are_drawn_over_each_other_and_fit_the_screen() {
    let (meter, [first, second]) = two_intervals();
    let mut picture = Picture::new(Style { rows: 5, ..PLAIN });
    let frame = picture.frame(&first);
    assert_eq!(frame.lines().count(), 4, "{frame}");
    let over = "\x1b[4A\x1b[J";
    assert!(picture.frame(&second).starts_with(over));
    assert!(picture.summary(&idle_times(), &meter.whole()).starts_with(over));
    assert!(!picture.summary(&idle_times(), &meter.whole()).contains(over));
}

#[test]
fn contexts_that_vanish_stolen_time_and_short_times_are_noted() {
    let topology = Topology::synthetic("2 cores").unwrap();
    let start = Instant::now();
    let mut meter = Meter::begin(&topology, reading(start, 0, &[0.0, 0.0]));
    let mut later = reading(start, 10, &[0.0]);
    later.contexts.entry(0).and_modify(|clocks| clocks.stolen = 2.5);
    let mut notes = super::picture::notes(&idle_times(), &meter.next(later));

    let mut meter = Meter::begin(&topology, reading(start, 0, &[0.0, 0.0]));
    let mut soon = reading(start, 0, &[0.0, 0.0]);
    soon.at += Duration::from_millis(30);
    notes.extend(super::picture::notes(&idle_times(), &meter.next(soon)));
    // More idle than there was time: the core is left out, and why is said.
    let backwards = meter.next(reading(start, 1, &[9.0, 0.5]));
    assert_eq!(backwards.cores.len(), 1);
    notes.extend(backwards.notes);
    snapshot("smt-notes.txt", &(notes.join("\n") + "\n"));
}

#[test]
fn the_commands_exit_status_is_passed_on() {
    for (command, status) in [
        (&["true"][..], 0),
        (&["sh", "-c", "exit 7"], 7),
        (&["sh", "-c", "kill -9 $$"], 137),
        (&["/nonexistent/program"], 127),
        (&["/"], 126),
    ] {
        let mut out = Vec::new();
        let ended = smt(&args(command), &mut out).unwrap_or_else(|error| error.status());
        assert_eq!(ended, status, "{command:?}");
        assert_eq!(out.is_empty(), status == 126 || status == 127, "{command:?}");
    }
}

#[test]
fn reports_go_to_a_file_if_asked() {
    let path = std::env::temp_dir().join(format!("pacman-smt-{}.json", std::process::id()));
    let asked = SmtArgs { json: true, output: Some(path.clone()), ..args(&["sh", "-c", "exit 3"]) };
    let mut out = Vec::new();
    assert_eq!(smt(&asked, &mut out).unwrap(), 3);
    assert!(out.is_empty());
    let value: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    std::fs::remove_file(path).unwrap();
    assert_eq!(value["exit_status"], 3);
    assert_eq!(value["cores"].as_array().unwrap().len(), Topology::detect().unwrap().cores().len());
    let nowhere = SmtArgs { output: Some("/nonexistent/file".into()), ..asked };
    assert!(matches!(smt(&nowhere, &mut out), Err(CliError::Unwritable(_))));
}

/// The measurement ends with the time; the command with itself.
#[test]
fn duration_ends_the_measurement_and_not_the_command() {
    let asked = SmtArgs { json: true, duration: seconds("0.2").ok(), ..args(&["sleep", "0.6"]) };
    let (begin, mut out) = (Instant::now(), Vec::new());
    assert_eq!(smt(&asked, &mut out).unwrap(), 0);
    assert!(begin.elapsed() >= Duration::from_millis(600));
    let value: serde_json::Value = serde_json::from_slice(&out).unwrap();
    let measured = value["time_s"].as_f64().unwrap();
    assert!((0.19..0.6).contains(&measured), "{measured}");

    let alone = SmtArgs { csv: true, duration: seconds("0.25").ok(), interval: 100, ..args(&[]) };
    let mut out = Vec::new();
    assert_eq!(smt(&alone, &mut out).unwrap(), 0);
    let text = String::from_utf8(out).unwrap();
    assert!(text.lines().count() > 2 && text.starts_with("until_s,core,cpus,idle,"), "{text}");
    for wrong in ["0", "-1", "nan", "soon", "1e10"] {
        assert!(seconds(wrong).is_err(), "{wrong}");
    }
}
