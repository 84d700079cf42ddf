//! Simulated machines: every command says that nothing was measured.

use std::fs;

use serde_json::Value;

use super::rows::rows;
use super::scratch::Scratch;
use super::{pacman_pmu, run, text};

#[test]
fn every_command_runs_on_every_machine_and_says_so() {
    let commands: [&[&str]; 6] = [
        &["doctor"],
        &["encode", "INSTRUCTIONS"],
        &["list", "CYCLES"],
        &["metrics", "--list"],
        &["plan", "--thread", "INSTRUCTIONS"],
        &["topo"],
    ];
    for machine in ["p4", "nehalem", "haswell", "skylake", "icelake", "zen4", "knl", "alderlake"] {
        for command in commands {
            let answer = run(&[&["--machine", machine], command].concat());
            assert_eq!(answer.status.code(), Some(0), "{machine} {command:?}: {answer:?}");
            let said = text(&answer.stderr);
            let first = said.lines().next().unwrap_or_default();
            let labelled = format!("pacman-pmu: simulated machine {machine}: ");
            assert!(first.starts_with(&labelled), "{machine} {command:?}: {said}");
            assert!(first.ends_with("; nothing here is measured"), "{said}");
        }
    }
}

#[test]
fn a_plan_is_for_the_contexts_of_the_simulated_core() {
    for machine in ["p4", "haswell", "zen4"] {
        let pair =
            ["--machine", machine, "plan", "--json", "--thread", "CYCLES", "--thread", "CYCLES"];
        let answer = run(&pair);
        assert_eq!(answer.status.code(), Some(0), "{machine}: {answer:?}");
        let plan: Value = serde_json::from_slice(&answer.stdout).expect("JSON");
        assert_eq!(plan["sets"][0].as_array().expect("threads").len(), 2, "{machine}: {plan:#}");
    }
}

#[test]
fn knights_landing_has_its_tiles_and_no_other_machine_any() {
    let answer = run(&["--machine", "knl", "topo", "--tiles", "--json"]);
    assert_eq!(answer.status.code(), Some(0), "{answer:?}");
    let die: Value = serde_json::from_slice(&answer.stdout).expect("JSON");
    let tiles = die["tiles"].as_array().expect("a list");
    assert_eq!(tiles.len(), 32, "two cores a tile: {die:#}");
    assert_eq!(tiles[0]["cpus"].as_array().expect("a list").len(), 8);
    assert_eq!(die["cha_unknown"], "its CHA slices are not simulated");

    let answer = run(&["--machine", "icelake", "topo", "--tiles"]);
    assert_eq!((answer.status.code(), text(&answer.stdout)), (Some(1), ""));
    let why =
        "the tiles of its CPUs are not known for this model; its CHA slices are not simulated";
    let said = text(&answer.stderr).lines().last().unwrap_or_default();
    assert!(said.ends_with(why), "{said}");
}

#[test]
fn nothing_that_would_change_this_machine_is_advised_for_a_simulated_one() {
    for machine in ["p4", "haswell", "zen4"] {
        let answer = run(&["--machine", machine, "doctor", "--json"]);
        let diagnosis: Value = serde_json::from_slice(&answer.stdout).expect("JSON");
        for finding in diagnosis["findings"].as_array().expect("a list") {
            assert_eq!(finding["help"], Value::Array(vec![]), "{machine}: {finding:#}");
        }
    }
}

#[test]
fn a_newcomer_sees_a_pentium_4_at_work() {
    let answer = run(&["--machine", "p4", "stat", "--json", "--", "sh", "-c", "exit 5"]);
    assert_eq!(answer.status.code(), Some(5), "{answer:?}");
    let said = text(&answer.stderr);
    let json = said.split_once('\n').expect("the label's line, and the table").1;
    let table: Value = serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {said}"));
    assert_eq!(table["simulated"], true, "{table:#}");
    let events = table["events"].as_array().expect("a list");
    let at = events.iter().position(|event| event["name"] == "INSTRUCTIONS").expect("a default");
    let counted = table["rows"][0]["counts"][at].as_u64();
    assert!(counted.is_some_and(|count| count > 0), "{table:#}");
}

#[test]
fn stat_tells_the_core_types_of_a_hybrid_apart() {
    for all in [false, true] {
        let mut options = vec!["--machine", "alderlake", "stat", "--json"];
        options.extend(all.then_some("-a"));
        options.extend(["-e", "cpu-clock,INSTRUCTIONS:uk", "--", "true"]);
        let answer = run(&options);
        assert_eq!(answer.status.code(), Some(0), "{answer:?}");
        let said = text(&answer.stderr);
        let document = &said[said.find('{').expect("JSON")..];
        let stat: Value = serde_json::from_str(document).expect("JSON");
        let names: Vec<_> = stat["events"].as_array().expect("events").iter().collect();
        let names: Vec<_> = names.iter().map(|event| event["name"].as_str().unwrap()).collect();
        assert_eq!(
            names,
            [
                "cpu-clock",
                "INSTRUCTIONS:uk",
                "cpu_core/INSTRUCTIONS:uk/",
                "cpu_atom/INSTRUCTIONS:uk/"
            ]
        );
        let counts = stat["total"]["counts"].as_array().expect("counts");
        let counts: Vec<u64> = counts.iter().map(|count| count.as_u64().unwrap()).collect();
        assert!(counts[1] > 0);
        assert_eq!(counts[1], counts[2] + counts[3]);
    }
}

#[test]
fn an_unknown_machine_is_bad_input_and_the_known_ones_are_named() {
    for mut command in [pacman_pmu(&["--machine", "p5", "topo"]), {
        let mut command = pacman_pmu(&["topo"]);
        command.env("PACMAN_MACHINE", "p5");
        command
    }] {
        let answer = command.output().unwrap();
        assert_eq!(answer.status.code(), Some(2));
        let said = text(&answer.stderr);
        assert!(said.contains("cannot simulate \"p5\": there are p4, nehalem, haswell"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[test]
fn the_preloaded_library_counts_on_the_simulated_machine() {
    preloaded("haswell", "Haswell, four cores of two threads, 3.4 GHz", &["INSTRUCTIONS"]);
}

#[test]
fn the_preloaded_library_tells_core_types_apart() {
    let title =
        "Alder Lake, two performance cores of two threads and four efficient cores, 3.2 GHz";
    let events = ["INSTRUCTIONS", "cpu_core/INSTRUCTIONS/", "cpu_atom/INSTRUCTIONS/"];
    preloaded("alderlake", title, &events);
}

fn preloaded(machine: &str, title: &str, events: &[&str]) {
    const SOURCE: &str = "int main(void) { volatile double sum = 0;\n\
        for (int turn = 0; turn < 20; turn++) {\n\
        #pragma omp parallel num_threads(2)\n\
        for (int i = 0; i < 10000; i++) sum = i;\n\
        } return 0; }\n";
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("gcc", &["-g", "-O1", "-fopenmp"], SOURCE) else { return };
    let path = scratch.path("report.json");
    let mut command = pacman_pmu(&["--machine", machine, "run", "-e", "INSTRUCTIONS", "-o"]);
    let answer = command.arg(&path).arg("--").arg(program).output().expect("it runs");
    assert_eq!(answer.status.code(), Some(0), "{}", text(&answer.stderr));
    let report = fs::read_to_string(&path).expect("a report");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!(report["simulated"], title);
    let process = &report["processes"][0];
    for (event, name) in process["events"].as_array().expect("events").iter().zip(events) {
        assert_eq!((event["name"].as_str(), &event["uncounted"]), (Some(*name), &Value::Null));
    }
    assert_eq!(process["events"].as_array().map(Vec::len), Some(events.len()));
    let threads = rows(&process["regions"][0]["threads"]);
    assert_eq!(threads.len(), 2);
    for thread in &threads {
        let count = |event: &str| thread["figures"]["counts"][event].as_u64().expect("a count");
        assert!(count("INSTRUCTIONS") > 0, "{thread:#}");
        if let [whole, parts @ ..] = events {
            let sum: u64 = parts.iter().map(|part| count(part)).sum();
            assert!(parts.is_empty() || sum == count(whole), "{thread:#}");
        }
    }
}
