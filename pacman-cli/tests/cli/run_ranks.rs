//! `run` as a launcher starts it for each rank, and `merge`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use pacman_suite::skipped;
use serde_json::Value;

use super::scratch::Scratch;
use super::{pacman_pmu, text};

/// A region that runs more often the higher the rank. Rank 2 fails.
const SOURCE: &str = r#"
#include <omp.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
  const char *rank = getenv("PMI_RANK");
  int number = rank ? atoi(rank) : 0;
  for (int i = 0; i <= 10 * number * number * number * number; i++) {
#pragma omp parallel num_threads(2)
    for (volatile int turn = 0; turn < 1000000; turn++)
      ;
  }
  return number == 2 ? 3 : 0;
}
"#;

/// The command as MPICH's launcher starts it for a rank.
fn rank(scratch: &Scratch, program: &Path, (rank, ranks): (u32, u32), report: &str) -> Command {
    let mut command = pacman_pmu(&["run", "-o", &scratch.named(report), "--"]);
    command.arg(program).env("PMI_RANK", rank.to_string()).env("PMI_SIZE", ranks.to_string());
    command.env_remove("PMIX_NAMESPACE").stdin(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// As [`rank`], by a launcher that names the job.
fn rank_of(job: &str, scratch: &Scratch, program: &Path, place: (u32, u32)) -> Command {
    let mut command = rank(scratch, program, place, "all.json");
    command.env("PMI_JOBID", job);
    command
}

/// A program that ends when its standard input does.
const WAITING: &str = r#"
#include <stdio.h>
int main(void) {
#pragma omp parallel num_threads(2)
  for (volatile int turn = 0; turn < 1000; turn++)
    ;
  puts("begun");
  fflush(stdout);
  while (getchar() != EOF)
    ;
  return 0;
}
"#;

/// Starts it, and answers when the program runs.
fn started(mut command: Command) -> Child {
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it runs");
    let mut line = String::new();
    let out = child.stdout.take().expect("a pipe");
    BufReader::new(out).read_line(&mut line).expect("a line");
    assert_eq!(line, "begun\n");
    child
}

fn said(output: &Output) -> &str {
    text(&output.stderr)
}

fn report(scratch: &Scratch, name: &str) -> Value {
    let text = fs::read_to_string(scratch.path(name)).expect("a report");
    serde_json::from_str(&text).expect("JSON")
}

fn ended(output: &Output, status: i32) {
    assert_eq!(output.status.code(), Some(status), "{}", text(&output.stderr));
}

#[test]
fn the_rank_that_ends_last_writes_one_report_on_all() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("cc", &["-O1", "-fopenmp"], SOURCE) else { return };
    let start =
        |number| rank(&scratch, &program, (number, 3), "all.json").spawn().expect("it runs");
    let ranks: Vec<Child> = (0..3).map(start).collect();
    for (number, child) in ranks.into_iter().enumerate() {
        let output = child.wait_with_output().expect("it ends");
        ended(&output, if number == 2 { 3 } else { 0 });
    }
    let report = report(&scratch, "all.json");
    assert_eq!((&report["version"], &report["exit_status"]), (&3.into(), &3.into()));
    // Those before it say that the machine was busy.
    let notes = report["notes"].as_array().expect("a list");
    assert_eq!(notes.last(), Some(&Value::from("rank 2: exit status 3")));
    let numbers = |list: &Value, name: &str| -> Vec<u64> {
        let list = list.as_array().expect("a list").iter();
        list.map(|one| one[name].as_u64().expect("a number")).collect()
    };
    assert_eq!(numbers(&report["processes"], "rank"), [0, 1, 2]);
    assert_eq!(numbers(&report["ranks"]["processes"], "rank"), [0, 1, 2]);
    let regions = &report["ranks"]["regions"];
    assert_eq!(numbers(regions, "executions"), [1 + 11 + 161]);
    assert_eq!(numbers(regions, "processes"), [3]);
    assert_eq!(numbers(regions, "slowest"), [2]);
    assert!(!scratch.path("all.json.ranks").exists(), "the directory is gone");
}

#[test]
fn what_killed_ranks_left_is_merged_by_hand_in_every_form() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("cc", &["-O1", "-fopenmp"], SOURCE) else { return };
    for (number, missing) in [(0, "ranks 1, 2"), (1, "rank 2")] {
        let output = rank_of("a", &scratch, &program, (number, 3)).output().expect("it runs");
        ended(&output, 4);
        assert!(said(&output).contains(&format!("{missing} did not begin")), "{}", said(&output));
    }
    assert!(!scratch.path("all.json").exists(), "a rank is missing");
    let directory = scratch.named("all.json.ranks");
    // A file of an earlier run with other ranks does not belong to it.
    let old = fs::read_to_string(scratch.path("all.json.ranks/rank-1.recordings")).expect("a file");
    let old = old.replacen("\"ranks\":3", "\"ranks\":8", 1).replacen("\"rank\":1", "\"rank\":7", 1);
    let began = old.find("\"began\":").expect("a time") + "\"began\":".len();
    let old =
        format!("{}1{}", &old[..began], &old[began + old[began..].find(',').expect("more")..]);
    fs::write(scratch.path("all.json.ranks/rank-7.recordings"), old).expect("a file");
    fs::write(scratch.path("all.json.ranks/rank-9.recordings"), "x").expect("a file");
    for form in ["json", "csv", "txt", "html"] {
        let name = format!("some.{form}");
        let output = pacman_pmu(&["merge", &directory, "-o", &scratch.named(&name)]).output();
        let output = output.expect("it runs");
        ended(&output, 0);
        let said = text(&output.stderr);
        assert!(said.contains("rank 2 is missing"), "{said}");
        assert!(said.contains("rank-7.recordings is of another run"), "{said}");
        assert!(said.contains("rank-9.recordings is not the file of a rank"), "{said}");
        let report = fs::read_to_string(scratch.path(&name)).expect("a report");
        assert!(report.contains("main, region 0"), "{report}");
    }
    assert_eq!(report(&scratch, "some.json")["processes"].as_array().map(Vec::len), Some(2));
    // Without -o it is the report that was asked for; the directory stays.
    ended(&pacman_pmu(&["merge", &directory]).output().expect("it runs"), 0);
    assert_eq!(report(&scratch, "all.json")["processes"].as_array().map(Vec::len), Some(2));
    // The third rank comes: the report has all.
    let output = rank_of("a", &scratch, &program, (2, 3)).output().expect("it runs");
    ended(&output, 3);
    assert_eq!(report(&scratch, "all.json")["processes"].as_array().map(Vec::len), Some(3));
}

#[test]
fn a_directory_that_others_can_write_to_is_refused_before_the_run() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("cc", &["-O1", "-fopenmp"], SOURCE) else { return };
    let directory = scratch.path("all.json.ranks");
    fs::create_dir(&directory).expect("a directory");
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o777)).expect("its own");
    let output = rank(&scratch, &program, (2, 3), "all.json").output().expect("it runs");
    ended(&output, 2);
    assert!(text(&output.stderr).contains("only this user can write to"));
    let output =
        pacman_pmu(&["merge", &scratch.named("all.json.ranks")]).output().expect("it runs");
    ended(&output, 2);
    assert!(text(&output.stderr).contains("it has no recording of a rank"));
    let output = pacman_pmu(&["merge", &scratch.named("other")]).output().expect("it runs");
    ended(&output, 2);
    assert!(text(&output.stderr).contains("name a report with -o"));
}

#[test]
fn a_directory_that_a_killed_command_left_loses_no_later_report() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("cc", &["-O1", "-fopenmp"], SOURCE) else { return };
    // An earlier version's mark of a merge, and the files of a command that was killed in one.
    fs::create_dir_all(scratch.path("all.json.ranks/merging")).expect("a directory");
    fs::write(scratch.path("all.json.ranks/turn"), "{}").expect("a file");
    fs::write(scratch.path("all.json.ranks/rank-1.running"), "{").expect("a file");
    let start = |number| rank(&scratch, &program, (number, 2), "all.json").spawn();
    let ranks = [0, 1].map(|number| start(number).expect("it runs"));
    ranks.into_iter().for_each(|child| ended(&child.wait_with_output().expect("it ends"), 0));
    assert_eq!(report(&scratch, "all.json")["processes"].as_array().map(Vec::len), Some(2));
    assert!(!scratch.path("all.json.ranks").exists(), "the directory is gone");
}

#[test]
fn a_rank_of_an_earlier_run_without_a_name_is_not_merged() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("cc", &["-O1", "-fopenmp"], SOURCE) else { return };
    for (number, missing) in [(0, "rank 1"), (1, "rank 0")] {
        let output = rank(&scratch, &program, (number, 2), "all.json").output().expect("it runs");
        ended(&output, 4);
        assert!(said(&output).contains(&format!("{missing} did not begin")), "{}", said(&output));
    }
    assert!(!scratch.path("all.json").exists());
}

#[test]
fn the_last_command_names_ranks_whose_commands_were_killed() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("cc", &["-O1", "-fopenmp"], WAITING) else { return };
    let mut killed = started(rank_of("a", &scratch, &program, (0, 2)));
    killed.kill().expect("it is there");
    killed.wait().expect("it ends");
    let mut last = rank_of("a", &scratch, &program, (1, 2));
    let output = last.stdin(Stdio::null()).output().expect("it runs");
    ended(&output, 4);
    assert!(said(&output).contains("rank 0 was killed"), "{}", said(&output));
    // A new run takes the directory over.
    let start = |number| {
        let mut command = rank_of("b", &scratch, &program, (number, 2));
        command.stdin(Stdio::null()).spawn().expect("it runs")
    };
    let ranks = [start(0), start(1)];
    ranks.into_iter().for_each(|child| ended(&child.wait_with_output().expect("it ends"), 0));
    assert_eq!(report(&scratch, "all.json")["processes"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_second_run_with_the_same_report_is_refused_while_the_first_one_runs() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("cc", &["-O1", "-fopenmp"], WAITING) else { return };
    let first = started(rank_of("a", &scratch, &program, (0, 2)));
    for (job, number, why) in [
        ("b", 0, "another command writes those of this rank"),
        ("b", 1, "another run writes to it"),
    ] {
        let output = rank_of(job, &scratch, &program, (number, 2)).output().expect("it runs");
        ended(&output, 2);
        assert!(said(&output).contains(why), "{}", said(&output));
    }
    let mut second = rank_of("a", &scratch, &program, (1, 2));
    ended(&second.stdin(Stdio::null()).output().expect("it runs"), 0);
    assert!(!scratch.path("all.json").exists(), "rank 0 goes on");
    ended(&rank_of("a", &scratch, &program, (1, 2)).output().expect("it runs"), 2);
    ended(&first.wait_with_output().expect("it ends"), 0);
    assert_eq!(report(&scratch, "all.json")["processes"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_rank_that_nobody_can_merge_is_told() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("cc", &["-O1", "-fopenmp"], SOURCE) else { return };
    let path = scratch.named("all.json");
    let mut command = pacman_pmu(&["run", "-o", &path, "--"]);
    let output = command.arg(&program).env("PMIX_RANK", "1").output().expect("it runs");
    ended(&output, 4);
    assert!(said(&output).contains("does not say how many ranks there are"), "{}", said(&output));
    ended(&pacman_pmu(&["merge", &format!("{path}.ranks")]).output().expect("it runs"), 0);
    assert_eq!(report(&scratch, "all.json")["processes"][0]["rank"], 1);
    // The recordings of this rank have no place: its own report goes to standard error.
    let lost = "rm -r \"$0.ranks\" && \"$1\"";
    let mut command = rank(&scratch, Path::new("sh"), (0, 2), "all.json");
    let output = command.args(["-c", lost, &path]).arg(&program).output().expect("it runs");
    ended(&output, 4);
    assert!(said(&output).contains("cannot write the recordings of rank 0"), "{}", said(&output));
    assert!(said(&output).contains("main, region 0"), "{}", said(&output));
}

#[test]
fn commands_that_do_not_know_of_each_other_lose_no_report() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("cc", &["-O1", "-fopenmp"], WAITING) else { return };
    // A launcher whose variables nobody knows.
    let start = || {
        let mut command = rank(&scratch, &program, (0, 2), "all.json");
        command.env_remove("PMI_RANK").env_remove("PMI_SIZE");
        started(command)
    };
    let (one, other) = (start(), start());
    ended(&one.wait_with_output().expect("it ends"), 0);
    let first = report(&scratch, "all.json");
    let output = other.wait_with_output().expect("it ends");
    ended(&output, 4);
    assert!(said(&output).contains("another process has written it"), "{}", said(&output));
    assert!(said(&output).contains("main, region 0"), "{}", said(&output));
    assert_eq!(report(&scratch, "all.json"), first, "it stays");
    // Alone, a command replaces the report.
    ended(&start().wait_with_output().expect("it ends"), 0);
    assert_ne!(report(&scratch, "all.json"), first);
    for kind in [&["stat", "-e", "task-clock"][..], &["smt"]] {
        let path = scratch.named("answer");
        let command = [kind, &["-o", &path, "--", "sh", "-c", "echo own > \"$0\"", &path]].concat();
        let output = pacman_pmu(&command).output().expect("it runs");
        ended(&output, 4);
        assert!(said(&output).contains("another process has written it"), "{}", said(&output));
        assert_eq!(fs::read_to_string(&path).expect("a file"), "own\n");
    }
}

#[test]
fn a_batch_script_of_slurm_is_no_rank() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("cc", &["-O1", "-fopenmp"], SOURCE) else { return };
    let mut command = pacman_pmu(&["run", "-o", &scratch.named("all.json"), "--"]);
    for (name, value) in [("SLURM_JOB_ID", "9"), ("SLURM_PROCID", "0"), ("SLURM_NTASKS", "4")] {
        command.env(name, value);
    }
    ended(&command.arg(&program).output().expect("it runs"), 0);
    assert_eq!(report(&scratch, "all.json")["processes"][0]["rank"], Value::Null);
}

/// Ranks compute and meet. Then rank 0 ends all others by force, or rank 1 itself, with an argument.
const KILLED: &str = r#"
#include <mpi.h>
#include <signal.h>
#include <unistd.h>
int main(int count, char **words) {
  int rank;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int turn = 0; turn < 4; turn++) {
    usleep(30000);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank == 1 && count > 1)
    raise(SIGKILL);
  if (rank == 0 && count == 1)
    MPI_Abort(MPI_COMM_WORLD, 3);
  pause();
}
"#;

#[test]
fn the_time_of_a_killed_rank_has_all_its_mpi_calls() {
    for mpi in ["openmpi", "mpich"] {
        let scratch = Scratch::new();
        let Some(program) = scratch.compile(&format!("mpicc.{mpi}"), &["-O1"], KILLED) else {
            continue;
        };
        let path = scratch.named("all.json");
        for way in [&[][..], &["kill"]] {
            let launch = ["-o", &path, "--", &format!("mpirun.{mpi}"), "-n", "2"];
            let mut command = pacman_pmu(&[&["run", "--waits"], &launch[..]].concat());
            command.env("OMPI_ALLOW_RUN_AS_ROOT", "1");
            command.env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
            command.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
            let output = command.arg(&program).args(way).output().expect("it runs");
            assert_ne!(output.status.code(), Some(0), "{}", said(&output));
            assert!(said(&output).contains("did not end by exit"), "{mpi}: {}", said(&output));
            let report = report(&scratch, "all.json");
            let ranks = report["ranks"]["processes"].as_array().expect("a list");
            assert_eq!(ranks.len(), 2, "{mpi}, {way:?}");
            for rank in ranks {
                let seconds = |name: &str| rank[name].as_f64().expect("seconds");
                // The other one may still be in its last barrier, a call that never ends.
                let ends_it = rank["rank"] == u64::from(!way.is_empty());
                let computed = 0.03 * if ends_it { 4.0 } else { 3.0 };
                let outside = seconds("time_s") - seconds("mpi_s");
                assert!(outside >= computed, "{mpi}, {way:?}: {rank:#}");
            }
        }
    }
}

#[test]
fn a_rank_that_fails_says_how_to_get_a_report_should_the_launcher_kill_all() {
    let scratch = Scratch::new();
    let Some(waits) = scratch.compile("cc", &["-O1", "-fopenmp"], WAITING) else { return };
    let mut other = started(rank_of("a", &scratch, &waits, (0, 2)));
    let output = rank_of("a", &scratch, Path::new("/bin/false"), (1, 2)).output().expect("it runs");
    ended(&output, 1);
    let [report, directory] = ["all.json", "all.json.ranks"].map(|name| scratch.named(name));
    let how = format!("pacman-pmu merge {directory} -o {report} writes it");
    assert!(said(&output).contains(&how), "{}", said(&output));
    other.kill().expect("it runs");
    other.wait().expect("it ends");
    let output = pacman_pmu(&["merge", &directory, "-o", &report]).output().expect("it runs");
    ended(&output, 0);
    assert!(scratch.path("all.json").exists());
}

/// A hybrid program of MPI and OpenMP.
const HYBRID: &str = r#"
#include <mpi.h>
int main(int count, char **words) {
  int given, all = 0, own = 0;
  MPI_Init_thread(&count, &words, MPI_THREAD_FUNNELED, &given);
#pragma omp parallel num_threads(2) reduction(+ : own)
  own += 1;
  MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all != 8;
}
"#;

#[test]
fn four_ranks_of_either_mpi_end_in_one_report_started_either_way() {
    for mpi in ["openmpi", "mpich"] {
        let scratch = Scratch::new();
        let compiler = format!("mpicc.{mpi}");
        let Some(program) = scratch.compile(&compiler, &["-O1", "-fopenmp"], HYBRID) else {
            continue;
        };
        let mpirun = format!("mpirun.{mpi}");
        let launcher = |command: &mut Command| {
            command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
            command.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
            command.env("OMPI_MCA_hwloc_base_binding_policy", "none");
            command.output().expect("it runs")
        };
        let (inside, outside) = (scratch.named("inside.json"), scratch.named("outside.json"));
        let mut command = pacman_pmu(&["run", "-o", &outside, "--", &mpirun, "-n", "4"]);
        let output = launcher(command.arg(&program));
        if text(&output.stderr).contains("not found") {
            skipped(format_args!("no {mpirun}"));
            continue;
        }
        ended(&output, 0);
        let own = pacman_pmu(&["run", "-o", &inside, "--"]);
        let mut command = Command::new(&mpirun);
        command.args(["-n", "4"]).arg(own.get_program()).args(own.get_args());
        command.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
        ended(&launcher(command.arg(&program)), 0);
        for name in ["inside.json", "outside.json"] {
            let report = report(&scratch, name);
            let processes = report["ranks"]["processes"].as_array().expect("several ranks");
            let ranks: Vec<_> = processes.iter().map(|one| one["rank"].as_u64()).collect();
            assert_eq!(ranks, [Some(0), Some(1), Some(2), Some(3)], "{mpi}, {name}");
            assert_eq!(report["ranks"]["regions"][0]["processes"], 4, "{mpi}, {name}");
        }
    }
}
