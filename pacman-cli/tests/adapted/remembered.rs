//! An adapted run starts from the costs that earlier runs measured.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use pacman_suite::skipped;
use serde_json::Value;

use super::schema::Schema;
use super::scratch::Scratch;
use super::{alone, pacman_pmu, text};

/// A thread that is in the critical section while another one waits sleeps there: one thread alone never does. The
/// time of two threads is that of the sleeps, whatever else the machine does.
const SLEEPING: &str = r#"
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

static atomic_int inside;

int main(void) {
    struct timespec while_another_waits = { 0, 1000000 };
    long sum = 0;
    for (long round = 0; round < 300; round++)
#pragma omp parallel for schedule(static, 1)
        for (int i = 0; i < 4; i++) {
            atomic_fetch_add(&inside, 1);
#pragma omp critical
            {
                if (atomic_load(&inside) > 1) nanosleep(&while_another_waits, 0);
                for (volatile int turn = 0; turn < 20000; turn++) {}
                sum += i;
                atomic_fetch_sub(&inside, 1);
            }
        }
    printf("%ld\n", sum);
    return 0;
}
"#;

/// Two threads take half of the time of one, so that a run can afford to measure one soon.
const SCALABLE: &str = r#"
#include <stdio.h>
#include <stdlib.h>

static double parts[2048];

int main(int count, char **words) {
    long rounds = count > 1 ? atol(words[1]) : 300;
    for (long round = 0; round < rounds; round++)
#pragma omp parallel for
        for (long i = 0; i < 2048; i++)
            for (long k = 0; k < 60; k++)
                parts[i] = parts[i] * 0.5 + k;
    printf("%d\n", parts[7] > 1.0);
    return 0;
}
"#;

/// Two regions of microseconds, whose threads wait for each other.
const SHORT: &str = r#"
#include <stdio.h>

int main(void) {
    long sum = 0;
    for (long round = 0; round < 20000; round++) {
#pragma omp parallel for
        for (int i = 0; i < 40; i++)
#pragma omp atomic
            sum += i;
#pragma omp parallel for
        for (int i = 0; i < 60; i++)
#pragma omp atomic
            sum -= i;
    }
    printf("%ld\n", sum);
    return 0;
}
"#;

struct Program {
    scratch: Scratch,
    made: PathBuf,
}

impl Program {
    fn new(source: &str) -> Option<Program> {
        let scratch = Scratch::new();
        let made = scratch.compile("gcc", &["-O1", "-fopenmp"], source)?;
        Some(Program { scratch, made })
    }

    fn directory(&self) -> PathBuf {
        self.scratch.path("memory")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = pacman_pmu(arguments);
        command.env("PACMAN_OMP_MEMORY", self.directory()).env("OMP_NUM_THREADS", "2");
        command
    }

    /// Runs the program adapted; its only region, and what the command said.
    fn run(&self, options: &[&str]) -> (Value, Output) {
        let report = self.scratch.path("report.json");
        let mut command = self.command(&["run", "--adapt", "--narrow", "-o"]);
        command.arg(&report).args(options).arg("--").arg(&self.made);
        let answer = command.output().expect("it runs");
        assert!(answer.status.success() && !answer.stdout.is_empty(), "{answer:?}");
        let report = fs::read_to_string(report).expect("a report");
        let report: Value = serde_json::from_str(&report).expect("JSON");
        (report["processes"][0]["regions"][0].clone(), answer)
    }

    /// Runs the program until something is kept: on a busy machine a run may be unable to measure
    /// anything but the default.
    fn run_until_kept(&self) -> PathBuf {
        let kept = (0..20).find_map(|_| {
            self.run(&[]);
            // Each run keeps what it cost as a whole.
            let file = files(&self.directory()).pop()?;
            let text = fs::read_to_string(&file).expect("it is read");
            let kept: Value = serde_json::from_str(&text).expect("JSON");
            let has_regions = kept["regions"].as_array().is_some_and(|regions| !regions.is_empty());
            has_regions.then_some(file)
        });
        kept.expect("one of twenty runs measures one thread")
    }

    fn memory(&self, arguments: &[&str]) -> Output {
        let mut command = self.command(&["memory"]);
        command.args(arguments).output().expect("it runs")
    }
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.extension().is_some_and(|ending| ending == "json")).collect()
}

/// Another process may make a single execution longer. So several runs may be needed.
#[test]
fn the_next_run_starts_from_what_the_last_one_measured() {
    let _turn = alone();
    let Some(program) = Program::new(SLEEPING) else { return };
    let unadapted = |options: &[&str]| {
        let (region, _) = program.run(options);
        300 - region["adaptation"]["reduced"].as_u64().expect("it adapts")
    };
    // Two executions at the default: the first of all, and one that shows that the work is the same. A run
    // that knows nothing is as quick only if a disturbance of the default pays for its sample at once.
    let quick = |runs: &[u64]| runs.iter().filter(|&&unadapted| unadapted <= 5).count();
    let fresh = [(); 8].map(|()| unadapted(&["--no-memory"]));
    let later = [(); 8].map(|()| unadapted(&[]));
    eprintln!("{fresh:?} without memory, {later:?} with it");
    if quick(&fresh) > 4 {
        return skipped("other processes pay for samples at once here: memory cannot be quicker");
    }
    assert!(quick(&later) > quick(&fresh), "{fresh:?} without memory, {later:?} with it");
    let listed = program.memory(&["list"]);
    let line = text(&listed.stdout).lines().find(|line| line.starts_with("made-gcc "));
    assert!(line.is_some_and(|line| line.ends_with(" allowed")), "{listed:?}");
    let shown = program.memory(&["show", "made-gcc"]);
    let shown = text(&shown.stdout);
    assert!(shown.contains(" of default ") && shown.contains("main, region 0"), "{shown}");
}

/// Beside other programs a region of two threads takes longer, so that it is decided alone, or the work
/// seems another.
#[test]
fn the_next_run_starts_with_what_was_best_for_the_short_regions() {
    let _turn = alone();
    let Some(program) = Program::new(SHORT) else { return };
    // The executions with two threads, if the region was decided with the other one.
    let unadapted = |options: &[&str]| {
        let (region, _) = program.run(options);
        let adaptation = &region["adaptation"];
        let why = adaptation["why"].as_str().expect("a reason");
        let reduced = adaptation["reduced"].as_u64().expect("it adapts");
        why.starts_with("too short to be decided alone").then_some(20_000 - reduced)
    };
    let median = |options: &[&str]| {
        let mut all: Vec<u64> = (0..7).filter_map(|_| unadapted(options)).collect();
        all.sort_unstable();
        all.get(all.len() / 2).copied()
    };
    // A sample of one thread has to wait for twenty stretches. A known one has to wait for three. A
    // disturbed stretch of the default may pay for a sample at once, so this is tried three times.
    let mut tried = Vec::new();
    for _ in 0..3 {
        let (Some(fresh), Some(later)) = (median(&["--no-memory"]), median(&[])) else {
            return skipped("regions of two threads take over 20 µs here");
        };
        tried.push((fresh, later));
        if later <= fresh / 2 {
            break;
        }
    }
    assert!(
        tried.last().is_some_and(|(fresh, later)| *later <= fresh / 2),
        "executions with two threads, without and with memory: {tried:?}"
    );
    let shown = program.memory(&["show", "made-gcc"]);
    assert!(text(&shown.stdout).contains("short regions"), "{shown:?}");
}

#[test]
fn without_memory_nothing_is_kept_and_what_is_kept_can_be_forgotten() {
    let _turn = alone();
    let Some(program) = Program::new(SCALABLE) else { return };
    let (_, answer) = program.run(&["--no-memory"]);
    assert_eq!(text(&answer.stderr), "");
    assert!(!program.directory().exists());
    let listed = program.memory(&["list"]);
    assert!(text(&listed.stdout).starts_with("nothing is kept in "), "{listed:?}");
    let none = pacman_pmu(&["memory", "list"]).output().expect("it runs");
    assert_eq!(none.status.code(), Some(1));
    assert!(text(&none.stderr).contains("PACMAN_OMP_MEMORY is empty"), "{none:?}");
    let unknown = program.memory(&["forget", "made-gcc"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("nothing is kept of \"made-gcc\""), "{unknown:?}");

    program.run_until_kept();
    let forgot = program.memory(&["forget", "made-gcc"]);
    assert!(forgot.status.success() && text(&forgot.stdout).starts_with("forgot "), "{forgot:?}");
    assert_eq!(files(&program.directory()).len(), 0);

    program.run_until_kept();
    let listed = program.memory(&["list", "--json"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).expect("JSON");
    Schema::of("memory").holds("memory list", &listed);
    let region = &listed["programs"][0]["regions"][0];
    assert_eq!(
        (&region["threads"], &region["objective"]),
        (&2.into(), &"time".into()),
        "{listed:#}"
    );
    assert!(program.memory(&["forget", "--all"]).status.success());
    assert_eq!(files(&program.directory()).len(), 0);
}

#[test]
fn a_damaged_file_is_named_and_replaced() {
    let _turn = alone();
    let Some(program) = Program::new(SCALABLE) else { return };
    let file = &program.run_until_kept();
    let whole = fs::read_to_string(file).expect("it is read");
    let other = whole.replace("\"program\": \"made-gcc\"", "\"program\": \"other\"");
    for (damage, why) in [
        (&whole[..whole.len() / 2], "is not an adaptation memory"),
        (other.as_str(), "is of another program or machine"),
    ] {
        fs::write(file, damage).expect("it is written");
        let report = program.scratch.path("report.txt");
        let mut command = program.command(&["run", "--adapt", "--narrow", "-o"]);
        command.arg(&report).arg("--").arg(&program.made);
        assert!(command.status().expect("it runs").success());
        let report = fs::read_to_string(report).expect("a report");
        let note = report.lines().find(|line| line.contains("adaptation starts from nothing"));
        assert!(note.is_some_and(|note| note.contains(why)), "{report}");
        let now = (0..20).find_map(|_| {
            let now = fs::read_to_string(file).expect("it is read");
            if now == damage {
                program.run(&[]);
            }
            (now != damage).then_some(now)
        });
        let now = now.expect("one of twenty runs measures one thread");
        assert!(now.contains("\"program\": \"made-gcc\"") && now.ends_with("}\n"), "{now}");
    }
}

#[test]
fn a_directory_that_cannot_be_made_is_named_and_the_run_goes_on() {
    let _turn = alone();
    let Some(program) = Program::new(SCALABLE) else { return };
    program.scratch.file("memory", "a file is in the way");
    // A run that measured nothing has nothing to keep.
    let said = (0..20).find_map(|_| {
        let (region, answer) = program.run(&[]);
        assert_eq!(region["executions"], 300);
        (!answer.stderr.is_empty()).then(|| text(&answer.stderr).to_owned())
    });
    let said = said.expect("one of twenty runs measures one thread");
    assert!(
        said.contains("cannot keep what adaptation measured") && said.contains("--no-memory"),
        "{said}"
    );
}

#[test]
fn a_directory_of_others_is_refused_and_what_a_file_quotes_is_escaped() {
    let scratch = Scratch::new();
    let directory = scratch.path("memory");
    fs::create_dir(&directory).expect("a directory");
    let damaged = b"{\"format\": \"pacman-memory\", \"\x1b[2Jx\": 1}";
    fs::write(directory.join("a-b.json"), damaged).expect("a file");
    let list = |arguments: &[&str]| {
        let mut command = pacman_pmu(arguments);
        command.env("PACMAN_OMP_MEMORY", &directory).output().expect("it runs")
    };
    for arguments in [&["memory", "list"][..], &["memory", "show", "a"]] {
        let answer = list(arguments);
        assert!(answer.status.success(), "{answer:?}");
        assert!(!answer.stdout.contains(&0x1b), "{answer:?}");
        let said = String::from_utf8_lossy(&answer.stdout);
        assert!(said.contains("is not an adaptation memory"), "{answer:?}");
    }
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    fs::set_permissions(&directory, open).expect("it is this test's");
    let answer = list(&["memory", "list"]);
    let said = String::from_utf8_lossy(&answer.stderr);
    assert!(!answer.status.success() && answer.stdout.is_empty(), "{answer:?}");
    assert!(said.lines().count() == 1 && said.contains("every user may write to it"), "{said}");
}
