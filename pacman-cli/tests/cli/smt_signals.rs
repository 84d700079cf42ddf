//! `smt` and signals: passed on to the command, waited out, or taken as the end.

use std::fs;
use std::time::Duration;

use serde_json::Value;

use super::job::Job;
use super::text;

#[test]
fn a_signal_that_ends_programs_goes_to_the_command_and_the_summary_is_written() {
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("activity.json");
    let smt = ["smt", "--method", "idle", "--json", "-o", file.to_str().expect("UTF-8")];
    for (name, number) in
        [("HUP", libc::SIGHUP), ("QUIT", libc::SIGQUIT), ("USR1", libc::SIGUSR1), ("TERM", 15)]
    {
        let script = format!("trap 'exit 5' {name}; echo ready; while :; do sleep 0.02; done");
        let (job, _) = Job::start(&smt, &script);
        // SAFETY: kill has no preconditions; the process is the one started here.
        unsafe { libc::kill(job.pmu.id() as i32, number) };
        let answer = job.end();
        assert_eq!(answer.status.code(), Some(5), "{name}: {}", text(&answer.stderr));
        let report = fs::read(&file).expect("the summary");
        let report: Value = serde_json::from_slice(&report).expect("JSON");
        assert_eq!(report["exit_status"], 5, "{name}");
        fs::remove_file(&file).expect("it was there");
    }
}

#[test]
fn the_signal_that_ends_the_command_is_passed_on() {
    let smt = ["smt", "--method", "idle", "--quiet"];
    let (job, _) = Job::start(&smt, "echo ready; while :; do sleep 0.02; done");
    job.press(libc::SIGINT);
    let answer = job.end();
    assert_eq!(answer.status.code(), Some(130), "{}", text(&answer.stderr));
}

#[test]
fn a_command_that_ignores_ctrl_c_is_let_go_by_the_second() {
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("activity.json");
    let smt = ["smt", "--method", "idle", "--json", "-o", file.to_str().expect("UTF-8")];
    let (mut job, pid) = Job::start(&smt, "trap '' INT; echo $$; exec sleep 60");
    // Signals of one kind merge while nobody has taken the first.
    while job.pmu.try_wait().expect("a child").is_none() {
        job.press(libc::SIGINT);
        std::thread::sleep(Duration::from_millis(20));
    }
    // SAFETY: kill has no preconditions; the process is the one started here.
    let lived = unsafe { libc::kill(pid.parse().expect("a process id"), libc::SIGKILL) };
    let answer = job.end();
    assert_eq!((lived, answer.status.code()), (0, Some(130)), "{}", text(&answer.stderr));
    let report = fs::read(&file).expect("the summary");
    let report: Value = serde_json::from_slice(&report).expect("JSON");
    assert_eq!(report["exit_status"], Value::Null);
}
