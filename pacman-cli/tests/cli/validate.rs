//! Counter validation on this machine as it is, with and without a PMU.

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Output;

use serde_json::Value;

use super::scratch::Scratch;
use super::{finding, pacman_pmu, refused, run, text, told};

fn json(answer: &Output) -> Value {
    let said = text(&answer.stdout);
    serde_json::from_str(said).unwrap_or_else(|e| panic!("{e}: {said}{}", text(&answer.stderr)))
}

fn events(report: &Value) -> &[Value] {
    report["events"].as_array().expect("a list")
}

#[test]
fn first_touches_are_counted_to_the_last_one() {
    let answer = run(&["validate", "-e", "page-faults,minor-faults", "--repeat", "5", "--json"]);
    let report = json(&answer);
    assert_eq!(answer.status.code(), Some(0), "{report:#}");
    assert_eq!((&report["exit_status"], &report["repeats"]), (&0.into(), &5.into()));
    assert_eq!(events(&report).len(), 2);
    for event in events(&report) {
        assert_eq!((&event["verdict"], &event["native"]), (&"exact".into(), &Value::Null));
        assert_eq!(event["kernel"], "first-touches");
        let samples = event["samples"].as_array().unwrap();
        assert_eq!(samples.len(), 5);
        for sample in samples {
            assert_eq!((&sample["low"], &sample["high"]), (&1024.into(), &1024.into()));
        }
    }
    assert_eq!(text(&answer.stderr), "", "no progress where nobody looks");
}

#[test]
fn switches_and_clocks_are_usable() {
    let answer = run(&["validate", "-e", "context-switches,task-clock,cpu-clock", "--json"]);
    let report = json(&answer);
    for event in events(&report) {
        // A busy machine preempts: then less is known of the truth, and that is said.
        let verdict = event["verdict"].as_str().unwrap();
        assert!(["exact", "within"].contains(&verdict), "{event:#}");
    }
    assert_eq!(answer.status.code(), Some(0));
}

#[test]
fn hardware_is_validated_or_the_reason_is_given() {
    let doctor = json(&run(&["doctor", "--json"]));
    let works = finding(&doctor, "hardware-events")["outcome"] == "works";
    let answer = run(&["validate", "-e", "INSTRUCTIONS", "--json"]);
    let report = json(&answer);
    assert_eq!(events(&report).len(), 2, "undisturbed and across switches");
    for event in events(&report) {
        let counted = event["verdict"] != "not-countable";
        assert_eq!(counted, works, "{event:#}");
        assert_eq!(event["samples"].as_array().unwrap().is_empty(), !works);
        if counted {
            let native = event["native"]["expression"].as_str().unwrap();
            assert!(native.contains('('), "a name and its code: {native}");
        } else {
            let why = event["text"].as_str().unwrap();
            assert!(why.starts_with("cannot ") && why.contains("INSTRUCTIONS"), "{why}");
        }
    }
    if works {
        return;
    }
    assert_eq!(answer.status.code(), Some(1), "nothing could be counted");
    let table = run(&["validate", "-e", "INSTRUCTIONS"]);
    let said = text(&table.stdout);
    assert_eq!(said.matches("not countable [1]").count(), 2, "{said}");
    assert_eq!(said.matches("\n[").count(), 1, "one reason, said once:\n{said}");
}

#[test]
fn a_kernel_that_cannot_run_says_why() {
    let mut alone = pacman_pmu(&["validate", "-e", "cpu-migrations,page-faults", "--json"]);
    let one_cpu = || {
        // SAFETY: the set is a live array of bits; the calls only read and set it.
        let done = unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::sched_getaffinity(0, size_of_val(&set), &mut set);
            let first = (0..libc::CPU_SETSIZE as usize).find(|cpu| libc::CPU_ISSET(*cpu, &set));
            libc::CPU_ZERO(&mut set);
            libc::CPU_SET(first.unwrap_or(0), &mut set);
            libc::sched_setaffinity(0, size_of_val(&set), &set)
        };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    // SAFETY: the closure makes system calls and nothing else.
    unsafe { alone.pre_exec(one_cpu) };
    let answer = alone.output().expect("the command was built");
    let report = json(&answer);
    let [migrations, faults] = events(&report) else { panic!("{report:#}") };
    assert_eq!(migrations["verdict"], "not-countable");
    let why = migrations["text"].as_str().unwrap();
    assert!(why.starts_with("cannot run the kernel migrations: this process may use cpu"), "{why}");
    assert_eq!(faults["verdict"], "exact");
    assert_eq!(answer.status.code(), Some(0), "what was counted can be used");
}

#[test]
fn descriptors_that_are_missing_are_named() {
    let mut few = pacman_pmu(&["validate", "-e", "context-switches", "--json"]);
    let limit = || {
        let limit = libc::rlimit { rlim_cur: 5, rlim_max: 5 };
        // SAFETY: the pointer is to a live structure.
        let done = unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    // SAFETY: the closure makes one system call and nothing else.
    unsafe { few.pre_exec(limit) };
    let answer = few.output().expect("the command was built");
    let report = json(&answer);
    assert_eq!(answer.status.code(), Some(1), "{report:#}");
    assert_eq!(report["exit_status"], 1);
    let why = events(&report)[0]["text"].as_str().unwrap();
    assert!(why.starts_with("cannot hand over to a partner thread on the same cpu: "), "{why}");
    assert!(why.contains("four descriptors"), "{why}");
}

#[test]
fn the_report_is_kept_in_the_form_that_its_name_asks_for() {
    let scratch = Scratch::new();
    let (json_file, text_file) = (scratch.named("report.json"), scratch.named("report.txt"));
    let common = ["validate", "-e", "page-faults", "--repeat", "3", "-o"];
    let table = run(&[&common[..], &[json_file.as_str()]].concat());
    let kept: Value = serde_json::from_str(&fs::read_to_string(&json_file).unwrap()).unwrap();
    assert_eq!(events(&kept)[0]["event"], "page-faults");
    assert!(text(&table.stdout).contains("\nEVENT        KERNEL"), "{}", text(&table.stdout));

    let answer = run(&[&common[..], &[text_file.as_str(), "--json"]].concat());
    let kept = fs::read_to_string(&text_file).unwrap();
    let row = "page-faults  first-touches        1024     1024  exact\n";
    assert!(kept.contains(row), "{kept}");
    assert_eq!(events(&json(&answer))[0]["verdict"], "exact");
}

#[test]
fn bad_input_is_refused_before_anything_runs() {
    let answer = run(&["validate", "-e", "page-falts"]);
    assert_eq!((answer.status.code(), text(&answer.stdout)), (Some(2), ""));
    assert!(text(&answer.stderr).ends_with("nearest: page-faults\n"), "{answer:?}");
    let (mut told, scratch) = (told("validate: bad input"), Scratch::new());
    for arguments in
        [&["-e", "major-faults"][..], &["-e", "task-clock@sleep"], &["-e", ","], &["--repeat", "2"]]
    {
        refused(&mut told, &run(&[&["validate"][..], arguments].concat()), 2, &scratch);
    }
}

#[test]
fn counts_that_are_made_up_are_not_validated() {
    let answer = run(&["--machine", "haswell", "validate", "-e", "INSTRUCTIONS"]);
    assert_eq!((answer.status.code(), text(&answer.stdout)), (Some(2), ""));
    let line = text(&answer.stderr).lines().last().unwrap_or_default();
    told("validate: a simulated machine").add(line);
}

#[test]
fn a_report_that_cannot_be_kept_is_refused_before_anything_runs() {
    let answer = run(&["validate", "-o", "/nowhere/report"]);
    refused(&mut told("validate: no place for a report"), &answer, 4, &Scratch::new());
}

#[test]
fn every_field_and_verdict_is_documented() {
    let report = json(&run(&["validate", "-e", "page-faults,INSTRUCTIONS", "--json"]));
    let help = run(&["validate", "--help"]);
    let help = text(&help.stdout);
    let documented = |name: &str| {
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        assert!(help.split(|c| !is_part(c)).any(|word| word == name), "{name:?} in:\n{help}");
    };
    report.as_object().unwrap().keys().for_each(|key| documented(key));
    report["processor"].as_object().unwrap().keys().for_each(|key| documented(key));
    for event in events(&report) {
        event.as_object().unwrap().keys().for_each(|key| documented(key));
        documented(event["verdict"].as_str().unwrap());
        for sample in event["samples"].as_array().unwrap() {
            sample.as_object().unwrap().keys().for_each(|key| documented(key));
        }
    }
}
