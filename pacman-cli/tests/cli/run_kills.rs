//! Programs that are killed at random moments: the report misses at most what was under way.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::rows::rows;
use super::scratch::Scratch;
use super::{pacman_pmu, text};

/// Runs two regions by turns until it is ended, and counts their executions in a file of its own: its
/// number, the first region's, the second's.
const SOURCE: &str = r#"
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>
static volatile uint64_t *own;
static double sum;
static void one(int round) {
#pragma omp parallel for reduction(+ : sum) num_threads(2)
  for (int i = 0; i < round % 97; i++) sum += i;
}
static void two(int round) {
#pragma omp parallel num_threads(1 + round % 3)
  {
#pragma omp atomic
    sum += 1;
  }
}
int main(int count, char **words) {
  signal(SIGHUP, SIG_DFL); /* nohup(1) ignores it, and a shell ignores SIGINT for a job that it starts with &. */
  signal(SIGINT, SIG_DFL);
  alarm(120); /* A signal that does not end it is an error, not a wait for ever. */
  int file = open(words[count - 1], O_RDWR);
  own = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (own == MAP_FAILED) return 1;
  own[0] = getpid();
  for (int round = 0;; round++) {
    one(round);
    own[1]++;
    two(round);
    own[2]++;
  }
}
"#;

/// The first words of a file, which the program writes to.
struct Counts(*const AtomicU64);

impl Counts {
    fn of(path: &Path) -> Counts {
        use std::os::fd::AsRawFd;
        fs::write(path, [0; 4096]).expect("a file");
        let file = fs::File::open(path).expect("it was made");
        // SAFETY: a page of a file that stays as long.
        let page = unsafe {
            let (protection, flags) = (libc::PROT_READ, libc::MAP_SHARED);
            libc::mmap(std::ptr::null_mut(), 4096, protection, flags, file.as_raw_fd(), 0)
        };
        assert_ne!(page, libc::MAP_FAILED, "{}", std::io::Error::last_os_error());
        Counts(page.cast())
    }

    fn get(&self, at: usize) -> u64 {
        assert!(at < 3);
        // SAFETY: words of the page.
        unsafe { &*self.0.add(at) }.load(Ordering::Relaxed)
    }
}

impl Drop for Counts {
    fn drop(&mut self) {
        // SAFETY: mapped in `of`, and nobody has a reference to it.
        unsafe { libc::munmap(self.0.cast_mut().cast(), 4096) };
    }
}

/// Waits until the second region has run, and then for so long.
fn wait(counts: &Counts, more: Duration) {
    let begun = Instant::now();
    while counts.get(2) == 0 {
        assert!(begun.elapsed() < Duration::from_secs(60), "no region runs");
        std::thread::yield_now();
    }
    let running = Instant::now();
    while running.elapsed() < more {
        std::hint::spin_loop();
    }
}

fn killed(scratch: &Scratch, program: &Path, signal: i32, draw: u32, arguments: &[&str]) {
    let (shared, report) = (scratch.path("counts"), scratch.path("report.json"));
    let _ = fs::remove_file(&report);
    let counts = Counts::of(&shared);
    let mut command = pacman_pmu(&["run", "-o"]);
    command.arg(&report).args(arguments).arg("--").arg(program).arg(&shared);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let child = command.spawn().expect("it runs");
    // From none to two milliseconds, most of them early: regions take microseconds.
    wait(&counts, Duration::from_nanos(u64::from(draw >> 11).pow(2) / 2_199));
    let pid = counts.get(0) as i32;
    // SAFETY: the program is the command's child, which waits for it.
    assert_eq!(unsafe { libc::kill(pid, signal) }, 0);
    let answer = child.wait_with_output().expect("it ends");
    let said = text(&answer.stderr);
    assert_eq!(answer.status.code(), Some(128 + signal), "{said}");
    let report = fs::read_to_string(&report).unwrap_or_else(|error| panic!("{error}: {said}"));
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let process = &report["processes"][0];
    assert_eq!((&process["ending"], &process["ending_signal"]), (&"killed".into(), &signal.into()));
    let mut regions: Vec<&Value> = process["regions"].as_array().expect("a list").iter().collect();
    regions.sort_by_key(|region| !region["symbol"].as_str().expect("a name").starts_with("one"));
    assert_eq!(regions.len(), 2, "{said}");
    for (at, region) in regions.iter().enumerate() {
        let (own, recorded) =
            (counts.get(at + 1), region["executions"].as_u64().expect("a number"));
        // The library enters an execution before the program goes on.
        assert!(
            (own..=own + 1).contains(&recorded),
            "{recorded} recorded of {own}, signal {signal}"
        );
        let figure = |name: &str| region[name].as_f64().expect("a number");
        assert!(
            figure("shortest_s") <= figure("longest_s") && figure("longest_s") <= figure("time_s")
        );
        let rows = rows(&region["threads"]);
        let first = rows[0]["executions"].as_u64().expect("a number");
        assert!((recorded..=recorded + 1).contains(&first), "{first} by thread 0 of {recorded}");
        if arguments.contains(&"--adapt") {
            assert!(region["adaptation"]["state"].is_string(), "{region:#}");
        }
    }
}

/// So many kills by each of five signals.
fn campaign(kills: u32) {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("gcc", &["-O1", "-fopenmp"], SOURCE) else { return };
    let mut draw = 1u32;
    let signals = [libc::SIGINT, libc::SIGTERM, libc::SIGKILL, libc::SIGABRT, libc::SIGHUP];
    for kill in 0..kills {
        let arguments: &[&str] = match kill % 4 {
            0 => &["-e", "task-clock"],
            1 => &["--adapt"],
            _ => &[],
        };
        for signal in signals {
            draw = draw.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            killed(&scratch, &program, signal, draw, arguments);
        }
    }
}

#[test]
fn a_killed_program_s_report_misses_at_most_what_was_under_way() {
    campaign(20);
}

#[test]
#[ignore = "ten times as many as above: minutes"]
fn a_thousand_killed_programs_reports_miss_at_most_what_was_under_way() {
    campaign(200);
}

#[test]
fn nothing_is_left_where_the_command_is_killed_itself() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("gcc", &["-O1", "-fopenmp"], SOURCE) else { return };
    let (shared, temporary) = (scratch.path("counts"), scratch.path("tmp"));
    fs::create_dir(&temporary).expect("a directory");
    let counts = Counts::of(&shared);
    let mut command: Command = pacman_pmu(&["run", "--"]);
    command.arg(&program).arg(&shared).env("TMPDIR", &temporary);
    let mut child = command.stderr(Stdio::null()).spawn().expect("it runs");
    wait(&counts, Duration::ZERO);
    child.kill().expect("it is ours");
    child.wait().expect("it ended");
    let before = counts.get(2);
    let begun = Instant::now();
    while counts.get(2) < before + 100 {
        assert!(begun.elapsed() < Duration::from_secs(60), "the program goes on by itself");
        std::thread::yield_now();
    }
    let pid = counts.get(0) as i32;
    // SAFETY: the program was started here; nobody else has waited for it.
    assert_eq!(unsafe { libc::kill(pid, libc::SIGKILL) }, 0);
    let made_by = |line: &str| line.split_whitespace().nth(4).map(str::to_owned);
    let segment = || {
        let all = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
        all.lines().any(|line| made_by(line) == Some(child.id().to_string()))
    };
    while segment() {
        assert!(begun.elapsed() < Duration::from_secs(60), "the segment stays");
        std::thread::yield_now();
    }
    assert_eq!(fs::read_dir(&temporary).expect("it is there").count(), 0);
}
