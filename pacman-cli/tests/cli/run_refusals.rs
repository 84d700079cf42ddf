//! `run` asked for what is odd or not possible: what is said, what still runs, what is left alone.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::run::{recorded, recorder, without_library};
use super::run_report::RECORDING;
use super::scratch::Scratch;
use super::{pacman_pmu, refused, text, told};

#[test]
fn a_report_is_written_when_the_program_has_run_and_not_before() {
    let scratch = Scratch::new();
    let (new, old) = (scratch.path("new.json"), scratch.file("old.json", "as before"));
    for report in [&new, &old] {
        let mut missing = without_library(&["run", "-o"]);
        let missing = missing.arg(report).args(["--", "no-such-program"]).output();
        assert_eq!(missing.expect("it runs").status.code(), Some(127));
    }
    assert!(!new.exists());
    assert_eq!(fs::read_to_string(&old).expect("a file"), "as before");
    // Without the library there is nothing to tell, and the file says that, too.
    let done = without_library(&["run", "-o"]).arg(&old).args(["--", "true"]).output();
    assert_eq!(done.expect("it runs").status.code(), Some(0));
    let text = fs::read_to_string(&old).expect("a file");
    let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(document["processes"], serde_json::json!([]));
}

#[test]
fn one_file_is_not_for_the_report_and_the_data() {
    let scratch = Scratch::new();
    let data = scratch.file("data.csv", "threads,time_s\n");
    let mut command = without_library(&["run", "-o"]);
    command.arg(&data).arg("--record").arg(&data);
    let answer = command.args(["--", "echo", "ran"]).output().expect("it runs");
    refused(&mut told("run: one file for the report and the data"), &answer, 2, &scratch);
    assert_eq!(fs::read_to_string(&data).expect("a file"), "threads,time_s\n");
}

#[test]
fn a_list_of_events_with_slips_is_told_and_counted_as_far_as_it_goes() {
    let scratch = Scratch::new();
    let Some(library) = recorder(&scratch) else { return };
    let mut told = told("run: a list of events with slips");
    for (events, counted) in
        [("", ""), ("task-clock,page-faults,,task-clock", "task-clock,page-faults")]
    {
        let run = |options: &[&str]| {
            let mut command = pacman_pmu(&["run", "-e", events]);
            command.args(options).args(["--", "sh", "-c", "echo $PACMAN_OMP_EVENTS"]);
            command.env("PACMAN_OMP_LIBRARY", &library).output().expect("it runs")
        };
        let answer = run(&[]);
        assert_eq!((answer.status.code(), text(&answer.stdout).trim()), (Some(0), counted));
        let line = text(&answer.stderr).lines().next().expect("a line");
        told.add(line);
        let strict = run(&["--strict"]);
        assert_eq!((strict.status.code(), text(&strict.stdout)), (Some(2), ""));
        assert_eq!(text(&strict.stderr), format!("{line}; not run\n"));
    }
}

#[test]
fn strict_adapts_by_a_model_that_can_be_used_or_not_at_all() {
    let scratch = Scratch::new();
    let Some(library) = recorder(&scratch) else { return };
    // Of `pacman-pmu train`, on four programs at one and two threads.
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/model.json");
    let strictly = |options: &[&str]| {
        let mut command = pacman_pmu(&["run", "--strict", "--adapt"]);
        command.args(options).args(["--", "echo", "ran"]);
        let answer = command.env("PACMAN_OMP_LIBRARY", &library).output().expect("it runs");
        assert_eq!((answer.status.code(), text(&answer.stdout)), (Some(2), ""), "{options:?}");
        text(&answer.stderr).to_owned()
    };
    let foreign = strictly(&["--model", model]);
    assert!(foreign.contains("the model is for machine \"elsewhere\", not for"), "{foreign}");
    let cut = scratch.file("cut.json", "{\"format\": \"pacman-prediction-model\",");
    let cut = cut.display().to_string();
    let refused = strictly(&["--model", &cut]);
    assert!(refused.contains("it was cut short"), "{refused}");
    // Without it, too: that is no model, on whichever machine.
    for (path, why) in
        [(cut.as_str(), "it was cut short"), ("/no/m.json", "cannot read /no/m.json")]
    {
        let mut command = pacman_pmu(&["run", "--adapt", "--model", path, "--", "echo", "ran"]);
        let answer = command.env("PACMAN_OMP_LIBRARY", &library).output().expect("it runs");
        assert_eq!((answer.status.code(), text(&answer.stdout)), (Some(2), ""));
        let line = text(&answer.stderr);
        assert!(line.starts_with("pacman-pmu: cannot adapt by the model "), "{line}");
        assert!(line.contains(why) && line.lines().count() == 1, "{line}");
    }
    let energy = strictly(&["--objective", "energy", "--model", model]);
    assert!(energy.contains("cannot adapt for energy with"), "{energy}");
    if !Path::new("/sys/class/powercap").exists() {
        let energy = strictly(&["--objective", "energy"]);
        assert!(energy.contains("cannot adapt for energy: cannot read energy"), "{energy}");
        // The program runs, and the user knows before it what it will not do.
        let told = ["adapt", "--objective", "edp", "sh", "-c", "echo ran >&2"];
        let mut command = pacman_pmu(&told);
        let answer = command.env("PACMAN_OMP_LIBRARY", &library).output().expect("it runs");
        let said = text(&answer.stderr);
        let first = said.lines().next().unwrap_or_default();
        assert_eq!(answer.status.code(), Some(0), "{said}");
        assert!(
            first.starts_with("pacman-pmu: cannot adapt for edp: cannot read energy"),
            "{said}"
        );
        assert_eq!(said.lines().nth(1), Some("ran"), "{said}");
    }
}

#[test]
fn an_event_that_no_machine_has_is_refused_before_the_program_runs() {
    for (events, said) in [
        ("cycels", "cannot count \"cycels\": no event cycels on "),
        ("task-clock,page-fault", "nearest: page-faults"),
        ("nosuchpmu/event=1/,INSTRUCTONS", "nearest: INSTRUCTIONS"),
        ("CYCLES:z", "cannot count \"CYCLES:z\": "),
    ] {
        for command in ["run", "stat"] {
            // `stat` says what it lacks for the first event, PMUs among them.
            if command == "stat" && events.contains('/') {
                continue;
            }
            let arguments = [command, "-e", events, "--", "sh", "-c", "echo ran"];
            let answer = pacman_pmu(&arguments).output().expect("it runs");
            let line = text(&answer.stderr);
            assert_eq!((answer.status.code(), text(&answer.stdout)), (Some(2), ""), "{line}");
            assert!(line.contains(said) && line.lines().count() == 1, "{line}");
        }
    }
    // No machine has both, so one of them is another's.
    let others = "global_power_events:running,IDQ_UOPS_NOT_DELIVERED.CORE,nosuchpmu/event=1/";
    let answer = pacman_pmu(&["run", "-e", others, "--", "echo", "ran"]).output().expect("it runs");
    assert_eq!((answer.status.code(), text(&answer.stdout)), (Some(0), "ran\n"));
}

#[test]
fn a_report_that_the_disk_has_no_room_for_goes_to_standard_error() {
    let scratch = Scratch::new();
    let source = "int main(void) {\n#pragma omp parallel\n;\nreturn 0; }";
    let Some(program) = scratch.compile("gcc", &["-fopenmp"], source) else { return };
    let full = scratch.path("full.txt");
    symlink("/dev/full", &full).expect("a link");
    for (path, status) in [(full, 4), (scratch.path("fine.txt"), 0)] {
        let mut command = pacman_pmu(&["run", "-o"]);
        let answer = command.arg(&path).arg("--").arg(&program).output().expect("it runs");
        let said = text(&answer.stderr);
        assert_eq!(answer.status.code(), Some(status), "{said}");
        let failed =
            said.contains("No space left on device (os error 28); it went to standard error");
        assert_eq!((failed, said.contains("in 1 region")), (status == 4, status == 4), "{said}");
    }
}

#[test]
fn recordings_need_no_place_for_temporary_files() {
    let scratch = Scratch::new();
    let Some(library) = recorder(&scratch) else { return };
    let recording = recorded(&scratch, RECORDING);
    let mut command = pacman_pmu(&["run", "--", "sh", "-c", "echo ran"]);
    command.env("PACMAN_OMP_LIBRARY", library).env("TEST_RECORDING", recording);
    let answer = command.env("TMPDIR", "/no-such-directory").output().expect("it runs");
    assert_eq!((answer.status.code(), text(&answer.stdout)), (Some(0), "ran\n"));
    assert!(text(&answer.stderr).contains("solver+0x20"), "{}", text(&answer.stderr));
}

/// The command sees it in the file: the library could not tell, because it does not know the command's
/// memory.
#[test]
fn a_library_of_another_release_is_refused_with_that_reason() {
    let mut told = told("run: a library of another release");
    for source in ["unsigned PACMAN_OMP_RECORDINGS = 7;", "int nothing;"] {
        let scratch = Scratch::new();
        let flags = ["-shared", "-fPIC", "-x", "c"];
        let Some(library) = scratch.compile("cc", &flags, source) else { return };
        let run = |options: &[&str]| {
            let mut command = pacman_pmu(&["run"]);
            command.args(options).args(["--", "echo", "ran"]);
            command.env("PACMAN_OMP_LIBRARY", &library).output().expect("it runs")
        };
        let answer = run(&[]);
        assert_eq!((answer.status.code(), text(&answer.stdout)), (Some(0), "ran\n"));
        told.add(text(&answer.stderr).replace(&scratch.named(""), ""));
        let strict = run(&["--strict"]);
        assert_eq!((strict.status.code(), text(&strict.stdout)), (Some(2), ""));
    }
}
