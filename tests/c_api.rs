//! The C API as C sees it: programs in C99 and C++11, linked both ways, and the
//! examples.
//!
//! The programs in `c/` check themselves and print what was not so.

#[path = "c/cost.rs"]
mod cost;
#[path = "c/declarations.rs"]
mod declarations;
#[path = "c/survival.rs"]
mod survival;
#[path = "c/toolchain.rs"]
mod toolchain;
#[path = "c/warnings.rs"]
mod warnings;

use pacman_adapt::Candidates;
use pacman_adapt::predict::training::{Dataset, Plan, RidgeOptions, Row, ridge};
use pacman_adapt::predict::{CrossValidation, Method, Model, Sample, Target, machine_name};
use pacman_core::Topology;
use pacman_suite::command::{finish, have};
use pacman_suite::{skipped, skipped_part};
use serde_json::Value;
use toolchain::{Language, Linking, compile, folder, program};

/// Compiles a program of `tests/c` in every way and runs each; the last one's
/// standard output.
fn in_every_way(name: &str) -> String {
    let mut printed = String::new();
    for language in [Language::Cpp11, Language::C99] {
        if !have(language.compiler()) {
            skipped_part(
                format_args!("{name}.c, {language:?}"),
                format_args!("no {}", language.compiler()),
            );
            continue;
        }
        for linking in [Linking::Shared, Linking::Static] {
            let folder = folder();
            let source = format!("tests/c/{name}.c");
            let path = compile(&source, language, linking, &[], &folder);
            printed = String::from_utf8(finish(&mut program(&path)).stdout).expect("UTF-8");
            if let Some(why) = printed.lines().find_map(|line| line.strip_prefix("skipped: ")) {
                skipped_part(format_args!("{name}.c, {language:?}, {linking:?}"), why);
            }
        }
    }
    printed
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in:\n{text}"))
}

/// The phases of every thread of a report, as (name, executions, first count).
fn phases(report: &Value) -> Vec<Vec<(String, u64, u64)>> {
    let names = report["phases"].as_array().expect("phases");
    let of_thread = |thread: &Value| {
        let rows = thread["phases"].as_array().expect("rows").iter();
        rows.map(|row| {
            let index = row["phase"].as_u64().expect("a phase's index") as usize;
            let count = &row["counts"][0];
            let sum = count["value"].as_u64().unwrap_or_else(|| panic!("a count in {count}"));
            let name = names[index].as_str().expect("a name").to_string();
            (name, row["executions"].as_u64().expect("executions"), sum)
        })
        .collect()
    };
    report["threads"].as_array().expect("threads").iter().map(of_thread).collect()
}

#[test]
fn a_program_goes_all_the_way() {
    let report = json(&in_every_way("happy"));
    let threads = phases(&report);
    let rows: Vec<(&str, u64)> =
        threads[0].iter().map(|(name, runs, _)| (name.as_str(), *runs)).collect();
    assert_eq!(rows, [("outer", 1), ("inner", 3)]);
    assert_eq!(report["threads"][0]["phases"][1]["recursions"], 3);
    assert_eq!(report["threads"][1]["place"]["bound"], true, "attached to a cpu");
}

#[test]
fn every_refusal_has_its_code_and_its_line() {
    in_every_way("refusals");
}

#[test]
fn no_handle_is_followed_and_no_size_believed() {
    in_every_way("handles");
}

#[test]
fn samples_say_what_they_hold() {
    in_every_way("rotation");
}

#[test]
fn events_of_a_hybrid_keep_their_numbers() {
    in_every_way("hybrid");
}

#[test]
fn adapting_is_asking_and_telling() {
    in_every_way("adapt");
}

#[test]
fn the_programs_floating_point_state_is_its_own() {
    in_every_way("floating");
}

#[test]
fn adapting_with_a_model_and_the_models_that_are_refused() {
    let here = Topology::detect().expect("this machine");
    let candidates = Candidates::of(&here, Some(2)).expect("candidates");
    if candidates.all().len() < 2 {
        skipped("one context");
        return;
    }
    let folder = folder();
    let own = machine_name(&here);
    let write = |name: &str, machine: &str, counted: bool| {
        let path = folder.path().join(name);
        std::fs::write(&path, model(machine, &candidates, counted)).expect("a file");
        path
    };
    let models = [
        write("own.json", &own, false),
        write("other.json", "Keystone", false),
        write("counts.json", &own, true),
    ];
    let path = compile("tests/c/model.c", Language::C99, Linking::Shared, &[], &folder);
    finish(program(&path).args(&models));
}

#[test]
fn regions_run_without_a_report_and_are_all_in_it_with_one() {
    in_every_way("regions");
    let folder = folder();
    let path = folder.path().join("report.json");
    for language in [Language::Cpp11, Language::C99] {
        if !have(language.compiler()) {
            continue;
        }
        let program_path =
            compile("tests/c/regions.c", language, Linking::Shared, &["-Wshadow"], &folder);
        let mut run = program(&program_path);
        run.env("PACMAN_EVENTS", "task-clock").env("PACMAN_REPORT", &path);
        let answer = finish(&mut run);
        assert_eq!(String::from_utf8_lossy(&answer.stderr), "", "{language:?}");
        let threads = phases(&json(&std::fs::read_to_string(&path).expect("a report")));
        let mut seen: Vec<(String, u64)> = Vec::new();
        for (name, executions, _) in threads.into_iter().flatten() {
            match seen.iter_mut().find(|one| one.0 == name) {
                Some(one) => one.1 += executions,
                None => seen.push((name, executions)),
            }
        }
        seen.sort();
        let expected = [
            ("broken", 7),
            ("by hand", 1),
            ("outer", 1),
            ("returned", 1),
            ("threads", 20),
            ("with a site", 1),
        ];
        assert_eq!(seen, expected.map(|(name, runs)| (name.to_owned(), runs)), "{language:?}");
        std::fs::remove_file(&path).expect("the child of a fork wrote none");
        run.env("PACMAN_REPORT", "-");
        let answer = finish(&mut run);
        let table = String::from_utf8_lossy(&answer.stderr);
        assert!(table.contains(" threads "), "{table}");
        run.env("PACMAN_EVENTS", "page-fault");
        let answer = run.output().expect("it runs");
        let line = String::from_utf8_lossy(&answer.stderr);
        assert!(line.starts_with("pacman: regions are not counted: "), "{line}");
        assert_eq!(line.lines().filter(|one| one.starts_with("pacman: ")).count(), 1, "{line}");
    }
}

#[test]
fn fortran_names_regions() {
    if !have("gfortran") {
        return skipped("no gfortran");
    }
    let folder = folder();
    let source = folder.path().join("regions.f90");
    let text = "program regions\n  use pacman\n  implicit none\n  integer :: i\n  integer(8), save :: site = 0\n\
                do i = 1, 5\n    call pacman_region_begin('sweep', site)\n    call pacman_region_begin('inner')\n\
                call pacman_region_end('inner')\n    call pacman_region_end('sweep', site)\n  end do\nend program\n";
    std::fs::write(&source, text).expect("a file");
    let made = folder.path().join("regions");
    let mut build = std::process::Command::new("gfortran");
    build.arg("-J").arg(folder.path()).arg(toolchain::root().join("pacman-ffi/fortran/pacman.f90"));
    build
        .arg(&source)
        .arg("-L")
        .arg(&toolchain::libraries().links)
        .args(["-lpacman", "-o"])
        .arg(&made);
    finish(&mut build);
    let report = folder.path().join("report.json");
    finish(program(&made).env("PACMAN_EVENTS", "task-clock").env("PACMAN_REPORT", &report));
    let threads = phases(&json(&std::fs::read_to_string(&report).expect("a report")));
    let runs: Vec<(&str, u64)> =
        threads[0].iter().map(|(name, runs, _)| (name.as_str(), *runs)).collect();
    assert_eq!(runs, [("sweep", 5), ("inner", 5)]);
}

/// A model of programs whose threads only cost, more or less; with `counted`, of their IPC.
fn model(machine: &str, candidates: &Candidates, counted: bool) -> String {
    let mut rows = Vec::new();
    for program in 1..=5u32 {
        for &on in candidates.all() {
            let seconds = 0.01 * f64::from(on.threads()).powf(0.5 * f64::from(program));
            let sample = Sample::new(on, seconds).expect("a time");
            let sample = match counted {
                false => sample,
                true => sample
                    .with("instructions", 1e9)
                    .and_then(|sample| sample.with("cycles", seconds * 2e9))
                    .expect("counts"),
            };
            let (machine, program) = (machine.to_owned(), format!("p{program}"));
            rows.push(Row { line: 1, machine, program, phase: None, run: None, sample });
        }
    }
    let data = Dataset::of(machine, &rows, None).expect("data");
    let target = if counted { Target::Ipc } else { Target::Time };
    let options = RidgeOptions { target, plan: Plan::Count(1), ..RidgeOptions::default() };
    let ridge = ridge(&data, &options).expect("a model");
    let cross_validation = CrossValidation {
        accuracy: 1.0,
        worst_accuracy: 1.0,
        regret: 0.0,
        worst_regret: 0.0,
        samples: 2.0,
        coverage: 1.0,
    };
    let (machine, fingerprint) = (machine.to_owned(), data.fingerprint());
    let method = Method::Ridge(ridge);
    let model = Model { machine, programs: Vec::new(), fingerprint, cross_validation, method };
    model.to_text().expect("text")
}

#[test]
fn every_session_leaves_a_report_where_one_is_wanted() {
    let folder = folder();
    let path = compile("tests/c/happy.c", Language::C99, Linking::Shared, &[], &folder);
    let reports = folder.path().join("reports");
    std::fs::create_dir(&reports).expect("a folder");
    let left = || -> Vec<Value> {
        let files = std::fs::read_dir(&reports).expect("the folder");
        let text = |file: std::io::Result<std::fs::DirEntry>| {
            std::fs::read_to_string(file.expect("an entry").path()).expect("a file")
        };
        files.map(|file| json(&text(file))).collect()
    };
    finish(&mut program(&path));
    assert!(left().is_empty(), "nobody asked");
    let printed = finish(
        program(&path)
            .env("PACMAN_REPORT_DIR", &reports)
            .env("PACMAN_REPORT_EVENTS", "context-switches"),
    );
    let own = json(&String::from_utf8(printed.stdout).expect("UTF-8"));
    let left = left();
    let same = left.iter().find(|report| report["session"] == own["session"]).expect("its session");
    assert_eq!(same["phases"], own["phases"]);
    assert_eq!(phases(same), phases(&own), "the same counts as the program prints");
    let events = same["events"].as_array().expect("events");
    assert_eq!(events.last().expect("one")["name"], "context-switches");
    // A directory that is not there costs the report, and the program nothing.
    let elsewhere =
        program(&path).env("PACMAN_REPORT_DIR", "/no/such/place").output().expect("runs");
    assert!(elsewhere.status.success());
    let said = String::from_utf8(elsewhere.stderr).expect("UTF-8");
    assert!(said.contains("pacman: cannot leave the report of session"), "{said}");
}

#[test]
fn adaptive_says_why_for_each_phase() {
    let folder = folder();
    let source = "examples/c/adaptive.c";
    let path = compile(source, Language::C99, Linking::Shared, &["-fopenmp"], &folder);
    let text = String::from_utf8(finish(program(&path).arg("5")).stdout).expect("UTF-8");
    let names: Vec<&str> =
        text.lines().map(|line| line.split(':').next().expect("a name")).collect();
    assert_eq!(names, ["serial", "scalable", "memory", "lock"], "{text}");
    assert_eq!(program(&path).arg("none").output().expect("it runs").status.code(), Some(2));
    let usage = finish(program(&path).arg("--help")).stdout;
    assert_eq!(usage, b"usage: adaptive [ROUNDS]\n");
}

#[test]
fn threads_come_go_and_end_attached() {
    let report = json(&in_every_way("threads"));
    let threads = report["threads"].as_array().expect("threads");
    let ended = |state: &str| threads.iter().filter(|thread| thread["state"] == state).count();
    assert_eq!((threads.len(), ended("detached"), ended("exited")), (64, 32, 32));
    for thread in phases(&report) {
        assert_eq!((thread.len(), thread[0].1), (1, 200));
        assert!(thread[0].2 > 0, "task-clock counted");
    }
}

#[test]
fn a_child_is_told_and_opens_its_own() {
    in_every_way("forked");
}

#[test]
fn handlers_that_leave_phases_open_harm_nothing() {
    let folder = folder();
    let path = compile("tests/c/handlers.c", Language::C99, Linking::Shared, &[], &folder);
    finish(&mut program(&path));
}

#[test]
fn a_report_that_cannot_be_written_is_a_code() {
    in_every_way("output");
}

#[test]
fn omp_phases_gives_every_thread_its_counts() {
    let folder = folder();
    let source = "examples/c/omp_phases.c";
    let path = compile(source, Language::C99, Linking::Shared, &["-fopenmp"], &folder);
    for threads in [1, 3] {
        let mut command = program(&path);
        command.env("OMP_NUM_THREADS", threads.to_string());
        let output = finish(command.args(["--json", "task-clock,page-faults"]));
        let found = phases(&json(&String::from_utf8(output.stdout).expect("UTF-8")));
        assert_eq!(found.len(), threads);
        for thread in found {
            let names: Vec<&str> = thread.iter().map(|(name, _, _)| name.as_str()).collect();
            assert_eq!(names, ["compute", "stream", "lock"]);
            assert!(thread.iter().all(|(_, runs, clock)| *runs == 5 && *clock > 0), "{thread:?}");
        }
    }
    // By default it finds out what the machine can count, and prints a table.
    let table = finish(program(&path).env("OMP_NUM_THREADS", "2")).stdout;
    let table = String::from_utf8(table).expect("UTF-8");
    for word in ["compute", "stream", "lock", "task-clock"] {
        assert!(table.contains(word), "{word} in:\n{table}");
    }
    for (arguments, status, line) in [
        (
            ["--csv", "task-clok"],
            2,
            "omp_phases: cannot count \"task-clok\": no event task-clok on *; nearest: task-clock",
        ),
        (
            ["--place", "nowhere"],
            2,
            "omp_phases: cannot read placement \"nowhere\": \"nowhere\" is neither a policy nor a \
             cpu; use compact, scatter, one-per-core, siblings-together or a list like 0,2,4-7",
        ),
        (["task-clock", "--place"], 2, "omp_phases: unknown or incomplete option --place"),
    ] {
        let output = program(&path).args(arguments).output().expect("it runs");
        let text = String::from_utf8(output.stderr).expect("UTF-8");
        // A star stands for the processor whose table was searched.
        let (start, end) = line.split_once('*').unwrap_or((line, ""));
        let said = text.lines().next().expect("one line");
        assert!(said.starts_with(start) && said.ends_with(end), "{said}");
        assert!(line.contains('*') || said == line, "{said}");
        assert_eq!(output.status.code(), Some(status));
        assert!(output.stdout.is_empty(), "nothing on standard output");
    }
    let usage = String::from_utf8(finish(program(&path).arg("--help")).stdout).expect("UTF-8");
    assert!(usage.starts_with("usage: omp_phases [--table"), "{usage}");
    // More threads than places: a line for the program, not one for each thread and round.
    let places = Topology::detect().expect("this machine").allowed().len();
    let mut command = program(&path);
    command.env("OMP_NUM_THREADS", (places + 2).to_string()).env("OMP_DYNAMIC", "false");
    let output = command.args(["--place", "compact", "task-clock"]).output().expect("it runs");
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    let start = format!(
        "omp_phases: cannot attach another thread to session \"omp_phases\": all {places} places"
    );
    assert!(text.starts_with(&start) && text.lines().count() == 1, "{text}");
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty(), "no report that lacks threads");
    // A standard output that is closed, and one that nobody reads any more.
    for redirect in [">&-", "| true"] {
        let mut command = program("sh".as_ref());
        let script = format!("{{ \"$0\" --csv task-clock; echo $? >&2; }} {redirect}");
        let output = command.arg("-c").arg(script).arg(&path).output().expect("it runs");
        let text = String::from_utf8(output.stderr).expect("UTF-8");
        let lines: Vec<&str> = text.lines().collect();
        let refused =
            "omp_phases: cannot write the report of session \"omp_phases\" to descriptor 1";
        assert!(lines[0].starts_with(refused), "{redirect}: {text}");
        assert_eq!(lines[1..], ["1"], "{redirect}");
    }
}

#[test]
fn valgrind_finds_nothing() {
    if !have("valgrind") {
        skipped("no valgrind");
        return;
    }
    for name in ["happy", "handles"] {
        let folder = folder();
        let source = format!("tests/c/{name}.c");
        let path = compile(&source, Language::C99, Linking::Shared, &["-g"], &folder);
        let mut command = program("valgrind".as_ref());
        command.args(["--quiet", "--error-exitcode=9", "--leak-check=full"]);
        command.arg("--errors-for-leak-kinds=definite").arg(&path);
        finish(&mut command);
    }
}
