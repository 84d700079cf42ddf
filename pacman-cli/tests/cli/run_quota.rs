//! Programs in a control group whose quota is less than their threads need.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use pacman_suite::skipped;
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

/// A control group with a tenth of a processor, which goes away with the value.
pub(super) struct Group(PathBuf);

impl Group {
    pub(super) fn new() -> Option<Group> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("pacman-run-quota-{}-{number}", std::process::id());
        for (parent, file, text) in [
            ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "10000"),
            ("/sys/fs/cgroup/cpu,cpuacct", "cpu.cfs_quota_us", "10000"),
            ("/sys/fs/cgroup", "cpu.max", "10000 100000"),
        ] {
            let directory = Path::new(parent).join(&name);
            if fs::create_dir(&directory).is_err() {
                continue;
            }
            let group = Group(directory);
            if group.0.join(file).exists() && fs::write(group.0.join(file), text).is_ok() {
                return Some(group);
            }
        }
        skipped("no control group with a quota can be made here");
        None
    }

    pub(super) fn run(&self, command: &Command) -> Output {
        let mut inside = Command::new("sh");
        inside.args(["-c", "echo $$ > \"$0/cgroup.procs\" && exec \"$@\""]).arg(&self.0);
        inside.arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => inside.env(name, value),
                None => inside.env_remove(name),
            };
        }
        inside.output().expect("it runs")
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let end = Instant::now() + Duration::from_secs(5);
        while fs::remove_dir(&self.0).is_err() && Instant::now() < end {
            std::thread::yield_now();
        }
    }
}

#[test]
fn a_quota_that_threads_used_up_is_named_first() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("gcc", &["-O1", "-fopenmp"], WORKS) else { return };
    let Some(group) = Group::new() else { return };
    let report = scratch.path("report.json");
    let mut command = pacman_pmu(&["run", "-o"]);
    command.arg(&report).arg("--").arg(&program);
    let answer = group.run(&command);
    assert!(answer.status.success(), "{}", text(&answer.stderr));
    let report: Value = serde_json::from_slice(&fs::read(&report).expect("a report")).unwrap();
    let first = report["notes"][0].as_str().expect("a note");
    let begin = "2 threads share a quota of 0.1 processors: throttled in ";
    assert!(first.starts_with(begin) && first.ends_with(" of the time; use 1 thread"), "{first}");
    let notes = report["notes"].as_array().unwrap();
    assert_eq!(notes.iter().filter(|note| note.to_string().contains("quota")).count(), 1);

    let mut command = pacman_pmu(&["stat", "-e", "task-clock", "--json", "--"]);
    let answer = group.run(command.arg(&program));
    let said = text(&answer.stdout).to_owned() + text(&answer.stderr);
    assert!(said.contains("the program has a quota of 0.1 processors: throttled in "), "{said}");

    // Without the group there is nothing to say.
    let answer = pacman_pmu(&["run", "--"]).arg(&program).output().expect("it runs");
    assert!(!text(&answer.stderr).contains("quota"), "{}", text(&answer.stderr));
}
