//! `run` on OpenMP programs, with the library that is built beside it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use pacman_regions::Recording;
use serde_json::Value;

use pacman_suite::skipped;

use super::crippled::Copy;
use super::rows::rows;
use super::scratch::Scratch;
use super::{library, pacman_pmu, text};

pub(super) const SOURCE: &str = r#"
#include <stdio.h>
static double cells[1 << 12];
static void fill(void) {
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < 1 << 12; i++) cells[i] = i;
}
int main(void) {
  double sum = 0;
  for (int turn = 0; turn < 20; turn++) {
    fill();
#pragma omp parallel for reduction(+ : sum) num_threads(2)
    for (int i = 0; i < 1 << 12; i++) sum += cells[i];
  }
  printf("%.0f\n", sum);
  return 3;
}
"#;

fn report(compiler: &str, flags: &[&str], arguments: &[&str]) -> Option<Value> {
    let scratch = Scratch::new();
    let program = scratch.compile(compiler, flags, SOURCE)?;
    Some(report_of(&scratch, &program, arguments))
}

fn report_of(scratch: &Scratch, program: &Path, arguments: &[&str]) -> Value {
    let path = scratch.path("report.json");
    let mut command = pacman_pmu(&["run", "-o"]);
    let answer = command.arg(&path).args(arguments).arg("--").arg(program).output();
    let answer = answer.expect("it runs");
    assert_eq!(answer.status.code(), Some(3), "{}", text(&answer.stderr));
    assert_eq!(text(&answer.stdout), "167731200\n", "20 times the sum of 0 to 4095");
    serde_json::from_str(&fs::read_to_string(&path).expect("a report")).expect("JSON")
}

/// Name, line and executions of each region, in the order of lines.
pub(super) fn regions(report: &Value) -> Vec<(String, u64, u64)> {
    let regions = report["processes"][0]["regions"].as_array().expect("a list");
    let mut regions: Vec<_> = regions
        .iter()
        .map(|region| {
            let name = region["name"].as_str().expect("a name").to_owned();
            (name, region["line"].as_u64().unwrap_or(0), region["executions"].as_u64().unwrap_or(0))
        })
        .collect();
    regions.sort_by_key(|(_, line, _)| *line);
    regions
}

#[test]
fn gcc_s_regions_have_their_functions_names_and_lines() {
    let Some(report) = report("gcc", &["-g", "-O1", "-fopenmp"], &["-e", "task-clock"]) else {
        return;
    };
    let expected = [("fill, line 5".into(), 5, 20), ("main, line 12".into(), 12, 20)];
    assert_eq!(regions(&report), expected);
    for region in report["processes"][0]["regions"].as_array().expect("a list") {
        assert_eq!(rows(&region["threads"]).len(), 2);
        assert_eq!(region["teams"][0]["threads"], 2);
        assert!(region["figures"]["counts"]["task-clock"].as_u64() > Some(0), "{region:#}");
    }
}

#[test]
fn clang_s_regions_have_the_places_that_it_leaves_beside_the_call() {
    let Some(report) = report("clang", &["-g", "-O1", "-fopenmp"], &[]) else { return };
    let expected = [("fill, line 5".into(), 5, 20), ("main, line 12".into(), 12, 20)];
    assert_eq!(regions(&report), expected);
}

#[test]
fn stripped_programs_have_offsets_and_no_wrong_names() {
    let Some(report) = report("gcc", &["-s", "-O1", "-fopenmp"], &[]) else { return };
    for (name, line, executions) in regions(&report) {
        assert!(name.starts_with("made-gcc+0x"), "{name}");
        assert_eq!((line, executions), (0, 20));
    }
}

#[test]
fn what_was_stripped_is_found_by_its_build_id() {
    let scratch = Scratch::new();
    let flags = ["-g", "-O1", "-fopenmp", "-Wl,--build-id"];
    let Some(program) = scratch.compile("gcc", &flags, SOURCE) else { return };
    let debug = scratch.path("made-gcc.debug");
    let link = format!("--add-gnu-debuglink={}", debug.display());
    for arguments in [["--only-keep-debug"].as_slice(), &["--strip-all", &link]] {
        let mut objcopy = Command::new("objcopy");
        objcopy.args(arguments).arg(&program);
        if arguments.len() == 1 {
            objcopy.arg(&debug);
        }
        assert!(objcopy.status().expect("gcc has it with it").success());
    }
    let lines: Vec<u64> =
        regions(&report_of(&scratch, &program, &[])).iter().map(|(_, line, _)| *line).collect();
    assert_eq!(lines, [5, 12]);
    // The same name with another build ID is another program's.
    let other = Scratch::new();
    let changed = format!("{SOURCE}\nint other(int a) {{ return a * 3; }}\n");
    let Some(stranger) = other.compile("gcc", &flags, &changed) else { return };
    fs::copy(stranger, &debug).expect("it is ours");
    let names = regions(&report_of(&scratch, &program, &[]));
    assert!(names.iter().all(|(name, ..)| name.starts_with("made-gcc+0x")), "{names:?}");
}

/// The runtime has bound the first thread to one context before the first region.
#[test]
fn a_program_that_is_bound_has_all_contexts_all_the_same() {
    let contexts = std::thread::available_parallelism().expect("a number").get();
    for compiler in ["gcc", "clang"] {
        let scratch = Scratch::new();
        let Some(program) = scratch.compile(compiler, &["-O1", "-fopenmp"], SOURCE) else {
            continue;
        };
        for (name, value) in [("OMP_PROC_BIND", "true"), ("OMP_PLACES", "threads")] {
            let path = scratch.path("report.json");
            let mut command = pacman_pmu(&["run", "-o"]);
            command.arg(&path).arg("--").arg(&program).env(name, value);
            let answer = command.output().expect("it runs");
            assert_eq!(answer.status.code(), Some(3), "{}", text(&answer.stderr));
            let text = fs::read_to_string(&path).expect("a report");
            let report: Value = serde_json::from_str(&text).expect("JSON");
            assert_eq!(report["processes"][0]["contexts"], contexts, "{compiler}, {name}");
        }
    }
}

/// A part that is opened so that its runtime's own symbols come before preloaded ones.
const PART: &str = r#"
static double cells[1 << 12];
void work(void) {
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < 1 << 12; i++) cells[i] += i;
}
"#;

const OPENER: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **arguments) {
  void *part = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (!part) return puts(dlerror()), 1;
  void (*work)(void) = (void (*)(void))dlsym(part, "work");
  for (int turn = 0; turn < 7; turn++) work();
  return 3;
}
"#;

#[test]
fn regions_behind_a_deep_binding_are_seen_through_the_runtime_s_own_interface() {
    let scratch = Scratch::new();
    let flags = ["-O1", "-fopenmp", "-shared", "-fPIC"];
    let Some(part) = scratch.compile("clang", &flags, PART) else { return };
    let Some(program) = scratch.compile("cc", &["-O1"], OPENER) else { return };
    let path = scratch.path("report.json");
    let run = |tool: &str, part: &Path| -> Value {
        let mut command = pacman_pmu(&["run", "-o"]);
        command.arg(&path).arg("--").arg(&program).arg(part).env("OMP_TOOL", tool);
        let answer = command.output().expect("it runs");
        assert_eq!(answer.status.code(), Some(3), "{}", text(&answer.stderr));
        let text = fs::read_to_string(&path).expect("a report");
        let report: Value = serde_json::from_str(&text).expect("JSON");
        report["processes"][0].clone()
    };
    let process = run("enabled", &part);
    let (seen, bins) = (&process["regions"], process["timeline"]["bin_s"].as_f64());
    assert_eq!(seen.as_array().expect("a list").len(), 1, "{seen:#}");
    assert_eq!((&seen[0]["executions"], &seen[0]["teams"][0]["threads"]), (&7.into(), &2.into()));
    assert_eq!(process["threads"], 2, "what the first region asked for");
    // The runtime tells which call it was: the line and the function are that one's.
    assert_eq!(seen[0]["name"], "a region of work");
    // From the process's beginning on, not from the machine's.
    assert!(bins.expect("a length") < 0.1, "{:#}", process["timeline"]);
    assert_eq!(run("disabled", &part)["regions"].as_array().map(Vec::len), Some(0));
    let flags = [&["-g"], &flags[..]].concat();
    let with_lines = scratch.compile("clang", &flags, PART).expect("it was compiled before");
    assert_eq!(run("enabled", &with_lines)["regions"][0]["name"], "work, line 4");
}

#[test]
fn regions_beyond_those_that_are_kept_are_said() {
    const KEPT: usize = 8192;
    let scratch = Scratch::new();
    let regions = KEPT + 8;
    let mut source = "#include <stdio.h>\nstatic int sum;\n".to_owned();
    for region in 0..regions {
        source += &format!("static void r{region}(void) {{\n#pragma omp parallel\nsum += 1;}}\n");
    }
    let calls: String = (0..regions).map(|region| format!("r{region}();")).collect();
    source += &format!("int main(void) {{ {calls} {calls} printf(\"%d\\n\", sum); return 3; }}\n");
    let Some(program) = scratch.compile("gcc", &["-O0", "-fopenmp"], &source) else { return };
    let directory = scratch.path("recordings");
    fs::create_dir(&directory).expect("a directory");
    let mut command = Command::new(program);
    command.env("LD_PRELOAD", library()).env("PACMAN_OMP_DIR", &directory);
    let answer = command.env("OMP_NUM_THREADS", "1").output().expect("it runs");
    assert_eq!(answer.status.code(), Some(3), "{}", text(&answer.stderr));
    assert_eq!(text(&answer.stdout), format!("{}\n", 2 * regions));
    let (found, wrong) = Recording::found_in(&directory).expect("a directory");
    assert_eq!((found.len(), wrong), (1, Vec::new()));
    assert_eq!(found[0].regions.len(), KEPT);
    let said = "more than 8192 regions: the others are not observed";
    assert!(found[0].notes.iter().any(|note| note.contains(said)), "{:?}", found[0].notes);
}

#[test]
fn the_library_is_found_where_packages_and_cargo_put_it() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("cc", &["-O1", "-fopenmp"], SOURCE) else { return };
    let command = Copy::new();
    let report = scratch.path("report.json");
    let run = || {
        let mut command = Command::new(command.program());
        command.args(["run", "-o"]).arg(&report).arg("--").arg(&program);
        command.env_remove("PACMAN_OMP_LIBRARY").output().expect("it runs")
    };
    let nowhere = run();
    let said = text(&nowhere.stderr);
    assert!(
        said.contains("nor in ../lib or ../lib/pacman") && said.contains("--features embedded"),
        "{said}"
    );
    for place in ["bin/libpacman_omp.so", "lib/libpacman_omp.so", "lib/pacman/libpacman_omp.so"] {
        let place = command.path(place);
        fs::create_dir_all(place.parent().expect("a folder")).expect("a directory");
        symlink(library(), &place).expect("a link");
        let answer = run();
        assert_eq!((answer.status.code(), text(&answer.stderr)), (Some(3), ""), "{place:?}");
        let report: Value =
            serde_json::from_str(&fs::read_to_string(&report).expect("a report")).expect("JSON");
        assert_eq!(regions(&report).len(), 2, "{place:?}");
        fs::remove_file(place).expect("it was put there");
    }
}

/// A module whose calls the library cannot see.
#[test]
fn a_runtime_that_is_called_past_the_library_is_named() {
    let (scratch, own) = (Scratch::new(), Scratch::new());
    let module = "int work(void) {\n int sum = 0;\n#pragma omp parallel reduction(+ : sum)\n sum++;\n return sum; }";
    let flags = ["-fopenmp", "-shared", "-fPIC"];
    let Some(module) = scratch.compile("gcc", &flags, module) else { return };
    let source = format!(
        "#define _GNU_SOURCE\n#include <dlfcn.h>\nint main(void) {{\n\
         void *module = dlopen(\"{}\", RTLD_NOW | RTLD_DEEPBIND);\n\
         int (*work)(void) = dlsym(module, \"work\");\n return work() != 2; }}",
        module.display()
    );
    let Some(program) = own.compile("gcc", &["-ldl"], &source) else { return };
    let mut command = pacman_pmu(&["run", "--"]);
    let answer = command.arg(&program).env("OMP_NUM_THREADS", "2").output().expect("it runs");
    let said = text(&answer.stderr);
    assert_eq!(answer.status.code(), Some(0), "{said}");
    assert!(said.contains("libgomp.so.1") && said.contains(" is loaded at 0x"), "{said}");
    assert!(said.contains("were bound past the library (by RTLD_DEEPBIND"), "{said}");
}

/// A sanitizer says nothing of the library, and what it says of the program it says alone as well.
#[test]
fn sanitized_programs_run_as_they_do_alone() {
    let source = r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static void *other(void *nothing) { return nothing; }
int main(void) {
  pthread_t thread;
  int *data = calloc(4000, sizeof *data), sum = 0;
  if (pthread_create(&thread, 0, other, 0) || pthread_join(thread, 0)) return 1;
  for (int step = 0; step < 40; step++) {
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 4000; i++) sum += data[i] + 1;
  }
  free(data);
  printf("%d\n", sum);
}
"#;
    for compiler in ["gcc", "clang"] {
        for sanitizer in ["address", "undefined", "leak", "thread"] {
            let scratch = Scratch::new();
            let sanitize = format!("-fsanitize={sanitizer}");
            let flags = ["-g", "-O1", "-fopenmp", &sanitize];
            let Some(program) = scratch.compile(compiler, &flags, source) else { continue };
            // As Archer asks for, which comes with clang's runtime.
            let options = ("TSAN_OPTIONS", "ignore_noninstrumented_modules=1");
            let alone = Command::new(&program).env(options.0, options.1).output().expect("it runs");
            if alone.stdout.is_empty() {
                skipped(format_args!("{compiler} {sanitize}: {}", text(&alone.stderr).trim()));
                continue;
            }
            let ways: &[&[&str]] = match sanitizer {
                "address" => &[&[], &["-e", "task-clock,page-faults"], &["--adapt"]],
                // Smaller teams have the cost of a thread measured, by threads that the sanitizer must know.
                "thread" => &[&["-e", "task-clock"], &["--adapt", "--narrow"]],
                _ => &[&[]],
            };
            for arguments in ways {
                let name = format!("{compiler} {sanitize} {arguments:?}");
                let mut command = pacman_pmu(&["run"]);
                command.args(*arguments).arg("--").arg(&program).env(options.0, options.1);
                command.env("OMP_NUM_THREADS", "4");
                let answer = command.output().expect("it runs");
                let said = text(&answer.stderr);
                assert_eq!(text(&answer.stdout), "160000\n", "{name}: {said}");
                assert_eq!(answer.status.code(), alone.status.code(), "{name}: {said}");
                // Its functions are between the runtime's and the program's, and never the innermost.
                let ours = |line: &&str| {
                    let at = line.trim_start();
                    (at.starts_with("#0") || at.starts_with("SUMMARY"))
                        && (at.contains("libpacman_omp") || at.contains("pacman_omp_engine::"))
                };
                assert_eq!(said.lines().find(ours), None, "{name}: {said}");
                assert!(said.contains("in 1 region"), "{name}: {said}");
            }
        }
    }
}

#[test]
fn threads_that_the_program_s_descriptors_are_left_for_are_named() {
    let scratch = Scratch::new();
    let source = r#"
#include <sys/resource.h>
int main(void) {
  struct rlimit limit = {70, 70};
  int sum = 0;
  if (setrlimit(RLIMIT_NOFILE, &limit)) return 1;
#pragma omp parallel for num_threads(8) reduction(+ : sum)
  for (int i = 0; i < 800; i++) sum += i;
  return sum == 319600 ? 0 : 1;
}
"#;
    let Some(program) = scratch.compile("gcc", &["-fopenmp"], source) else { return };
    let path = scratch.path("few.json");
    let mut command = pacman_pmu(&["run", "-e", "task-clock,page-faults", "-o"]);
    let answer = command.arg(&path).arg("--").arg(program).output().expect("it runs");
    assert_eq!(answer.status.code(), Some(0), "{}", text(&answer.stderr));
    let report: Value = serde_json::from_slice(&fs::read(&path).expect("a report")).expect("JSON");
    let process = &report["processes"][0];
    // Of 64 to 69 the session's own two are taken, and two for each of two threads.
    let counted = |row: &&Value| row["counted"] == 1;
    let rows = rows(&process["regions"][0]["threads"]);
    assert_eq!((rows.len(), rows.iter().filter(counted).count()), (8, 2), "{rows:#?}");
    let notes = process["notes"].as_array().expect("a list");
    let has =
        |text: &str| notes.iter().any(|note| note.as_str().is_some_and(|it| it.contains(text)));
    assert!(has("6 threads were not counted in every execution"), "{notes:#?}");
    assert!(
        has("three quarters of this process's limit of 70 open files, and leave 64 to the program"),
        "{notes:#?}"
    );
}
