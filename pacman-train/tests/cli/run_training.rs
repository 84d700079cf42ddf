//! `run --record`: an OpenMP program run at several numbers of threads is training data.

use std::fs;

use pacman_adapt::predict::machine_name;
use pacman_core::Topology;

use super::scratch::Scratch;
use super::{everyday, pacman_pmu, text};

/// Four regions that share their work, one of which has a narrower team at first, and one of three
/// threads whatever the program is told.
const SOURCE: &str = r#"
#include <stdlib.h>
static double a[1 << 15];
static void scale(double by) {
#pragma omp parallel for
  for (int i = 0; i < 1 << 15; i++) a[i] = a[i] * by + i;
}
static void divide(void) {
#pragma omp parallel for
  for (int i = 0; i < 1 << 15; i++) a[i] = a[i] / (i + 1.0);
}
static void shift(void) {
#pragma omp parallel for
  for (int i = 0; i < 1 << 15; i++) a[i] += 1.0;
}
static double sum(int whole) {
  double all = 0;
#pragma omp parallel for reduction(+ : all) if (whole)
  for (int i = 0; i < 1 << 15; i++) all += a[i];
  return all;
}
static void fixed(void) {
#pragma omp parallel num_threads(3)
#pragma omp single
  a[0] += 1.0;
}
int main(int count, char **arguments) {
  double all = 0;
  for (int round = 0; round < 5; round++) {
    scale(0.5), divide(), shift(), fixed(), all += sum(round > 1);
  }
  return count > 1 ? atoi(arguments[1]) : all > 0 ? 0 : 1;
}
"#;

fn rows(data: &str) -> Vec<csv::StringRecord> {
    let mut reader = csv::Reader::from_path(data).expect("a table");
    let own = ["machine", "app", "phase", "threads", "run", "time_s", "executions", "task-clock"];
    assert_eq!(reader.headers().expect("a header"), &own[..]);
    reader.records().collect::<Result<_, _>>().expect("rows")
}

#[test]
fn a_loop_over_thread_counts_gives_what_train_and_evaluate_take() {
    if everyday().is_none() {
        return;
    }
    let scratch = Scratch::new();
    let flags = ["-g", "-O1", "-fno-inline", "-fopenmp"];
    let Some(program) = scratch.compile("gcc", &flags, SOURCE) else { return };
    let data = scratch.path("data.csv").display().to_string();
    for (turn, threads) in ["1", "2", "4"].into_iter().enumerate() {
        let mut command = pacman_pmu(&["run", "-e", "task-clock", "--record", &data, "--"]);
        let answer = command.arg(&program).env("OMP_NUM_THREADS", threads).output();
        let answer = answer.expect("it runs");
        let said = text(&answer.stderr);
        assert_eq!(answer.status.code(), Some(0), "{said}");
        let line = format!(
            "pacman-pmu: not in {data}: fixed, line 23: its team had 3 threads, the run's \
             {threads}\n"
        );
        assert!(said.contains(&line), "{said}");
        let line = format!(
            "pacman-pmu: teams varied, so that {data} has executions of the widest only, and no \
             counts, of sum, line 18\n"
        );
        let varied = threads != "1";
        assert_eq!(said.contains(&line), varied, "{said}");
        let all = rows(&data);
        assert_eq!(all.len(), 4 * (turn + 1));
        let here = machine_name(&Topology::detect().expect("a machine"));
        for row in &all[4 * turn..] {
            let [seconds, busy] = [5, 7].map(|at| row[at].parse::<f64>().unwrap_or(f64::NAN));
            let reduced = varied && row[2].starts_with("sum,");
            let (executions, counted) = if reduced { ("3", false) } else { ("5", true) };
            let run = (turn + 1).to_string();
            assert_eq!(
                (&row[0], &row[1], &row[3], &row[4], &row[6], busy > 0.0),
                (&*here, "made-gcc", threads, &*run, executions, counted),
                "{row:?}"
            );
            assert!(seconds > 0.0 && seconds < 60.0, "{row:?}");
        }
    }
    let model = scratch.path("model.json").display().to_string();
    for arguments in [&["train", &data, "-o", &model][..], &["evaluate", &data]] {
        let answer = pacman_pmu(arguments).output().expect("it runs");
        let said = (text(&answer.stdout), text(&answer.stderr));
        assert_eq!(answer.status.code(), Some(0), "{arguments:?}: {said:?}");
        assert!(said.0.contains("4 programs"), "{arguments:?}: {said:?}");
    }

    // A model of times suits teams of what it was trained on, and says so of others.
    let train = ["train", &data, "-o", &model, "--events", "none"];
    assert_eq!(pacman_pmu(&train).output().expect("it runs").status.code(), Some(0));
    for (threads, line) in [
        ("4", None),
        ("3", Some("it has no configuration of 3 threads, wherever they run")),
        ("2", Some("it predicts from 4")),
    ] {
        let mut command = pacman_pmu(&["run", "--adapt", "--narrow", "--model", &model, "--"]);
        let answer = command.arg(&program).env("OMP_NUM_THREADS", threads).output();
        let answer = answer.expect("it runs");
        let said = text(&answer.stderr);
        assert_eq!(answer.status.code(), Some(0), "{said}");
        let without = said.lines().find(|line| line.contains("searching without the model"));
        assert_eq!(without.is_some(), line.is_some(), "{threads}: {said}");
        if let (Some(line), Some(without)) = (line, without) {
            assert!(without.ends_with(line), "{threads}: {without}");
        }
    }

    let before = fs::read(&data).expect("a file");
    let failed = pacman_pmu(&["run", "--record", &data, "--"]).arg(&program).arg("9").output();
    let failed = failed.expect("it runs");
    let line = format!("pacman-pmu: nothing is added to {data}: exit status 9\n");
    assert_eq!(failed.status.code(), Some(9));
    assert!(text(&failed.stderr).contains(&line), "{}", text(&failed.stderr));
    assert_eq!(fs::read(&data).expect("a file"), before);
}
