//! `run --energy`, in a namespace whose powercap is a directory of the test: programs write there
//! themselves, so that the energy of each region is known.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use pacman_suite::skipped;

use super::run_page::drawn;
use super::run_report::{RECORDING, report_of};
use super::scratch::Scratch;
use super::{library, pacman_pmu, text};

/// `use_up(microjoules)` lets the package use energy.
const COMMON: &str = r#"
#include <stdio.h>
#include <stdlib.h>
static void use_up(long microjoules) {
  FILE *file = fopen("/sys/class/powercap/intel-rapl:0/energy_uj", "r+");
  long before = 0;
  if (!file || fscanf(file, "%ld", &before) != 1) abort();
  rewind(file);
  fprintf(file, "%012ld\n", (before + microjoules) % 200000000);
  fclose(file);
}
#define REGION(name, energy, then) \
  void name(void) { \
  _Pragma("omp parallel num_threads(2)") \
    { \
    _Pragma("omp master") \
      { use_up(energy); then; } \
    } \
  }
"#;

/// The counter's largest value, and its value when the program starts: it wraps in every test.
const LARGEST: u64 = 199_999_999;
const FIRST: u64 = 199_500_000;

/// A test's powercap, in a directory that a namespace has for `/sys/class`.
struct Powercap {
    scratch: Scratch,
    class: PathBuf,
}

impl Powercap {
    /// `None`, said aloud, where no namespace can be made.
    fn new() -> Option<Powercap> {
        let scratch = Scratch::new();
        let class = scratch.path("class");
        let zone = class.join("powercap/intel-rapl:0");
        fs::create_dir_all(&zone).expect("a directory");
        for (file, content) in [
            ("name", "package-0".to_owned()),
            ("energy_uj", format!("{FIRST:012}")),
            ("max_energy_range_uj", LARGEST.to_string()),
        ] {
            fs::write(zone.join(file), content + "\n").expect("a file");
        }
        let powercap = Powercap { scratch, class };
        let tried = powercap.inside(&["true"]).output();
        if !tried.is_ok_and(|tried| tried.status.success()) {
            skipped("this machine allows no user namespaces, or lacks unshare");
            return None;
        }
        Some(powercap)
    }

    /// A command in the namespace.
    fn inside(&self, command: &[&str]) -> Command {
        let mut unshare = Command::new("unshare");
        unshare.args(["-r", "-m", "sh", "-c", "mount --bind \"$PLACE\" /sys/class && exec \"$@\""]);
        unshare.arg("sh").args(command).env("PLACE", &self.class);
        unshare.env("PACMAN_OMP_LIBRARY", library());
        unshare
    }

    fn run(&self, options: &[&str], program: &[&str]) -> Output {
        let command = [&[env!("CARGO_BIN_EXE_pacman-pmu"), "run"], options, &["--"], program];
        self.inside(&command.concat()).output().expect("it runs")
    }

    /// The report on `program`.
    fn report(&self, options: &[&str], program: &[&str]) -> Value {
        let path = self.scratch.named("report.json");
        let options = [&["--energy", "-o", &path], options].concat();
        let answer = self.run(&options, program);
        assert_eq!(answer.status.code(), Some(0), "{}", text(&answer.stderr));
        let report = fs::read_to_string(&path).expect("a report");
        serde_json::from_str(&report).expect("JSON")
    }

    fn compile(&self, compiler: &str, flags: &[&str], source: &str) -> Option<String> {
        let flags = [&["-O1", "-g", "-fopenmp", "-pthread"], flags].concat();
        let program = self.scratch.compile(compiler, &flags, &format!("{COMMON}{source}"))?;
        Some(program.to_str().expect("UTF-8").to_owned())
    }
}

/// The region of that function in a process.
fn region<'r>(process: &'r Value, function: &str) -> &'r Value {
    let mut regions = process["regions"].as_array().expect("a list").iter();
    let named = |region: &&Value| region["name"].as_str().is_some_and(|it| it.contains(function));
    regions.find(named).unwrap_or_else(|| panic!("{function}: {process:#}"))
}

fn joules(of: &Value) -> f64 {
    of["energy"]["energy_j"].as_f64().unwrap_or_else(|| panic!("{of:#}"))
}

fn is_close(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-6
}

const NESTED: &str = r#"
#include <omp.h>
REGION(inner, 500000, )
REGION(outer, 5000000, inner())
REGION(light, 1000000, )
int main(void) {
  omp_set_max_active_levels(2);
  use_up(2000000);
  for (int turn = 0; turn < 3; turn++) { outer(); light(); use_up(100000); }
  inner();
  return 0;
}
"#;

#[test]
fn each_region_has_the_energy_of_its_executions() {
    for compiler in ["gcc", "clang"] {
        let Some(powercap) = Powercap::new() else { return };
        let Some(program) = powercap.compile(compiler, &[], NESTED) else { continue };
        let adapted = ["--adapt", "--narrow"];
        for options in [&[][..], &adapted] {
            let report = powercap.report(options, &[&program]);
            let process = &report["processes"][0];
            for (function, energy, executions, nested) in
                [("outer", 16.5, 3, 0), ("light", 3.0, 3, 0), ("inner", 0.5, 1, 3)]
            {
                let region = region(process, function);
                assert!(is_close(joules(region), energy), "{compiler} {options:?}: {region:#}");
                assert_eq!(region["energy"]["executions"], executions, "{region:#}");
                assert_eq!(region["energy"]["unread"], 0, "a part of the outer one: {region:#}");
                assert_eq!(region["nested"], nested, "{region:#}");
                let watts = region["energy"]["power_w"].as_f64().expect("a power");
                let seconds = region["energy"]["time_s"].as_f64().expect("a time");
                assert!(is_close(watts * seconds, energy), "{region:#}");
                assert!(region["energy"]["resolution_j"].as_f64() > Some(0.0), "{region:#}");
            }
            let whole = 2.0 + 16.5 + 3.0 + 0.3 + 0.5;
            assert!(is_close(joules(process), whole), "{:#}", process["energy"]);
            assert!(is_close(joules(&report), whole), "{:#}", report["energy"]);
            assert_eq!(report["energy"]["packages"], 1);
            assert_eq!(report["energy"]["source"], "powercap");
            let notes = process["notes"].as_array().expect("a list");
            let says = |note: &Value| note.as_str().is_some_and(|it| it.contains("other programs"));
            assert!(notes.iter().any(says), "{notes:#?}");
        }
    }
}

const OLD: &str = r#"
void GOMP_parallel_start(void (*)(void *), void *, unsigned);
void GOMP_parallel_end(void);
int omp_get_thread_num(void);
static void body(void *data) { if (omp_get_thread_num() == 0) use_up(3000000); }
int main(void) {
  for (int turn = 0; turn < 4; turn++) {
    GOMP_parallel_start(body, 0, 2);
    body(0);
    GOMP_parallel_end();
    use_up(1000000);
  }
  return 0;
}
"#;

#[test]
fn regions_of_gcc_s_older_interface_have_energy() {
    let Some(powercap) = Powercap::new() else { return };
    let Some(program) = powercap.compile("gcc", &[], OLD) else { return };
    let report = powercap.report(&[], &[&program]);
    let process = &report["processes"][0];
    assert!(is_close(joules(&process["regions"][0]), 12.0), "{process:#}");
    assert!(is_close(joules(process), 16.0), "{process:#}");
}

const PART: &str = "REGION(inner, 500000, )\nREGION(work, 2000000, inner())\n";

const OPENER: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
int main(int count, char **arguments) {
  void *part = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (!part) return 1;
  for (int turn = 0; turn < 7; turn++) ((void (*)(void))dlsym(part, "work"))();
  return 0;
}
"#;

#[test]
fn regions_that_the_runtime_reports_have_energy() {
    let Some(powercap) = Powercap::new() else { return };
    let Some(part) = powercap.compile("clang", &["-shared", "-fPIC"], PART) else { return };
    let opener = powercap.scratch.compile("cc", &["-O1"], OPENER).expect("clang is there, too");
    let report = powercap.report(&[], &[opener.to_str().expect("UTF-8"), &part]);
    let process = &report["processes"][0];
    let work = region(process, "work");
    assert_eq!((&work["entry"], &work["executions"]), (&"ompt_start_tool".into(), &7.into()));
    assert!(is_close(joules(work), 17.5), "{work:#}");
    let regions = process["regions"].as_array().expect("a list");
    let inner = regions.iter().find(|region| region["nested"] == 7).expect("the inner one");
    assert_eq!(inner["energy"], Value::Null, "it is a part of the other: {inner:#}");
}

const FORKED: &str = r#"
#include <sys/wait.h>
#include <unistd.h>
REGION(light, 1000000, )
int main(void) {
  use_up(2000000);
  light();
  light();
  if (fork() == 0) { use_up(4000000); light(); exit(0); }
  wait(0);
  return 0;
}
"#;

#[test]
fn a_forked_process_begins_without_energy() {
    let Some(powercap) = Powercap::new() else { return };
    // libgomp has no threads in a child of a fork, and waits for them.
    let Some(program) = powercap.compile("clang", &[], FORKED) else { return };
    let report = powercap.report(&[], &[&program]);
    let processes = report["processes"].as_array().expect("a list");
    assert_eq!(processes.len(), 2);
    let figures: Vec<[f64; 2]> =
        processes.iter().map(|it| [joules(it), joules(&it["regions"][0])]).collect();
    // The parent waits: its packages use what the child's do.
    for (figures, expected) in figures.iter().zip([[9.0, 2.0], [5.0, 1.0]]) {
        assert!(is_close(figures[0], expected[0]), "{figures:?} {expected:?}");
        assert!(is_close(figures[1], expected[1]), "{figures:?} {expected:?}");
    }
}

const BESIDE: &str = r#"
#include <pthread.h>
REGION(beside, 1000000, )
static void *start(void *data) { beside(); return data; }
static void run(void) {
  pthread_t thread;
  if (pthread_create(&thread, 0, start, 0)) abort();
  pthread_join(thread, 0);
}
REGION(around, 5000000, run())
int main(void) { around(); run(); return 0; }
"#;

#[test]
fn energy_is_of_one_region_at_a_time() {
    let Some(powercap) = Powercap::new() else { return };
    let Some(program) = powercap.compile("gcc", &[], BESIDE) else { return };
    let report = powercap.report(&[], &[&program]);
    let process = &report["processes"][0];
    let (around, beside) = (region(process, "around"), region(process, "beside"));
    assert!(is_close(joules(around), 6.0), "{around:#}");
    assert!(is_close(joules(beside), 1.0), "{beside:#}");
    let energy = &beside["energy"];
    assert_eq!((&energy["executions"], &energy["unread"]), (&1.into(), &1.into()));
    let notes = process["notes"].to_string();
    assert!(notes.contains("1 execution has no energy"), "{notes}");
}

#[test]
fn recordings_without_the_command_have_energy() {
    let Some(powercap) = Powercap::new() else { return };
    let Some(program) = powercap.compile("gcc", &[], NESTED) else { return };
    let directory = powercap.scratch.path("recordings");
    fs::create_dir(&directory).expect("a directory");
    let mut command = powercap.inside(&[&program]);
    command.env("LD_PRELOAD", library()).env("PACMAN_OMP_DIR", &directory);
    let answer = command.env("PACMAN_OMP_ENERGY", "1").output().expect("it runs");
    assert!(answer.status.success(), "{}", text(&answer.stderr));
    let path = powercap.scratch.path("read.json");
    let mut read = pacman_pmu(&["run", "--read"]);
    let answer = read.arg(&directory).arg("-o").arg(&path).output().expect("it runs");
    assert!(answer.status.success(), "{}", text(&answer.stderr));
    let report = fs::read_to_string(&path).expect("a report");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let of_the_program =
        |process: &&Value| process["regions"].as_array().is_some_and(|it| !it.is_empty());
    let process = report["processes"].as_array().expect("a list").iter().find(of_the_program);
    assert!(is_close(joules(region(process.expect("one"), "outer")), 16.5), "{report:#}");
    assert_eq!(report["energy"], Value::Null, "nobody read the whole run");
}

#[test]
fn without_counters_the_program_does_not_run() {
    let Some(powercap) = Powercap::new() else { return };
    if Path::new("/sys/bus/event_source/devices/power").exists() {
        return skipped("this machine has RAPL outside of powercap, too");
    }
    let energy = powercap.class.join("powercap/intel-rapl:0/energy_uj");
    fs::write(&energy, "none\n").expect("a file");
    let unreadable = powercap.run(&["--energy"], &["echo", "ran"]);
    fs::remove_dir_all(powercap.class.join("powercap")).expect("a directory");
    let missing = powercap.run(&["--energy"], &["echo", "ran"]);
    for (answer, why) in [
        (unreadable, "intel-rapl:0/energy_uj: bad number \"none\"; not run\n"),
        (missing, "/sys/class/powercap has no package zone"),
    ] {
        let said = text(&answer.stderr);
        assert_eq!((answer.status.code(), text(&answer.stdout)), (Some(2), ""), "{said}");
        assert!(said.starts_with("pacman-pmu: cannot read energy") && said.contains(why), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

/// The recording of the other reports, with 80 J in 8 s, of which the first region has 50 J in its
/// 100 executions of 4 s.
fn recording() -> String {
    let recording = RECORDING.replace(
        r#""overhead": {"#,
        r#""energy": {"joules": 80.0, "seconds": 8.0, "source": "perf", "packages": 2,
            "wraps_after": 65536.0, "longest_gap": 1.0}, "overhead": {"#,
    );
    recording.replacen(
        r#""adaptation": {"#,
        r#""energy": {"joules": 50.0, "seconds": 4.0, "executions": 100, "unread": 0},
            "adaptation": {"#,
        1,
    )
}

#[test]
fn every_form_has_energy() {
    let of = |form: &str| report_of(&recording(), form, &[]).map(|(report, _)| report);
    let Some(json) = of("json") else { return };
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let process = &json["processes"][0];
    let expected = serde_json::json!({
        "energy_j": 80.0, "power_w": 10.0, "time_s": 8.0, "packages": 2, "source": "perf"
    });
    assert_eq!(process["energy"], expected);
    // A step is 12.5 W for a millisecond, and 100 executions have ten times the error of one.
    let expected = serde_json::json!({
        "energy_j": 50.0, "resolution_j": 0.125, "power_w": 12.5, "time_s": 4.0, "executions": 100,
        "unread": 0
    });
    assert_eq!(process["regions"][0]["energy"], expected);
    assert_eq!(process["regions"][1]["energy"], Value::Null);
    let csv = of("csv").expect("as above");
    let (heading, rows) = csv.split_once('\n').expect("lines");
    let columns = "threads_chosen,package_energy_j,package_energy_resolution_j,package_power_w,\
                   energy_executions,thread,";
    assert!(heading.contains(columns), "{heading}");
    assert_eq!(rows.matches(",2,50,0.125,12.5,100,").count(), 2, "{rows}");
    assert!(rows.contains(",,,,,,0,50,"), "the inner region has none: {rows}");
    let plain = of("txt").expect("as above");
    let row = "  50.0 J  125 mJ   62.5  12.5 W  4.00 s         100  solver+0x20\n";
    assert!(plain.contains(row), "{plain}");
    assert!(plain.contains("  80.0 J       -  100.0  10.0 W  8.00 s"), "{plain}");
    let page = of("html").expect("as above");
    for form in [&plain, &page] {
        assert!(
            form.contains("2 packages with all that runs there, also other programs"),
            "{form}"
        );
    }
    if let Some(said) = drawn(&page) {
        let cells = "\t50.0 J\t125 mJ\t12.5 W\t4.00 s\t100";
        assert!(said.contains(cells) && said.contains("\nEnergy\n"), "{said}");
    }
    let without = report_of(RECORDING, "txt", &[]).expect("as above").0;
    assert!(!without.contains("energy"), "{without}");
}
