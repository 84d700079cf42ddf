//! Names of others in all that is printed: none of them reaches a terminal as more than text.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

use pacman_events::shown::is_unsafe;
use serde_json::{Value, json};

use super::harmless::{Form, LINES, NAME, Place, harmless, run, shown_name};
use super::pacman_pmu;
use Form::{Csv, Json, Text};

#[test]
fn arguments_and_the_environment() {
    for arguments in [
        &[LINES][..],
        &["doctor", LINES],
        &["--machine", LINES, "doctor"],
        &[&format!("--{NAME}")],
        &["encode", LINES],
        &["encode", "--cpu", "skl", LINES, "UOPS_ISSUED.ANY:\u{202e}"],
        &["encode", "--cpu", LINES, "CYCLES"],
        &["metrics", LINES],
        &["metrics", "--cpu", LINES],
        &["plan", "--cpu", "skl", "--thread", LINES],
        &["plan", "--cpu", LINES, "--thread", "CYCLES"],
        &["stat", "-e", LINES, "--", "true"],
        &["stat", "--bind", LINES, "--", "true"],
        &["topo", "--synthetic", LINES],
        &["validate", "-e", LINES],
        &["validate", "-e", &format!("CYCLES@{LINES}")],
        &["budget", "--cpu", LINES, "--clock", "1e9", "-"],
        &["budget", "--cpu", "niagara1", "--clock", LINES, "-"],
        &["smt", "--duration", LINES],
    ] {
        let words: Vec<&dyn AsRef<OsStr>> = arguments.iter().map(|word| word as _).collect();
        harmless(Text, 2, &words);
    }
    let arguments: [&dyn AsRef<OsStr>; 4] = [&"list", &"--cpu", &"skl", &LINES];
    let found = run(&arguments.map(|word| word.as_ref()));
    assert!(!found.stderr.contains(&0x1b), "{found:?}");
    for (variable, command) in [("PACMAN_MACHINE", "doctor"), ("PACMAN_MACHINE", "topo")] {
        let answer = pacman_pmu(&[command]).env(variable, LINES).output().unwrap();
        let said = String::from_utf8(answer.stderr).unwrap();
        assert_eq!(said.lines().count(), 1, "{said:?}");
        assert!(!said.trim_end().contains(is_unsafe), "{said:?}");
    }
}

#[test]
fn paths_that_are_no_text() {
    let place = Place::new();
    let none = place.at("none");
    let shown = shown_name();
    for arguments in [
        &[&"metrics" as &dyn AsRef<OsStr>, &"--file", &none][..],
        &[&"metrics", &"--counts", &none],
        &[&"budget", &"--cpu", &"niagara1", &"--clock", &"1e9", &none],
        &[&"encode", &"--events", &none, &"CYCLES"],
        &[&"list", &"--events", &none],
        &[&"topo", &"--sysfs", &none],
        &[&"topo", &"--tiles", &"--sysfs", &none],
    ] {
        let said = harmless(Text, 2, arguments);
        assert!(said.contains(&shown), "no byte of the path is lost: {said}");
    }
    let missing = place.at("none/none");
    for (status, arguments) in [
        (4, &[&"stat" as &dyn AsRef<OsStr>, &"-o", &missing, &"--", &"true"][..]),
        (4, &[&"validate", &"-e", &"page-faults", &"-o", &missing]),
        (4, &[&"smt", &"--duration", &"0.1", &"-o", &missing]),
        (4, &[&"run", &"-o", &place.at("none/none.json"), &"--", &"true"]),
        (2, &[&"run", &"-o", &missing, &"--", &"true"]),
        (2, &[&"run", &"--model", &missing, &"--adapt", &"--", &"true"]),
        (127, &[&"run", &"--", &missing]),
        (127, &[&"stat", &"--", &missing]),
        (127, &[&"smt", &"--", &missing]),
    ] {
        let said = harmless(Text, status, arguments);
        assert!(said.contains(&shown), "no byte of the path is lost: {said}");
    }
}

#[test]
fn files_of_counts_metrics_and_events() {
    let place = Place::new();
    let counts = place.file("counts.csv", &format!("{NAME},5\nCYCLES,2\nINSTRUCTIONS,9\n"));
    harmless(Text, 2, &[&"budget", &"--cpu", &"niagara1", &"--clock", &"1e9", &counts]);
    harmless(Text, 0, &[&"metrics", &"--counts", &counts]);
    harmless(Text, 1, &[&"metrics", &"l2-mpki", &"--counts", &counts]);
    harmless(Json, 0, &[&"metrics", &"--counts", &counts, &"--json"]);
    for line in [
        format!("{NAME} | 1 | CYCLES | w"),
        format!("m | {NAME} | CYCLES | w"),
        format!("m | 1 | {NAME} | w"),
        format!("m | 1 | \"{NAME}\" | w"),
        "m | 1 | \"\u{202e}\" | w".into(),
        format!("m | 1 | CYCLES | {NAME}"),
        "m | 1 | CYCLES | w | \u{202e}".into(),
    ] {
        let metrics = place.file("own.metrics", &line);
        harmless(Text, 2, &[&"metrics", &"--cpu", &"skl", &"--file", &metrics]);
    }
    let metrics = place.file("own.metrics", "own | 1 | \"UOPS_ISSUED.ANY\" / CYCLES | w");
    harmless(Text, 0, &[&"metrics", &"--cpu", &"skl", &"--file", &metrics]);
    harmless(Text, 0, &[&"metrics", &"own", &"--cpu", &"skl", &"--file", &metrics]);

    let event = |name: &str, code: &str| {
        json!([{ "EventName": name, "EventCode": code, "UMask": "0x1", "Counter": "0,1",
                 "BriefDescription": LINES }])
    };
    let events = place.file("good.json", &event("GOOD", "0x42").to_string());
    harmless(Text, 0, &[&"list", &"--cpu", &"skl", &"--events", &events, &"GOOD"]);
    harmless(Text, 0, &[&"encode", &"--cpu", &"skl", &"--events", &events, &"GOOD"]);
    harmless(Json, 2, &[&"encode", &"--cpu", &"skl", &"--events", &events, &LINES, &"--json"]);
    // Blanks around a term are passed over; a line feed is no blank.
    harmless(Text, 2, &[&"encode", &"--cpu", &"skl", &"cpu/event=0x3c,\n umask=0/"]);
    let events = place.file("named.json", &event(LINES, "0x42").to_string());
    harmless(Text, 2, &[&"list", &"--cpu", &"skl", &"--events", &events]);
    let events = place.file("bad.json", &event(LINES, LINES).to_string());
    harmless(Text, 2, &[&"list", &"--cpu", &"skl", &"--events", &events]);
    let events = place.file("worse.json", NAME);
    harmless(Text, 2, &[&"list", &"--cpu", &"skl", &"--events", &events]);

    place.file("pmus/odd/type", "9");
    place.file(&format!("pmus/odd/events/{NAME}"), "event=1");
    place.file("pmus/odd/events/loop", "loop2");
    place.file("pmus/odd/events/loop2", &format!("loop,{NAME}"));
    place.file("pmus/odd/format/event", "config:0-7");
    let pmus = place.at("pmus");
    harmless(Text, 2, &[&"encode", &"--cpu", &"skl", &"--devices", &pmus, &"odd/loop/"]);
    harmless(
        Text,
        2,
        &[&"encode", &"--cpu", &"skl", &"--devices", &pmus, &format!("odd/{LINES}/x")],
    );
    harmless(Text, 2, &[&"list", &"--cpu", &"skl", &"--devices", &pmus, &LINES]);
}

#[test]
fn copied_machines() {
    let place = Place::new();
    let processor = LINES.replace('\n', " ");
    place.file("tree/proc/cpuinfo", &format!("model name\t: {processor}\n"));
    place.file("tree/proc/self/cgroup", &format!("0::/{NAME}\n"));
    place.file(&format!("tree/sys/fs/cgroup/{NAME}/cpuset.cpus.effective"), "0");
    place.file(&format!("tree/sys/fs/cgroup/{NAME}/cpu.max"), "100 1000");
    place.file("tree/sys/devices/system/cpu/online", "0-3");
    let tree = place.at("tree");
    harmless(Text, 0, &[&"topo", &"--sysfs", &tree]);
    harmless(Json, 0, &[&"topo", &"--sysfs", &tree, &"--json"]);
    harmless(Text, 1, &[&"topo", &"--sysfs", &tree, &"--tiles"]);
    place.file("tree/sys/devices/system/cpu/cpu1/topology/die_id", LINES);
    harmless(Text, 2, &[&"topo", &"--sysfs", &tree]);
    place.file("tree/sys/devices/system/cpu/online", LINES);
    harmless(Text, 2, &[&"topo", &"--sysfs", &tree]);
}

#[test]
fn programs_and_their_arguments() {
    let place = Place::new();
    // The name is the thread's, too.
    let program = place.at(&format!("{}\n", &NAME[..8]));
    let truth = fs::read("/bin/true").expect("coreutils");
    fs::write(&program, truth).unwrap();
    assert!(Command::new("chmod").arg("+x").arg(&program).status().unwrap().success());
    let stat: [&dyn AsRef<OsStr>; 6] = [&"stat", &"-e", &"task-clock", &"--", &program, &"0.0"];
    harmless(Text, 0, &stat);
    for (option, form) in [("--json", Json), ("--csv", Csv)] {
        harmless(form, 0, &[&"stat", &"-e", &"task-clock", &option, &"--", &program, &"0.0"]);
    }
    let report = place.at("report.json");
    harmless(Text, 0, &[&"run", &"--", &program]);
    harmless(Text, 0, &[&"run", &"-o", &report, &"--", &program]);
    let report: Value = serde_json::from_slice(&fs::read(report).unwrap()).unwrap();
    let command = report["command"][0].as_str().unwrap();
    assert!(command.ends_with(r"FORGED\xff\xc3\'\\/a\e[2J\e]0\n'"), "no byte is lost: {command}");
    let bad = OsStr::from_bytes(b"\xff\x1b[2J\n");
    harmless(Text, 0, &[&"stat", &"-e", &"task-clock", &"-q", &"--", &"true", &bad]);
    drop(place.scratch);
}
