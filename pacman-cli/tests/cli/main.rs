//! The built command, run as a user runs it.

mod compare;
mod crippled;
mod doctor;
mod drafts;
mod elsewhere;
mod events;
mod forbidden;
mod full_disk;
mod harmless;
mod history;
mod hostile;
mod job;
mod machine;
mod metrics;
mod report;
mod rows;
mod run;
mod run_busy;
mod run_defect;
mod run_direct;
mod run_elsewhere;
mod run_ends;
mod run_energy;
mod run_environment;
mod run_exports;
mod run_forward;
mod run_kills;
mod run_late;
mod run_mpi;
mod run_names;
mod run_no_engine;
mod run_ompt;
mod run_open;
mod run_openmp;
mod run_overhead;
mod run_own_names;
mod run_page;
mod run_perfetto;
mod run_phases;
mod run_plugins;
mod run_quota;
mod run_ranks;
mod run_refusals;
mod run_remarks;
mod run_report;
mod run_rotation;
mod run_sessions;
mod run_signals;
mod run_start;
mod run_stays;
mod run_times;
mod run_trace;
mod run_training;
mod run_transparent;
mod schema;
mod schemas;
mod scratch;
mod shell;
mod smt;
mod smt_signals;
mod standard_output;
mod stat;
mod stat_namespace;
mod stat_process;
mod stat_refusals;
mod stat_rotation;
mod stat_signals;
mod stat_totals;
mod stat_tracing;
mod trace_format;
mod trusted_driver;
mod typed;
mod validate;
mod width;

use std::path::PathBuf;
use std::process::{Command, Output};

use self::scratch::Scratch;
use pacman_suite::Texts;
use pacman_suite::command::with_default_signals;

/// `pacman-pmu` with `arguments`, ready to be spawned.
fn pacman_pmu(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pacman-pmu"));
    command.args(arguments).env("PACMAN_OMP_LIBRARY", library());
    // No run knows of another's, and the user's own memory stays as it is.
    command.env("PACMAN_OMP_MEMORY", "");
    with_default_signals(&mut command);
    command
}

/// The library as cargo built it for this test. One beside the command is there only after
/// `cargo build`, and may then be of older code.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let path = test.with_file_name("libpacman_omp.so");
    assert!(path.exists(), "cargo builds {} with this test", path.display());
    path
}

fn run(arguments: &[&str]) -> Output {
    pacman_pmu(arguments).output().expect("the command was built")
}

/// The output of a test's commands, for its section of a file of snapshots.
fn told(title: &'static str) -> Texts {
    Texts::new(env!("CARGO_MANIFEST_DIR"), "snapshots/refusals.txt", title)
}

/// One line on standard error, nothing on standard output, and this status. Adds the line, without the place of files
/// of the test.
fn refused(told: &mut Texts, output: &Output, status: i32, scratch: &Scratch) {
    let line = text(&output.stderr);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(status), ""), "{line}");
    assert_eq!(line.lines().count(), 1, "{line}");
    told.add(line.replace(&scratch.named(""), ""));
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("everything the command says is UTF-8")
}

/// The one finding about `subject` in the doctor's JSON.
fn finding<'a>(diagnosis: &'a serde_json::Value, subject: &str) -> &'a serde_json::Value {
    let findings = diagnosis["findings"].as_array().expect("a list");
    findings
        .iter()
        .find(|finding| finding["subject"] == subject)
        .unwrap_or_else(|| panic!("nothing about {subject} in {diagnosis:#}"))
}
