//! Real output of every command is as docs/schemas has it, and a document with another member is not.

use std::path::Path;

use pacman_core::{Session, export};
use serde_json::Value;

use super::schema::Schema;
use super::{pacman_pmu, run};

/// The documents that the command prints: one, or one a line.
fn printed(arguments: &[&str]) -> Vec<Value> {
    let output = run(arguments);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    documents(&text).unwrap_or_else(|| {
        panic!("{arguments:?}: {text}{}", String::from_utf8_lossy(&output.stderr))
    })
}

fn documents(text: &str) -> Option<Vec<Value>> {
    let whole = serde_json::from_str(text).map(|one| vec![one]);
    let lines = || text.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>();
    whole.or_else(|_| lines()).ok().filter(|all| !all.is_empty())
}

fn all_hold(format: &str, commands: &[&[&str]]) {
    let schema = Schema::of(format);
    for arguments in commands {
        for document in printed(arguments) {
            schema.holds(&arguments.join(" "), &document);
        }
    }
}

#[test]
fn machines_and_events() {
    all_hold(
        "topo",
        &[
            &["topo", "--json"],
            &["--machine", "p4", "topo", "--json"],
            &["--machine", "zen4", "topo", "--json"],
            &["--machine", "knl", "topo", "--tiles", "--json"],
        ],
    );
    all_hold(
        "list",
        &[
            &["list", "--cpu", "skl", "--json"],
            &["list", "--cpu", "p4", "--json"],
            &["list", "--cpus", "--json"],
        ],
    );
    all_hold(
        "encode",
        &[
            &["encode", "--json", "--cpu", "skl", "INSTRUCTIONS", "L1D.REPLACEMENT"],
            &["encode", "--json", "--cpu", "p4", "STALL_CYCLES"],
            &["encode", "--json", "--cpu", "skl", "OFFCORE_RESPONSE_0:DMND_DATA_RD:ANY_RESPONSE"],
            &["encode", "--json", "--cpu", "skl", "nonsense"],
            &["encode", "--json", "page-faults"],
        ],
    );
    let many = "r0108,r0149,r0151,r01c4,r01c5,INSTRUCTIONS";
    all_hold(
        "plan",
        &[
            &["plan", "--cpu", "p4", "--json", "--thread", "STALL_CYCLES"],
            &["plan", "--cpu", "skl", "--json", "--thread", many],
            &["plan", "--cpu", "skl", "--at-once", "--json", "--thread", many],
            &["plan", "--cpu", "skl", "--json", "--thread", "nonsense"],
        ],
    );
    all_hold("metrics", &[&["metrics", "--list", "--cpu", "skl", "--json"]]);
}

#[test]
fn what_a_machine_can_count() {
    all_hold("doctor", &[&["doctor", "--json"], &["--machine", "p4", "doctor", "--json"]]);
    all_hold(
        "validate",
        &[&["validate", "--repeat", "3", "--json", "-e", "task-clock,page-faults"]],
    );
    all_hold(
        "smt",
        &[
            &["smt", "--json", "--duration", "0.2", "--interval", "100"],
            &["--machine", "haswell", "smt", "--json", "--duration", "0.1"],
            &["smt", "--json", "--", "true"],
        ],
    );
}

#[test]
fn counts_of_a_command() {
    all_hold(
        "stat",
        &[
            &["stat", "--json", "-o", "/dev/stdout", "--", "true"],
            &["stat", "--json", "--per-core", "-o", "/dev/stdout", "--", "true"],
            &["stat", "--json", "-r", "2", "-o", "/dev/stdout", "--", "true"],
            &[
                "--machine",
                "haswell",
                "stat",
                "--json",
                "-e",
                "CYCLES,INSTRUCTIONS",
                "-o",
                "/dev/stdout",
                "--",
                "true",
            ],
            &[
                "--machine",
                "skylake",
                "stat",
                "--json",
                "-r",
                "2",
                "-e",
                "BRANCHES,BRANCH_MISSES,LOADS,L1D_MISSES,L2_MISSES",
                "-o",
                "/dev/stdout",
                "--",
                "true",
            ],
        ],
    );
}

#[test]
fn files_of_counts() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, content: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).expect("room for it");
        path.to_str().expect("UTF-8").to_owned()
    };
    let counts = file("counts.csv", "INSTRUCTIONS,3000\nCYCLES,2000\n");
    all_hold("metrics", &[&["metrics", "--counts", &counts, "--json"]]);
    let stalls = file("stalls.csv", "DC_miss,16829760\nInstr_cnt,87048958\n");
    let budget = ["budget", "--json", "--cpu", "niagara1", "--clock", "1.2e9", "--seconds", "0.53"];
    all_hold("budget", &[&[&budget[..], &[&stalls]].concat()]);
}

#[test]
fn reports_of_sessions() {
    let schema = Schema::of("report");
    let session = Session::builder("schema").events("task-clock,page-faults").log(2);
    let session = session.start().expect("software events count everywhere");
    let phase = session.phase("work").expect("a name");
    let thread = session.attach().expect("a descriptor for each event");
    thread.run(phase, || ()).expect("it counts");
    let mut text = Vec::new();
    export::json(&session.report(), &mut text).expect("memory");
    schema.holds("a session", &serde_json::from_slice(&text).expect("JSON"));
    // Simulated reports with everything that can go wrong, held by the tests of pacman-core.
    let folder = "../pacman-core/src/export/tests/snapshots";
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut found = 0;
    for file in
        std::fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file").path())
    {
        if file.extension().is_some_and(|extension| extension == "json") {
            let text = std::fs::read_to_string(&file).expect("a report");
            schema.holds(&file.display().to_string(), &serde_json::from_str(&text).expect("JSON"));
            found += 1;
        }
    }
    assert!(found >= 2, "{found} snapshots");
}

#[test]
fn reports_of_programs() {
    let folder = tempfile::tempdir().expect("a folder");
    let (report, program) = (folder.path().join("report.json"), folder.path().join("program"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/regions.c");
    let mut compiler = std::process::Command::new("cc");
    let built = compiler.args(["-O1", "-fopenmp", "-o"]).arg(&program).arg(source).status();
    assert!(built.expect("there is a C compiler").success());
    let schema = Schema::of("run");
    for options in [
        &["-e", "task-clock,page-faults"][..],
        &["--adapt", "--narrow"],
        &["--waits"],
        &["--machine", "haswell", "-e", "CYCLES"],
        &["--machine", "icelake", "-e", "TOPDOWN"],
    ] {
        let mut command = pacman_pmu(&["run"]);
        command.args(options).arg("-o").arg(&report).arg("--").arg(&program);
        command.env("OMP_NUM_THREADS", "2");
        let output = command.output().expect("the command starts");
        assert!(output.status.success(), "{options:?}: {output:?}");
        let text = std::fs::read_to_string(&report).expect("a report");
        schema.holds(&options.join(" "), &serde_json::from_str(&text).expect("JSON"));
    }
    let file = report.to_str().expect("a path in UTF-8");
    let output = super::run(&["compare", "--json", file, file]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let comparison = serde_json::from_slice(&output.stdout).expect("JSON");
    Schema::of("compare").holds("compare", &comparison);
}
