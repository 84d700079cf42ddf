//! Programs in a control group whose quota is less than their threads need.

use std::fs;
use std::path::Path;

use pacman_suite::{QuotaGroup, skipped};
use serde_json::Value;

use super::scratch::Scratch;
use super::{pacman_pmu, text};

/// Two threads work for 0.1 s of processor time each.
const WORKS: &str = r#"
#include <time.h>

static double ran(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

int main(void)
{
    #pragma omp parallel num_threads(2)
    {
        double begun = ran();
        while (ran() - begun < 0.1) {}
    }
    return 0;
}
"#;

/// A control group with a tenth of a processor.
pub(super) fn group() -> Option<QuotaGroup> {
    let group = QuotaGroup::new(0.1);
    if group.is_none() {
        skipped("no control group with a quota can be made here");
    }
    group
}

#[test]
fn a_quota_that_threads_used_up_is_named_first() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("gcc", &["-O1", "-fopenmp"], WORKS) else { return };
    let Some(group) = group() else { return };
    let report = scratch.path("report.json");
    let mut command = pacman_pmu(&["run", "-o"]);
    command.arg(&report).arg("--").arg(&program);
    let answer = group.inside(&command).output().expect("it runs");
    assert!(answer.status.success(), "{}", text(&answer.stderr));
    let report: Value = serde_json::from_slice(&fs::read(&report).expect("a report")).unwrap();
    let first = report["notes"][0].as_str().expect("a note");
    let begin = "2 threads share a quota of 0.1 processors: throttled in ";
    assert!(first.starts_with(begin) && first.ends_with(" of the time; use 1 thread"), "{first}");
    let notes = report["notes"].as_array().unwrap();
    assert_eq!(notes.iter().filter(|note| note.to_string().contains("quota")).count(), 1);

    let mut command = pacman_pmu(&["stat", "-e", "task-clock", "--json", "--"]);
    let answer = group.inside(command.arg(&program)).output().expect("it runs");
    let said = text(&answer.stdout).to_owned() + text(&answer.stderr);
    assert!(said.contains("the program has a quota of 0.1 processors: throttled in "), "{said}");

    // Without the group there is nothing to say.
    let answer = pacman_pmu(&["run", "--"]).arg(&program).output().expect("it runs");
    assert!(!text(&answer.stderr).contains("quota"), "{}", text(&answer.stderr));
}

/// One thread works for a fifth of a millisecond, and the other one spins in libgomp meanwhile.
const SPINS: &str = r#"
#include <omp.h>
#include <time.h>

static double ran(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

int main(void)
{
    for (int round = 0; round < 400; round++) {
        #pragma omp parallel num_threads(2)
        if (omp_get_thread_num() == 0) {
            double begun = ran();
            while (ran() - begun < 2e-4) {}
        }
    }
    return 0;
}
"#;

fn findings(group: &QuotaGroup, scratch: &Scratch, program: &Path) -> Vec<Value> {
    let report = scratch.path("findings.json");
    let mut command = pacman_pmu(&["run", "-o"]);
    command.arg(&report).arg("--").arg(program);
    // Other work may keep both threads on one processor, where they use up half as much.
    command.env("OMP_PROC_BIND", "true").env("OMP_PLACES", "threads");
    // By default libgomp counts rounds. On a fast processor they end before the quota does, and a thread that sleeps has
    // used nothing up.
    command.env("OMP_WAIT_POLICY", "active");
    let answer = group.inside(&command).output().expect("it runs");
    assert!(answer.status.success(), "{}", text(&answer.stderr));
    let report: Value = serde_json::from_slice(&fs::read(&report).expect("a report")).unwrap();
    report["processes"][0]["findings"].as_array().expect("a list").clone()
}

#[test]
fn a_quota_that_waiting_threads_used_up_is_the_dearest_finding() {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        skipped("one context: no thread spins");
        return;
    }
    let scratch = Scratch::new();
    let Some(spins) = scratch.compile("gcc", &["-O1", "-fopenmp"], SPINS) else { return };
    let Some(group) = group() else { return };
    let found = findings(&group, &scratch, &spins);
    let first = found.first().unwrap_or_else(|| panic!("no finding"));
    assert_eq!(first["kind"], "quota", "{found:?}");
    assert!(first["gain_s"].as_f64() > Some(0.2), "{first}");
    assert!(first["remedy"].to_string().contains("OMP_NUM_THREADS=1,"), "{first}");
}

/// Both threads work all the time: fewer would take as long.
#[test]
fn a_quota_that_work_used_up_is_no_finding() {
    let scratch = Scratch::new();
    let Some(works) = scratch.compile("gcc", &["-O1", "-fopenmp"], WORKS) else { return };
    let Some(group) = group() else { return };
    let found = findings(&group, &scratch, &works);
    let gain = |finding: &Value| finding["gain_s"].as_f64().expect("a number");
    let quotas = found.iter().filter(|finding| finding["kind"] == "quota");
    let gained: f64 = quotas.map(gain).sum();
    // Two threads of 0.1 s take 2 s.
    assert!(gained < 0.3, "{found:?}");
}

#[test]
fn ranks_that_share_a_group_are_told_of_it_once() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("gcc", &["-O1", "-fopenmp"], WORKS) else { return };
    let Some(group) = group() else { return };
    let report = scratch.path("all.json");
    std::thread::scope(|scope| {
        for rank in ["0", "1"] {
            let mut command = pacman_pmu(&["run", "-o"]);
            command.arg(&report).arg("--").arg(&program);
            command.env("PMI_RANK", rank).env("PMI_SIZE", "2").env_remove("PMIX_NAMESPACE");
            let group = &group;
            scope.spawn(move || {
                let answer = group.inside(&command).output().expect("it runs");
                assert!(answer.status.success(), "{}", text(&answer.stderr));
            });
        }
    });
    let report: Value = serde_json::from_slice(&fs::read(&report).expect("a report")).unwrap();
    let notes = report["notes"].as_array().expect("notes");
    let quotas: Vec<&str> =
        notes.iter().filter_map(Value::as_str).filter(|note| note.contains("quota")).collect();
    let [line] = quotas[..] else { panic!("{notes:?}") };
    let begin = "ranks 0, 1: 4 threads share a quota of 0.1 processors: throttled in ";
    assert!(line.starts_with(begin), "{line}");
    assert!(line.ends_with("; use 1 thread in each of 2 processes"), "{line}");
}
