//! `stat -p`: counts of a process that runs already.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

use serde_json::Value;

use super::stat::{counted, subject};
use super::{pacman_pmu, run, text};

/// A process of a test's own, which ends with the test.
struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
}

impl Process {
    /// Starts it, and waits until it says that it is ready.
    fn start(program: &str, arguments: &[&str]) -> Process {
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it runs");
        let mut said = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        said.read_line(&mut line).expect("it says that it is ready");
        assert_eq!(line, "ready\n");
        let stdin = child.stdin.take();
        Process { child, stdin }
    }

    fn pid(&self) -> String {
        self.child.id().to_string()
    }

    /// Waits until `tracer` follows it, as long as that one runs.
    fn wait_for(&self, tracer: &mut Child) {
        let traced = format!("TracerPid:\t{}\n", tracer.id());
        while !self.status().contains(&traced) {
            assert!(tracer.try_wait().expect("a child").is_none(), "it ended");
            std::thread::yield_now();
        }
    }

    fn status(&self) -> String {
        std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it lives")
    }

    /// It runs, and nobody follows it.
    fn is_free(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_none()
            && self.status().contains("TracerPid:\t0\n")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended, as some tests want it to.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn every_thread_of_a_running_process_is_counted_while_the_command_runs() {
    let mut process = Process::start(subject(), &["pool", "3"]);
    let (answer, document) =
        counted(&["-e", "task-clock", "-p", &process.pid(), "--", "sleep", "0.3"]);
    assert_eq!(answer.status.code(), Some(0));
    assert_eq!(document["process"].to_string(), process.pid());
    let rows = document["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 4, "{document:#}");
    assert!(rows.iter().all(|row| row["pid"] == process.child.id()));
    let clocks: Vec<u64> = rows.iter().filter_map(|row| row["counts"][0].as_u64()).collect();
    // The first thread waits, and may finish a system call.
    let work = clocks.iter().filter(|clock| **clock > 1_000_000);
    assert_eq!(work.count(), 3, "three work: {clocks:?}");
    let elapsed = document["elapsed_ns"].as_u64().expect("a time");
    assert!(clocks.iter().all(|clock| *clock <= elapsed), "{clocks:?} in {elapsed}");
    assert!(document["user_ns"].is_null(), "its processor time began before");
    assert!(process.is_free());
}

#[test]
fn threads_that_a_process_makes_later_are_counted_until_it_ends() {
    let script = format!("echo ready; read line; exec {} many 50", subject());
    let mut process = Process::start("sh", &["-c", &script]);
    let stat = ["stat", "--json", "-e", "page-faults", "-p", &process.pid()];
    let mut stat = pacman_pmu(&stat).stderr(Stdio::piped()).spawn().expect("it was built");
    process.wait_for(&mut stat);
    process.stdin.take().expect("a pipe").write_all(b"go\n").expect("it reads");
    let mut said = String::new();
    stat.stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
    assert_eq!(stat.wait().expect("it ends").code(), Some(0), "{said}");
    let document: Value = serde_json::from_str(&said).expect("JSON");
    let rows = document["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 51, "{document:#}");
    assert!(rows.iter().all(|row| row["counts"][0].as_u64().is_some_and(|faults| faults > 0)));
    assert_eq!(document["exit_status"], 0);
}

#[test]
fn ctrl_c_ends_the_count_and_not_the_process() {
    let mut process = Process::start("sh", &["-c", "echo ready; read line"]);
    let stat = ["stat", "-e", "task-clock", "-p", &process.pid()];
    let mut stat = pacman_pmu(&stat).stderr(Stdio::piped()).spawn().expect("it was built");
    process.wait_for(&mut stat);
    // SAFETY: kill has no preconditions; the process is the one started here.
    unsafe { libc::kill(stat.id() as i32, libc::SIGTERM) };
    let answer = stat.wait_with_output().expect("it ends");
    let said = text(&answer.stderr);
    assert_eq!(answer.status.code(), Some(0), "{said}");
    assert!(said.starts_with(&format!("process {}, ", process.pid())), "{said}");
    assert!(said.contains("T0 sh"), "{said}");
    assert!(process.is_free());
}

#[test]
fn a_process_that_cannot_be_followed_and_a_command_that_cannot_run_get_one_line() {
    let gone = {
        let process = Process::start("sh", &["-c", "echo ready; read line"]);
        process.pid()
    };
    let answer = run(&["stat", "-e", "task-clock", "-p", &gone]);
    let line = format!(
        "pacman-pmu: cannot count process {gone}: ptrace says No such process (os error 3): name a \
         process that runs\n"
    );
    assert_eq!((answer.status.code(), text(&answer.stderr)), (Some(1), line.as_str()));
    let mut process = Process::start("sh", &["-c", "echo ready; read line"]);
    let answer = run(&["stat", "-e", "task-clock", "-p", &process.pid(), "--", "no-such-program"]);
    let said = text(&answer.stderr);
    assert_eq!((answer.status.code(), said.lines().count()), (Some(127), 1), "{said}");
    assert!(said.starts_with("pacman-pmu: cannot run no-such-program: "), "{said}");
    assert!(process.is_free());
}
