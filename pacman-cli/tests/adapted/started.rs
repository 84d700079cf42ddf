//! The number of threads that a run starts with, by what earlier runs cost.

use std::fs;
use std::path::{Path, PathBuf};

use pacman_suite::skipped;
use serde_json::{Value, json};

use super::scratch::Scratch;
use super::{alone, pacman_pmu, text};

const SOURCE: &str = r#"
#include <stdio.h>
int main(int count, char **words) {
  int threads = 0;
  for (int round = 0; round < 20; round++) {
    threads = 0;
#pragma omp parallel reduction(+ : threads)
    for (volatile int i = 0; i < 20000; i++) threads += i == 0;
  }
  printf("%d\n", threads);
  return count > 1 && words[1][0] == 'f';
}
"#;

/// A program, and its memory.
struct Remembering {
    _scratch: Scratch,
    program: PathBuf,
    directory: PathBuf,
}

impl Remembering {
    /// Its own number of threads, and the first line of the report or of the complaint.
    fn run(&self, options: &[&str], words: &[&str], threads: Option<&str>) -> (u32, String) {
        let mut command = pacman_pmu(&["run", "--adapt"]);
        command.args(options).arg("--").arg(&self.program).args(words);
        command.env("PACMAN_OMP_MEMORY", &self.directory).env_remove("OMP_NUM_THREADS");
        let output = command.envs(threads.map(|threads| ("OMP_NUM_THREADS", threads))).output();
        let output = output.expect("it runs");
        assert!(output.status.success(), "{output:?}");
        let said = text(&output.stderr).lines().find(|line| !line.is_empty());
        let ran = text(&output.stdout).trim().parse().expect("a number");
        (ran, said.expect("a line").to_owned())
    }

    fn file(&self) -> PathBuf {
        let files = fs::read_dir(&self.directory).expect("a directory");
        let files: Vec<PathBuf> = files.map(|file| file.expect("an entry").path()).collect();
        let is_memory = |path: &&PathBuf| path.extension().is_some_and(|end| end == "json");
        let mut memories = files.iter().filter(is_memory);
        let (memory, None) = (memories.next().expect("a file"), memories.next()) else {
            panic!("{files:?}")
        };
        memory.clone()
    }

    /// The runs that are kept.
    fn starts(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.file()).expect("text");
        let memory: Value = serde_json::from_str(&text).expect("JSON");
        memory["starts"].as_array().cloned().unwrap_or_default()
    }

    fn edit(&self, edit: impl FnOnce(&mut Vec<Value>)) {
        let path = self.file();
        let text = fs::read_to_string(&path).expect("text");
        let mut memory: Value = serde_json::from_str(&text).expect("JSON");
        edit(memory["starts"].as_array_mut().expect("runs"));
        fs::write(&path, memory.to_string()).expect("it is written");
    }
}

/// Gives a run figures of a quiet machine: those of this one may come from a busy one, and are worth nothing then.
fn remember(start: &mut Value, cost: f64, expected: &[(u32, f64)]) {
    start["cost"] = json!(cost);
    start["least"] = json!(cost);
    start["others"] = json!(null);
    start["others_at_least"] = json!(null);
    start["expected"] = json!(expected);
}

fn remembering() -> Option<(Remembering, u32)> {
    let contexts = std::thread::available_parallelism().map_or(1, usize::from) as u32;
    if contexts < 2 {
        skipped("one context: no number of threads is less");
        return None;
    }
    let scratch = Scratch::new();
    let program = scratch.compile("gcc", &["-O1", "-fopenmp"], SOURCE)?;
    let directory = scratch.path("memory");
    let (all, _) = {
        let mut command = pacman_pmu(&["run", "--adapt", "--no-memory", "--"]);
        let output = command.arg(&program).env_remove("OMP_NUM_THREADS").output().expect("it runs");
        (text(&output.stdout).trim().parse::<u32>().expect("a number"), output)
    };
    if all < 2 {
        skipped("a quota leaves one thread");
        return None;
    }
    Some((Remembering { _scratch: scratch, program, directory }, all))
}

#[test]
fn a_run_starts_with_the_threads_that_earlier_ones_were_best_with() {
    let _alone = alone();
    let Some((program, all)) = remembering() else { return };
    let plain = |said: &str| !said.contains(" by earlier runs");
    let (ran, said) = program.run(&[], &[], None);
    assert!(ran == all && plain(&said), "{said}");
    let [start] = &program.starts()[..] else { panic!("{:?}", program.starts()) };
    assert_eq!((&start["threads"], &start["runs"]), (&json!(all), &json!(1)));
    assert!(start["cost"].as_f64() > Some(0.0), "{start}");

    // Regions were packed on one context, and took half of the time.
    let packed = || {
        program
            .edit(|starts| starts.iter_mut().for_each(|start| remember(start, 1e-3, &[(1, 0.5)])))
    };
    packed();
    for (options, words, threads) in [
        (&["--no-memory"][..], &[][..], None),
        (&["--threads", "keep"], &[], None),
        (&[], &["other"], None),
        (&[], &[], Some(all.to_string())),
    ] {
        let (ran, said) = program.run(options, words, threads.as_deref());
        assert!(ran == all && plain(&said), "{options:?} {words:?}: {said}");
    }
    // The run with the user's number has other expectations.
    packed();
    let (ran, said) = program.run(&[], &[], None);
    let expected =
        format!(", 1 thread by earlier runs (50 % of the time of {all} threads expected)");
    assert!(ran == 1 && said.contains(&expected), "{said}");

    // Now that one thread was tried, its own cost decides.
    let set = |one: f64| {
        program.edit(|starts| {
            for start in starts {
                let cost = if start["threads"] == 1 { one } else { 1e-3 };
                remember(start, cost, &[]);
            }
        });
    };
    set(0.25e-3);
    let (ran, said) = program.run(&["--threads", "auto"], &[], None);
    let took = format!(", 1 thread by earlier runs (25 % of the time of {all} threads),");
    assert!(ran == 1 && said.contains(&took), "{said}");
    set(2e-3);
    let (ran, said) = program.run(&[], &[], None);
    assert!(ran == all && plain(&said), "{said}");
    let mut listed = pacman_pmu(&["memory", "show"]);
    listed.arg(program.program.file_name().expect("a name"));
    let listed = listed.env("PACMAN_OMP_MEMORY", &program.directory).output().expect("it runs");
    assert!(text(&listed.stdout).contains("threads  execution"), "{listed:?}");
}

#[test]
fn a_memory_that_cannot_be_read_is_said_and_the_default_stays() {
    let _alone = alone();
    let Some((program, all)) = remembering() else { return };
    program.run(&[], &[], None);
    fs::write(program.file(), "{}").expect("it is written");
    let (ran, said) = program.run(&[], &[], None);
    assert_eq!(ran, all);
    assert!(
        said.contains("the number of threads is the default: ") && said.contains("memory"),
        "{said}"
    );
    let (_, said) = program.run(&[], &[], None);
    assert!(!said.contains("the default: "), "the run replaced it: {said}");
}

#[test]
fn a_run_that_failed_tells_no_cost() {
    let _alone = alone();
    let Some((program, _)) = remembering() else { return };
    program.run(&[], &[], None);
    let before = program.starts();
    let mut command = pacman_pmu(&["run", "--adapt", "--"]);
    command.arg(&program.program).arg("fails").env("PACMAN_OMP_MEMORY", &program.directory);
    assert_eq!(command.output().expect("it runs").status.code(), Some(1));
    assert_eq!(program.starts(), before);
}

/// The command is a script, whose program may be another one tomorrow.
#[test]
fn a_script_is_not_remembered() {
    let _alone = alone();
    let Some((program, _)) = remembering() else { return };
    let script = program.directory.with_file_name("script");
    let text = format!("#!/bin/sh\nexec {}\n", program.program.display());
    fs::write(&script, text).expect("it is written");
    make_executable(&script);
    let mut command = pacman_pmu(&["run", "--adapt", "--"]);
    let output = command.arg(&script).env("PACMAN_OMP_MEMORY", &program.directory).output();
    assert!(output.expect("it runs").status.success());
    assert!(!program.directory.exists(), "{:?}", program.starts());
}

fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("it is ours");
}
