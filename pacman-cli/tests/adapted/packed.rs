//! Packed samples are cut short, also when the command stands still or is gone, and a program that forks or ends
//! during a sample leaves no packed thread. The masks are read from outside.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use pacman_suite::skipped;
use serde_json::Value;

use super::scratch::Scratch;
use super::{alone, pacman_pmu, text};

/// Each line of standard input but `end` asks for one execution, which goes on until the next line. `f` has a
/// member fork in the middle, and the child print its mask; `c` the same by the number of a system call, as `a` reads
/// the own mask and `s` sets one; `g` reads it among the attributes of the thread; `t` has another way to start a
/// thread, which prints its mask; `p` and `o` ask for the processors and print the mask that the answer can come from,
/// `z` asks for the size of a page; `x` ends the program inside the region.
const SOURCE: &str = r#"
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

static void print_mask(void) {
    char line[4096];
    FILE *status = fopen("/proc/thread-self/status", "r");
    while (fgets(line, sizeof line, status))
        if (strncmp(line, "Cpus_allowed_list:", 18) == 0) printf("child %s", line + 19);
    fflush(stdout);
}

static int other(void *unused) {
    print_mask();
    return unused != NULL;
}

static char next(void) {
    struct pollfd input = {0, POLLIN, 0};
    char byte;
    if (poll(&input, 1, 1) != 1) return 0;
    return read(0, &byte, 1) == 1 ? byte : 'q';
}

int main(void) {
    char asked = 0;
    printf("%d\n", (int)getpid());
    fflush(stdout);
    for (int round = 0; asked != 'q'; round++) {
        static atomic_int ended;
        atomic_store(&ended, 0);
#pragma omp parallel num_threads(2)
        {
#pragma omp master
            {
                if (asked == 'l') {
                    while (!(asked = next())) {}
                }
                if (asked == 'f' && fork() == 0) {
                    print_mask();
                    _exit(0);
                }
                if (asked == 'f') wait(NULL), asked = 0;
                if (asked == 'c' && syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0) {
                    print_mask();
                    _exit(0);
                }
                if (asked == 'c') wait(NULL), asked = 0;
                if (asked == 'g') {
                    pthread_attr_t attributes;
                    cpu_set_t own;
                    pthread_getattr_np(pthread_self(), &attributes);
                    pthread_attr_getaffinity_np(&attributes, sizeof own, &own);
                    pthread_attr_destroy(&attributes);
                    printf("contexts %d\n", CPU_COUNT(&own));
                    fflush(stdout);
                    asked = 0;
                }
                if (asked == 't') {
                    thrd_t thread;
                    thrd_create(&thread, other, NULL);
                    thrd_join(thread, NULL);
                    asked = 0;
                }
                if (asked == 'p' || asked == 'o' || asked == 'z') {
                    if (asked == 'p') get_nprocs();
                    if (asked == 'o') sysconf(_SC_NPROCESSORS_ONLN);
                    if (asked == 'z') sysconf(_SC_PAGESIZE);
                    print_mask();
                    asked = 0;
                }
                if (asked == 's') {
                    cpu_set_t one;
                    CPU_ZERO(&one);
                    CPU_SET(sched_getcpu(), &one);
                    syscall(SYS_sched_setaffinity, 0, sizeof one, &one);
                    print_mask();
                    asked = 0;
                }
                if (asked == 'a') {
                    cpu_set_t own;
                    CPU_ZERO(&own);
                    syscall(SYS_sched_getaffinity, 0, sizeof own, &own);
                    printf("contexts %d\n", CPU_COUNT(&own));
                    fflush(stdout);
                    asked = 0;
                }
                if (asked == 'x') exit(7);
                atomic_store(&ended, 1);
            }
            while (!atomic_load(&ended)) {}
        }
        char byte = next();
        if (byte) asked = byte;
    }
    printf("done\n");
    return 0;
}
"#;

/// A running program under the command, with samples of one context.
struct Run {
    command: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    program: u32,
    _scratch: Scratch,
}

/// The contexts of the masks of the program's threads, as `/proc` has them.
fn masks(program: u32) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{program}/task")).into_iter().flatten().flatten();
    let status = tasks.filter_map(|task| fs::read_to_string(task.path().join("status")).ok());
    let list = |status: String| {
        let line = status.lines().find(|line| line.starts_with("Cpus_allowed_list:"))?;
        line.split_whitespace().nth(1).map(str::to_owned)
    };
    status.filter_map(list).collect()
}

/// Waits until `is_so`, for at most `most`.
fn within(most: Duration, is_so: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while !is_so() {
        if start.elapsed() > most {
            return false;
        }
        thread::sleep(Duration::from_micros(200));
    }
    true
}

/// This process's own mask, which the program has too.
fn own() -> String {
    masks(std::process::id()).remove(0)
}

fn all_have(program: u32, mask: &str) -> bool {
    let masks = masks(program);
    masks.len() >= 2 && masks.iter().all(|one| one == mask)
}

impl Run {
    /// Starts it; samples are cut after so many milliseconds. `None` where threads cannot be packed.
    fn start(compiler: &str, milliseconds: u32) -> Option<Run> {
        if thread::available_parallelism().map_or(1, usize::from) < 2 {
            skipped("threads cannot be packed: one processor is allowed");
            return None;
        }
        let scratch = Scratch::new();
        let program = scratch.compile(compiler, &["-O1", "-fopenmp"], SOURCE)?;
        let mut command = pacman_pmu(&["run", "--adapt", "--no-memory", "-o"]);
        command.arg(scratch.path("report.json")).args(["--", "env"]);
        command.arg(format!("PACMAN_OMP_PACK=1x1:{milliseconds}")).arg(program);
        let streams = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut command = streams.spawn().expect("it starts");
        let input = command.stdin.take();
        let mut output = BufReader::new(command.stdout.take().expect("a pipe"));
        let mut line = String::new();
        output.read_line(&mut line).expect("its number");
        let program = line.trim().parse().expect("a number");
        Some(Run { command, input, output, program, _scratch: scratch })
    }

    fn ask(&mut self, what: &[u8]) {
        let input = self.input.as_mut().expect("it is open");
        input.write_all(what).expect("it reads");
    }

    /// Has the program run until an execution is packed that goes on.
    fn reach_a_sample(&mut self) {
        for _ in 0..200 {
            self.ask(b"l");
            let (program, own) = (self.program, own());
            let packed = || {
                let masks = masks(program);
                masks.len() >= 2 && masks.iter().all(|mask| !mask.contains([',', '-']))
            };
            let stays = || {
                (0..20).all(|_| {
                    thread::sleep(Duration::from_millis(1));
                    packed()
                })
            };
            // Not one of the short ones before it.
            if own.contains([',', '-']) && within(Duration::from_millis(60), packed) && stays() {
                return;
            }
            self.ask(b"n");
            thread::sleep(Duration::from_millis(5));
        }
        panic!("no execution is packed: {:?}", masks(self.program));
    }

    fn finish(mut self) -> String {
        self.ask(b"nq");
        self.end()
    }

    fn end(mut self) -> String {
        self.input = None;
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut self.output, &mut rest).expect("it is text");
        self.command.wait().expect("it ends");
        rest
    }

    fn signal(&self, signal: i32) {
        // SAFETY: a child of this process that nobody has waited for.
        assert_eq!(unsafe { libc::kill(self.command.id() as libc::pid_t, signal) }, 0);
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // A failed test leaves nothing behind.
        let _ = self.command.kill();
        let _ = self.command.wait();
    }
}

/// Both compilers that are there.
fn each(test: impl Fn(&str)) {
    let _turn = alone();
    for compiler in ["gcc", "clang"] {
        test(compiler);
    }
}

#[test]
fn a_sample_is_cut_while_its_execution_goes_on() {
    each(|compiler| {
        let Some(mut run) = Run::start(compiler, 100) else { return };
        run.reach_a_sample();
        let (program, own) = (run.program, own());
        assert!(within(Duration::from_secs(5), || all_have(program, &own)), "{:?}", masks(program));
        assert_eq!(run.finish(), "done\n");
    });
}

#[test]
fn a_sample_is_cut_although_the_command_stands_still_or_is_killed() {
    each(|compiler| {
        for signal in [libc::SIGSTOP, libc::SIGKILL] {
            let Some(mut run) = Run::start(compiler, 300) else { return };
            run.reach_a_sample();
            run.signal(signal);
            let (program, own) = (run.program, own());
            let is_cut = within(Duration::from_secs(5), || all_have(program, &own));
            assert!(is_cut, "{signal}: {:?}", masks(program));
            // Without the command no other sample begins, but for one that both watchers were awake for before.
            run.ask(b"n");
            let stays = || !within(Duration::from_millis(600), || !all_have(program, &own));
            assert!((0..10).any(|_| stays()), "{signal}: {:?}", masks(program));
            if signal == libc::SIGSTOP {
                run.signal(libc::SIGCONT);
            }
            assert_eq!(run.finish(), "done\n", "{signal}");
        }
    });
}

#[test]
fn a_program_that_forks_or_ends_in_a_sample_leaves_no_packed_thread() {
    each(|compiler| {
        let Some(mut run) = Run::start(compiler, 10_000) else { return };
        run.reach_a_sample();
        run.ask(b"f");
        let mut line = String::new();
        run.output.read_line(&mut line).expect("the child's mask");
        assert_eq!(line, format!("child {}\n", own()));
        assert_eq!(run.finish(), "done\n");

        let Some(mut run) = Run::start(compiler, 10_000) else { return };
        run.reach_a_sample();
        run.ask(b"x");
        run.input = None;
        assert_eq!(run.command.wait().expect("it ends").code(), Some(7));
    });
}

/// libnuma reads masks by numbers of system calls.
#[test]
fn a_program_that_uses_masks_by_system_calls_sees_its_own() {
    each(|compiler| {
        let contexts = thread::available_parallelism().map_or(1, usize::from);
        let own = format!("child {}\n", own());
        let all = format!("contexts {contexts}\n");
        for (asked, expected) in [("c", own), ("g", all.clone()), ("a", all)] {
            let Some(mut run) = Run::start(compiler, 10_000) else { return };
            run.reach_a_sample();
            run.ask(asked.as_bytes());
            let mut line = String::new();
            run.output.read_line(&mut line).expect("a line");
            assert_eq!(line, expected, "{asked}");
            assert_eq!(run.finish(), "done\n");
        }
        let Some(mut run) = Run::start(compiler, 10_000) else { return };
        run.reach_a_sample();
        run.ask(b"s");
        let mut line = String::new();
        run.output.read_line(&mut line).expect("a line");
        let one = line.strip_prefix("child ").map(|rest| rest.trim().parse::<u32>());
        assert!(one.is_some_and(|one| one.is_ok()), "the mask that it set: {line}");
        assert_eq!(run.finish(), "done\n");
    });
}

/// Some C libraries count the contexts of the caller's mask. This one may not: so the mask itself is looked at.
#[test]
fn a_thread_that_asks_for_processors_or_starts_a_thread_has_its_own_mask() {
    each(|compiler| {
        for asked in ["t", "p", "o"] {
            let Some(mut run) = Run::start(compiler, 10_000) else { return };
            run.reach_a_sample();
            run.ask(asked.as_bytes());
            let mut line = String::new();
            run.output.read_line(&mut line).expect("a line");
            assert_eq!(line, format!("child {}\n", own()), "{asked}");
            assert_eq!(run.finish(), "done\n");
        }
        let Some(mut run) = Run::start(compiler, 10_000) else { return };
        run.reach_a_sample();
        run.ask(b"z");
        let mut line = String::new();
        run.output.read_line(&mut line).expect("a line");
        let is_packed = !line.trim_start_matches("child ").contains([',', '-']);
        assert!(is_packed, "the size of a page is no matter of masks: {line}");
        assert_eq!(run.finish(), "done\n");
    });
}

/// Runs a program whose teams have three threads, packed, with `binding` set. Returns its region's adaptation and notes.
fn three_threads(compiler: &str, binding: Option<&str>) -> Option<(Value, Value)> {
    let scratch = Scratch::new();
    let source = "#include <omp.h>\n#include <stdio.h>\nint main(void) { long sum = 0;\n\
                  for (int i = 0; i < 300; i++)\n#pragma omp parallel num_threads(3) reduction(+:sum)\n\
                  sum += omp_get_num_threads() * (1 + omp_get_thread_num());\n\
                  printf(\"%ld\\n\", sum); return 0; }\n";
    let program = scratch.compile(compiler, &["-O1", "-fopenmp"], source)?;
    let path = scratch.path("report.json");
    let mut command = pacman_pmu(&["run", "--adapt", "--no-memory", "-o"]);
    command.arg(&path).args(["--", "env", "PACMAN_OMP_PACK=1x1"]).args(binding).arg(program);
    let answer = command.output().expect("it runs");
    assert_eq!(text(&answer.stdout), "5400\n", "{answer:?}");
    let report = fs::read_to_string(path).expect("a report");
    let mut report: Value = serde_json::from_str(&report).expect("JSON");
    let process = &mut report["processes"][0];
    Some((process["regions"][0]["adaptation"].take(), process["notes"].take()))
}

/// Programs run with the threads that they have alone, packed or not.
#[test]
fn a_packed_team_keeps_its_size() {
    each(|compiler| {
        let Some((adaptation, _)) = three_threads(compiler, None) else { return };
        if thread::available_parallelism().map_or(1, usize::from) > 1 {
            assert!(adaptation["reduced"].as_u64() > Some(250), "{adaptation}");
            let why = adaptation["why"].as_str().expect("a reason");
            assert!(why.starts_with("packed on 1 of "), "{why}");
        }
    });
}

/// `OMP_PROC_BIND=false` says that the system may move threads.
#[test]
fn threads_that_the_user_binds_are_not_packed() {
    if thread::available_parallelism().map_or(1, usize::from) < 2 {
        return skipped("threads cannot be packed: one processor is allowed");
    }
    let cases = [
        ("OMP_PROC_BIND=true", true),
        ("OMP_PLACES=threads", true),
        ("OMP_PROC_BIND=FALSE", false),
    ];
    each(|compiler| {
        for (binding, is_bound) in cases {
            let Some((adaptation, notes)) = three_threads(compiler, Some(binding)) else { return };
            let says_so = notes.to_string().contains("is set, and threads that the user binds");
            let is_packed = adaptation["reduced"].as_u64() > Some(250);
            let seen = (says_so, is_packed);
            assert_eq!(seen, (is_bound, !is_bound), "{binding}: {notes} {adaptation}");
        }
    });
}
