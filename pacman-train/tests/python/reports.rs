//! A report of each format, by the built command on a real OpenMP program.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use pacman_suite::command::{finish, have};
use pacman_suite::skipped;
use tempfile::TempDir;

use super::{package, wheel};

/// Standard output of commands, by the file that it goes to.
const PRINTED: &[(&str, &[&str])] = &[
    ("topo.json", &["topo", "--json"]),
    ("topo-p4.json", &["--machine", "p4", "topo", "--json"]),
    ("tiles.json", &["--machine", "knl", "topo", "--tiles", "--json"]),
    ("list.json", &["list", "--cpu", "p4", "--json"]),
    ("cpus.json", &["list", "--cpus", "--json"]),
    ("encode.json", &["encode", "--json", "--cpu", "p4", "STALL_CYCLES", "nonsense"]),
    ("plan.json", &["plan", "--cpu", "p4", "--json", "--thread", "STALL_CYCLES"]),
    ("refused.json", &["plan", "--cpu", "skl", "--json", "--thread", "nonsense"]),
    ("metrics.json", &["metrics", "--list", "--cpu", "skl", "--json"]),
    ("values.json", &["metrics", "--counts", "counts.txt", "--json"]),
    ("doctor.json", &["doctor", "--json"]),
    ("validate.json", &["validate", "--repeat", "3", "--json", "-e", "task-clock"]),
    ("smt.json", &["smt", "--json", "--duration", "0.2", "--interval", "100"]),
    ("smt.csv", &["smt", "--csv", "--duration", "0.2", "--interval", "100"]),
    ("train.json", &["train", "times.csv", "--events", "none", "--json", "-o", "model.txt"]),
    ("evaluate.json", &["evaluate", "times.csv", "--json"]),
    ("evaluate.csv", &["evaluate", "times.csv", "--csv"]),
    ("predict.json", &["predict", "--json", "--model", "model.txt", "times.csv"]),
    ("predict.csv", &["predict", "--csv", "--model", "model.txt", "times.csv"]),
    ("compare.json", &["compare", "--json", "waits.json", "waits.json"]),
    ("budget.json", &["budget", "--json", "--cpu", "niagara1", "--clock", "1e9", "stalls.txt"]),
];

/// Files that commands write while they run the program; `--` and the program are appended.
const WRITTEN: &[(&str, &[&str])] = &[
    ("adapt.json", &["run", "--adapt", "--narrow"]),
    ("slots.json", &["--machine", "icelake", "run", "-e", "TOPDOWN"]),
    ("stat.json", &["stat", "--json", "-e", "task-clock,page-faults"]),
    ("cores.json", &["--machine", "haswell", "stat", "--json", "--per-core", "-e", "CYCLES"]),
    ("repeat.json", &["stat", "--json", "-r", "2", "-e", "task-clock"]),
    ("intervals.json", &["stat", "--json", "--interval", "10", "-e", "task-clock"]),
    (
        "rotated.json",
        &[
            "--machine",
            "skylake",
            "stat",
            "--json",
            "-r",
            "2",
            "-e",
            "BRANCHES,BRANCH_MISSES,LOADS,L1D_MISSES,L2_MISSES",
        ],
    ),
    ("stat.csv", &["stat", "--csv", "-e", "task-clock"]),
];

fn pacman_pmu(folder: &Path) -> Command {
    let own = Path::new(env!("CARGO_BIN_EXE_pacman-train"));
    let mut command = Command::new(own.with_file_name("pacman-pmu"));
    command.env("PACMAN_OMP_LIBRARY", wheel::built("libpacman_omp.so")).current_dir(folder);
    command.env("PACMAN_OMP_MEMORY", folder.join("memory"));
    // Waiting threads that spin would take the other tests' time.
    command.env("OMP_NUM_THREADS", "2").env("OMP_WAIT_POLICY", "passive");
    command.env_remove("PACMAN_MACHINE");
    command
}

/// The folder with all reports; without a C compiler the calling test is skipped.
pub(crate) fn folder() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<TempDir>> = OnceLock::new();
    let everyday = Path::new(env!("CARGO_BIN_EXE_pacman-train")).with_file_name("pacman-pmu");
    if !everyday.exists() {
        skipped("no pacman-pmu: cargo builds it with -p pacman-cli");
        return None;
    }
    let folder = FOLDER.get_or_init(|| have("cc").then(make));
    if folder.is_none() {
        skipped("no cc");
    }
    folder.as_ref().map(TempDir::path)
}

fn make() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let source = package().join("samples/heat.c");
    let mut compiler = Command::new("cc");
    compiler.args(["-g", "-O2", "-fopenmp"]).arg(source).arg("-o").arg(at.join("heat"));
    finish(&mut compiler);
    fs::write(at.join("counts.txt"), "INSTRUCTIONS,3000\nCYCLES,2000\n").expect("a file");
    fs::write(at.join("stalls.txt"), "cycles,636000000\nDC_miss,16829760\nInstr_cnt,87048958\n")
        .expect("a file");
    let mut times = "machine,app,threads,time_s\n".to_owned();
    for app in 1..=8 {
        for threads in 1..=4 {
            let time = 0.1 * f64::from(app) + 4.0 / f64::from(threads);
            times += &format!("M,a{app},{threads},{time}\n");
        }
    }
    fs::write(at.join("times.csv"), times).expect("a file");

    // One run in two formats, so that each says what the other must have.
    fs::create_dir(at.join("recordings")).expect("a folder");
    let mut program = Command::new(at.join("heat"));
    program.arg("20").current_dir(at).env("LD_PRELOAD", wheel::built("libpacman_omp.so"));
    program.env("PACMAN_OMP_DIR", at.join("recordings")).env("PACMAN_OMP_WAITS", "1");
    program.env("PACMAN_OMP_EVENTS", "task-clock,page-faults").env("OMP_NUM_THREADS", "2");
    program.env("OMP_WAIT_POLICY", "passive");
    finish(&mut program);
    for file in ["waits.json", "waits.csv"] {
        finish(pacman_pmu(at).args(["run", "--read", "recordings", "-o", file]));
    }
    for (file, arguments) in WRITTEN {
        finish(pacman_pmu(at).args(*arguments).args(["-o", file, "--", "./heat", "40"]));
    }
    for (file, arguments) in PRINTED {
        let output = pacman_pmu(at).args(*arguments).output().expect("the command was built");
        assert!(!output.stdout.is_empty(), "{arguments:?}: {output:?}");
        fs::write(at.join(file), output.stdout).expect("a file");
    }
    // Sessions with everything that can go wrong, held by the tests of pacman-core.
    let snapshots = package().join("../pacman-core/src/export/tests/snapshots");
    for file in fs::read_dir(snapshots).expect("a folder") {
        let file = file.expect("a file").path();
        if file.extension().is_some_and(|ending| ending == "json" || ending == "csv") {
            fs::copy(&file, at.join(file.file_name().expect("a name"))).expect("a copy");
        }
    }
    folder
}
