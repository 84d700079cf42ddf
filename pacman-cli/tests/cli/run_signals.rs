//! `run` and signals: whoever sends one to the command sends it to the program, and the command
//! ends when the program has.

use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, Instant};

use pacman_suite::command::with_default_signals;
use pacman_suite::skipped;

use super::scratch::Scratch;
use super::{pacman_pmu, text};

/// Only what never happens takes longer.
const PATIENCE: Duration = Duration::from_secs(30);

/// `run`, `stat` or `record` on a shell script that says its number once it is ready, in a process group of its
/// own as a terminal's foreground job is.
struct Job {
    command: Child,
    said: BufReader<ChildStdout>,
    program: libc::pid_t,
    temporary: Scratch,
}

impl Job {
    fn start(arguments: &[&str], script: &str) -> Job {
        let temporary = Scratch::new();
        let mut command = pacman_pmu(arguments);
        command.args(["--", "sh", "-c", script]).env("TMPDIR", temporary.path("."));
        // SAFETY: `signal` may be called between fork and exec, and touches no memory.
        unsafe { command.pre_exec(as_from_a_terminal) };
        command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut command = command.spawn().expect("the command was built");
        let mut said = BufReader::new(command.stdout.take().expect("a pipe"));
        let mut line = String::new();
        said.read_line(&mut line).expect("it says that it is ready");
        let program = line.trim().parse().expect("a process number");
        Job { command, said, program, temporary }
    }

    /// Sends a signal to the command alone.
    fn send(&self, signal: i32) {
        kill(self.command.id() as i32, signal);
    }

    /// The output of both until they end; and the directory for temporary files is empty.
    fn end(mut self) -> (String, Output) {
        let mut said = String::new();
        self.said.read_to_string(&mut said).expect("text");
        let answer = self.command.wait_with_output().expect("it ends");
        let left = fs::read_dir(self.temporary.path(".")).expect("it is there").count();
        assert_eq!(left, 0, "temporary files are left");
        (said, answer)
    }

    /// Waits until the process is in one of these states.
    fn wait_for(&self, process: libc::pid_t, states: &[u8]) {
        let begun = Instant::now();
        loop {
            let stat = fs::read(format!("/proc/{process}/stat")).expect("it runs");
            let name_ends = stat.iter().rposition(|&byte| byte == b')').expect("a name");
            if states.contains(&stat[name_ends + 2]) {
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "{process} is in state {}", stat[name_ends + 2]);
            std::thread::yield_now();
        }
    }
}

fn kill(process: libc::pid_t, signal: i32) {
    // SAFETY: kill has no preconditions; the process is one started here, which is not reaped yet.
    assert_eq!(unsafe { libc::kill(process, signal) }, 0);
}

/// A shell's background job has SIGINT ignored, and a script cannot trap what was ignored when it
/// began: these tests may run in one.
fn as_from_a_terminal() -> io::Result<()> {
    for signal in SENT {
        // SAFETY: the default action is valid for all.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    Ok(())
}

const SENT: [i32; 9] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGALRM,
    libc::SIGPROF,
    libc::SIGXCPU,
];
const NOT_SEEN: &str = "no OpenMP region was seen in sh: ";

#[test]
fn a_program_that_a_signal_ends_is_reported() {
    for signal in SENT {
        let job = Job::start(&["run"], "echo $$; exec sleep 60");
        job.send(signal);
        let (_, answer) = job.end();
        let said = text(&answer.stderr);
        assert_eq!(answer.status.code(), Some(128 + signal), "signal {signal}: {said}");
        assert!(said.contains(NOT_SEEN), "signal {signal}: {said}");
    }
}

#[test]
fn a_program_that_goes_on_after_a_signal_is_waited_for() {
    for signal in SENT {
        let script =
            format!("trap 'echo got it; exit 9' {signal}; echo $$; while :; do sleep 0.02; done");
        for arguments in [&["run"][..], &["stat", "-e", "task-clock"]] {
            let job = Job::start(arguments, &script);
            job.send(signal);
            let (printed, answer) = job.end();
            let said = text(&answer.stderr);
            assert_eq!(printed, "got it\n", "{arguments:?}, signal {signal}: {said}");
            assert_eq!(answer.status.code(), Some(9), "{arguments:?}, signal {signal}: {said}");
            let reported = if arguments[0] == "run" { NOT_SEEN } else { "T0 sh" };
            assert!(said.contains(reported), "{arguments:?}, signal {signal}: {said}");
        }
    }
}

/// The command is in the same group, and has got the signal as well. It has the time of two programs to pass it on.
#[test]
fn a_signal_that_a_program_sends_to_its_group_comes_once() {
    let script = "trap 'echo got it' USR1; echo $$; for i in 1 2 3 4 5 6 7 8; do kill -USR1 0; /bin/true; /bin/true; done; exit 3";
    for arguments in [&["run"][..], &["stat", "-e", "task-clock"]] {
        let (printed, answer) = Job::start(arguments, script).end();
        assert_eq!(printed, "got it\n".repeat(8), "{arguments:?}");
        assert_eq!(answer.status.code(), Some(3), "{arguments:?}");
    }
}

#[test]
fn a_job_stops_and_goes_on_as_a_whole() {
    let job = Job::start(&["run"], "echo $$; exec sleep 60");
    let (command, program) = (job.command.id() as libc::pid_t, job.program);
    for _ in 0..2 {
        job.send(libc::SIGTSTP);
        job.wait_for(program, b"T");
        job.wait_for(command, b"T");
        kill(command, libc::SIGCONT);
        job.wait_for(program, b"SR");
        job.wait_for(command, b"SR");
    }
    // Stopped by somebody else, it is no job that was stopped: the command waits on.
    kill(program, libc::SIGSTOP);
    job.wait_for(program, b"T");
    job.send(libc::SIGUSR1);
    kill(program, libc::SIGCONT);
    let (_, answer) = job.end();
    assert_eq!(answer.status.code(), Some(128 + libc::SIGUSR1));
    assert!(text(&answer.stderr).contains(NOT_SEEN), "{}", text(&answer.stderr));
}

#[test]
fn whoever_counts_the_machine_answers_when_it_is_signalled() {
    for signal in SENT {
        let mut command =
            pacman_pmu(&["stat", "-a", "--csv", "--interval", "20", "-e", "cpu-clock"]);
        // SAFETY: as in `Job::start`.
        unsafe { command.pre_exec(as_from_a_terminal) };
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut command = command.spawn().expect("the command was built");
        let mut said = BufReader::new(command.stderr.take().expect("a pipe"));
        let (mut line, mut rest) = (String::new(), String::new());
        while line.lines().count() < 2 && said.read_line(&mut line).expect("text") > 0 {}
        if line.starts_with("pacman-pmu: ") {
            command.wait().expect("it ended");
            return skipped(line.trim());
        }
        kill(command.id() as i32, signal);
        said.read_to_string(&mut rest).expect("text");
        let status = command.wait().expect("it ends");
        assert_eq!(status.code(), Some(0), "signal {signal}: {rest}");
        assert!(rest.ends_with('\n'), "signal {signal}: {rest}");
    }
}

/// The changes of Rust's runtime before `main`.
#[test]
fn closed_streams_and_ignored_pipes_are_inherited() {
    let script = "open=; for f in 0 1 2 3; do [ -e /proc/$$/fd/$f ] && open=\"$open $f\"; done; \
                  echo \"$open\" >&2; grep SigIgn /proc/$$/status >&2";
    for close in [&[][..], &[0], &[0, 1], &[1]] {
        let start = |mut command: Command| {
            // SAFETY: system calls that touch no memory.
            let prepare = move || unsafe {
                for stream in close {
                    libc::close(*stream);
                }
                libc::signal(libc::SIGPIPE, libc::SIG_IGN);
                Ok(())
            };
            // SAFETY: as above.
            unsafe { command.pre_exec(prepare) };
            let answer = command.stdin(Stdio::null()).output().expect("it runs");
            text(&answer.stderr).lines().take(2).collect::<Vec<_>>().join(";")
        };
        let mut alone = Command::new("sh");
        with_default_signals(alone.args(["-c", script]));
        let alone = start(alone);
        assert!(alone.contains("SigIgn"), "{alone}");
        for kind in [&["run"][..], &["stat", "-e", "task-clock"]] {
            let mut command = pacman_pmu(kind);
            command.args(["--", "sh", "-c", script]);
            assert_eq!(start(command), alone, "{kind:?}, closed {close:?}");
        }
    }
}
