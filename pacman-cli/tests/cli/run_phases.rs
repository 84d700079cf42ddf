//! Programs that mark phases by calls of Kokkos, LIKWID or PAPI.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::rows::rows;
use super::run_page::drawn;
use super::scratch::Scratch;
use super::{pacman_pmu, text};

const KERNELS: &str = include_str!("phases/kernels.cc");
const DISPATCH: &str = include_str!("phases/dispatch.c");
const TOOL: &str = include_str!("phases/tool.c");
const LIKWID: &str = include_str!("phases/likwid.c");
const PAPI: &str = include_str!("phases/papi.c");

/// The report of a run, and what the program printed.
pub(super) struct Run {
    process: Value,
    pub(super) printed: String,
}

fn run(scratch: &Scratch, program: &Path, options: &[&str], words: &[&str]) -> Run {
    run_as(scratch, options, |command| {
        command.arg(program).args(words);
    })
}

pub(super) fn run_as(
    scratch: &Scratch,
    options: &[&str],
    program: impl FnOnce(&mut Command),
) -> Run {
    let path = scratch.path("report.json");
    let mut command = pacman_pmu(&["run", "-o"]);
    command.arg(&path).args(options).arg("--");
    program(&mut command);
    for name in ["KOKKOS_TOOLS_LIBS", "KOKKOS_PROFILE_LIBRARY"] {
        if !command.get_envs().any(|(known, _)| known == name) {
            command.env_remove(name);
        }
    }
    let answer = command.current_dir(scratch.path(".")).output().expect("it runs");
    assert!(answer.status.success(), "{}", text(&answer.stderr));
    let report = std::fs::read_to_string(&path).expect("a report");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    Run { process: report["processes"][0].clone(), printed: text(&answer.stdout).to_owned() }
}

fn alone(scratch: &Scratch, program: &Path) -> String {
    let mut command = Command::new(program);
    command.env_remove("KOKKOS_TOOLS_LIBS").env_remove("KOKKOS_PROFILE_LIBRARY");
    let answer = command.current_dir(scratch.path(".")).output().expect("it runs");
    text(&answer.stdout).to_owned()
}

impl Run {
    /// The executions of each phase that ended and that did not, by kind and name.
    pub(super) fn phases(&self) -> BTreeMap<(String, String), (u64, u64)> {
        let word = |value: &Value| value.as_str().expect("a word").to_owned();
        let phases = self.process["phases"].as_array().expect("a list").iter();
        let phases = phases.map(|phase| {
            let number = |name: &str| phase[name].as_u64().expect("a number");
            let executions = (number("executions"), number("unended"));
            ((word(&phase["kind"]), word(&phase["name"])), executions)
        });
        phases.collect()
    }

    pub(super) fn phase(&self, name: &str) -> &Value {
        let mut phases = self.process["phases"].as_array().expect("a list").iter();
        phases.find(|phase| phase["name"] == name).expect("it is there")
    }

    /// The executions of regions by label.
    fn labels(&self) -> BTreeMap<Option<&str>, u64> {
        let mut labels = BTreeMap::new();
        for region in self.process["regions"].as_array().expect("a list") {
            *labels.entry(region["label"].as_str()).or_default() +=
                region["executions"].as_u64().expect("a number");
        }
        labels
    }

    pub(super) fn notes(&self) -> String {
        self.process["notes"].to_string()
    }
}

pub(super) fn of<const N: usize>(
    kind: &str,
    all: [(&str, u64, u64); N],
) -> BTreeMap<(String, String), (u64, u64)> {
    let one = |(name, ended, open): (&str, u64, u64)| ((kind.into(), name.into()), (ended, open));
    all.into_iter().map(one).collect()
}

#[test]
fn kernels_of_a_real_kokkos_are_phases_without_any_setting() {
    let scratch = Scratch::new();
    let (include, library) = ("-I/usr/include/trilinos", "-ltrilinos_kokkoscore");
    let flags = ["-x", "c++", "-O1", include, "-Wl,--no-as-needed", library];
    let Some(program) = scratch.compile("g++", &flags, KERNELS) else { return };
    let run = run(&scratch, &program, &["-e", "task-clock"], &[]);
    assert_eq!(run.printed, alone(&scratch, &program));
    let phases = run.phases();
    for (kind, name, executions) in [
        ("kokkos-region", "solve", 1),
        ("kokkos-for", "fill x", 1),
        ("kokkos-for", "fill y", 1),
        ("kokkos-reduce", "dot", 5),
        // The name of the functor, because the kernel has none.
        ("kokkos-for", "FillWithValue", 1),
    ] {
        let found = phases.get(&(kind.into(), name.into()));
        assert_eq!(found, Some(&(executions, 0)), "{name}: {phases:?}");
    }
    let seconds = |name: &str| run.phase(name)["time_s"].as_f64().expect("a time");
    assert!(seconds("solve") >= seconds("fill x") + seconds("dot"), "{}", run.process["phases"]);
    let counts = &rows(&run.phase("dot")["threads"])[0]["figures"]["counts"];
    assert!(counts["task-clock"].as_u64() > Some(0), "{counts}");
}

#[test]
fn regions_of_a_kernel_have_its_label() {
    let scratch = Scratch::new();
    let flags = ["-O1", "-fopenmp", "-rdynamic", "-ldl"];
    for compiler in ["gcc", "clang"] {
        let Some(program) = scratch.compile(compiler, &flags, DISPATCH) else { continue };
        for options in [&[][..], &["-e", "task-clock"], &["--waits"], &["--adapt"]] {
            let run = run(&scratch, &program, options, &[]);
            // The second region of "outer" starts two more, one of them on a member of its team.
            let labels = BTreeMap::from([
                (Some("first"), 3),
                (Some("second"), 4),
                (Some("outer"), 4),
                (None, 1),
            ]);
            // With `--waits` and with LLVM's runtime a region of one thread is a region as well.
            assert_eq!(run.labels(), labels, "{compiler} {options:?}: {}", run.process["regions"]);
            let kernels = of("kokkos-for", [("first", 3, 0), ("second", 4, 0), ("outer", 1, 0)]);
            assert_eq!(run.phases(), kernels, "{compiler} {options:?}");
            assert!(run.printed.starts_with("fences: 0\n"), "{}", run.printed);
            let names = run.process["regions"].as_array().expect("a list").iter();
            let names: Vec<&Value> = names.map(|region| &region["name"]).collect();
            assert!(names.iter().any(|name| *name == "first"), "{names:?}");
        }
    }
}

#[test]
fn a_tool_of_the_user_stays_the_tool_and_keeps_its_own_calls() {
    let scratch = Scratch::new();
    let flags = ["-O1", "-fopenmp", "-rdynamic", "-ldl"];
    let Some(built) = scratch.compile("gcc", &flags, DISPATCH) else { return };
    let program = scratch.path("program");
    std::fs::rename(built, &program).expect("it was made");
    let flags = ["-O1", "-shared", "-fPIC"];
    let built = scratch.compile("gcc", &flags, TOOL).expect("the same compiler");
    let tool = scratch.path("tool.so");
    std::fs::rename(built, &tool).expect("it was made");
    let with_tool = |command: &mut Command| {
        command.env("KOKKOS_TOOLS_LIBS", &tool);
    };
    let run = run_as(&scratch, &[], |command| with_tool(command.arg(&program)));
    assert_eq!(run.printed, "fences: 1\n17\nthe tool saw 8 kernels\n");
    assert_eq!(run.phases(), BTreeMap::new());
    assert_eq!(run.labels().keys().collect::<Vec<_>>(), [&None]);
    // A library of the program that could be a tool is none, with this library or without.
    let linked = scratch.path("linked");
    let flags = ["-O1", "-fopenmp", "-rdynamic", "-ldl", "-Wl,--no-as-needed"];
    let flags = [&flags[..], &[tool.to_str().expect("text")]].concat();
    let built = scratch.compile("gcc", &flags, DISPATCH).expect("the same compiler");
    std::fs::rename(built, &linked).expect("it was made");
    let run = self::run(&scratch, &linked, &[], &[]);
    assert_eq!(run.printed, "fences: 0\n17\n");
    assert_eq!(run.phases().len(), 3);
    // A Kokkos stops if its variables differ, and an argument comes before both.
    let older = format!("KOKKOS_PROFILE_LIBRARY=mine.so exec {}", program.display());
    let run = run_as(&scratch, &[], |command| {
        command.args(["sh", "-c", &older]);
    });
    assert_eq!(run.printed, "older: mine.so\nno tool\n17\n");
    let argument = ["--kokkos-tools-libs=mine.so"];
    assert_eq!(self::run(&scratch, &program, &[], &argument).printed, "no tool\n17\n");
}

#[test]
fn likwid_s_regions_are_phases_of_their_threads() {
    let scratch = Scratch::new();
    let flags = ["-O1", "-fopenmp", "-Wl,--no-as-needed", "-llikwid"];
    let Some(program) = scratch.compile("gcc", &flags, LIKWID) else { return };
    let run = run(&scratch, &program, &["-e", "task-clock"], &[]);
    assert_eq!(run.printed, alone(&scratch, &program));
    let expected = [
        ("work", 2, 0),
        ("inner", 6, 0),
        ("alone", 1, 0),
        ("overlapping", 1, 0),
        ("left open", 0, 1),
    ];
    assert_eq!(run.phases(), of("likwid", expected));
    let threads = rows(&run.phase("inner")["threads"]);
    let numbers: Vec<&Value> = threads.iter().map(|thread| &thread["thread"]).collect();
    assert_eq!(numbers, [0, 1], "as in the team");
    for thread in &threads {
        assert_eq!(thread["executions"], 3);
        assert_eq!(thread["counted"], 3);
        let clock = thread["figures"]["counts"]["task-clock"].as_u64().expect("a count");
        let seconds = thread["time_s"].as_f64().expect("a time");
        assert!(clock > 0 && clock as f64 * 1e-9 < seconds * 1.5 + 1e-4, "{thread}");
    }
    let notes = run.notes();
    assert!(notes.contains("phase left open: 1 execution began on T0 and never ended"), "{notes}");
    assert!(!notes.contains("LIKWID_EVENTS"), "{notes}");
    assert!(
        notes.contains("likwid phase never begun: a thread ended it without a begin"),
        "{notes}"
    );
}

#[test]
fn counts_beside_likwid_s_are_doubted() {
    let scratch = Scratch::new();
    let flags = ["-O1", "-fopenmp", "-Wl,--no-as-needed", "-llikwid"];
    let Some(program) = scratch.compile("gcc", &flags, LIKWID) else { return };
    // As `likwid-perfctr -m` does; without the rest of its variables LIKWID stays as it is.
    let notes = |options: &[&str]| {
        let run = run_as(&scratch, options, |command| {
            command.arg("env").arg("LIKWID_EVENTS=INSTR_RETIRED_ANY:FIXC0").arg(&program);
        });
        run.notes()
    };
    let with_events = notes(&["-e", "task-clock"]);
    assert!(with_events.contains("LIKWID counts in this process as well"), "{with_events}");
    assert!(!notes(&[]).contains("LIKWID_EVENTS"));
}

#[test]
fn papi_s_regions_are_phases_and_its_calls_answer_as_they_do_alone() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("gcc", &["-O1", "-Wl,--no-as-needed", "-lpapi"], PAPI)
    else {
        return;
    };
    let run = run(&scratch, &program, &[], &[]);
    assert_eq!(run.printed, alone(&scratch, &program));
    assert_eq!(run.phases(), of("papi", [("sum", 2, 0)]));
    assert!(run.phase("sum")["time_s"].as_f64() > Some(0.0));
    // A process without regions has a report in every form.
    for form in ["txt", "html", "csv", "prom", "trace.json", "pftrace"] {
        let path = scratch.path(&format!("report.{form}"));
        let mut command = pacman_pmu(&["run", "-o"]);
        let answer = command.arg(&path).arg("--").arg(&program).output().expect("it runs");
        assert!(answer.status.success(), "{form}: {}", text(&answer.stderr));
        let written = std::fs::read(&path).expect("a report");
        let written = String::from_utf8_lossy(&written);
        match form {
            "html" => {
                let Some(said) = drawn(&written) else { continue };
                assert!(said.contains("sum\tpapi\tT0"), "{said}");
            }
            _ => assert_eq!(written.contains("papi  sum"), form == "txt", "{written}"),
        }
    }
}
