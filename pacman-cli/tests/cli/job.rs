//! A command that runs for long, in the foreground of a terminal as it were.

use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Output, Stdio};

use super::pacman_pmu;

/// `pacman-pmu` on a shell script that prints a line once it is ready, in a process group of its
/// own as a terminal's foreground job is.
pub(crate) struct Job {
    pub(crate) pmu: Child,
    said: BufReader<ChildStdout>,
}

impl Job {
    pub(crate) fn start(arguments: &[&str], script: &str) -> (Job, String) {
        let mut command = pacman_pmu(arguments);
        command.args(["--", "sh", "-c", script]);
        // SAFETY: `signal` may be called between fork and exec, and touches no memory.
        unsafe { command.pre_exec(as_from_a_terminal) };
        let mut pmu = command
            .process_group(0)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command was built");
        let mut said = BufReader::new(pmu.stdout.take().expect("a pipe"));
        let mut line = String::new();
        said.read_line(&mut line).expect("it says that it is ready");
        (Job { pmu, said }, line.trim().to_string())
    }

    /// Sends a signal to `pacman-pmu`, and to the command as well as Ctrl-C does.
    pub(crate) fn press(&self, signal: i32) {
        // SAFETY: kill has no preconditions; the group is the one started here.
        unsafe { libc::kill(-(self.pmu.id() as i32), signal) };
    }

    pub(crate) fn end(mut self) -> Output {
        let mut rest = String::new();
        self.said.read_to_string(&mut rest).expect("text");
        self.pmu.wait_with_output().expect("it ends")
    }
}

/// A shell's background job has SIGINT ignored, and a script cannot trap what was ignored
/// when it began: these tests may run in one.
fn as_from_a_terminal() -> io::Result<()> {
    // SAFETY: the default action is valid for both.
    unsafe {
        libc::signal(libc::SIGINT, libc::SIG_DFL);
        libc::signal(libc::SIGQUIT, libc::SIG_DFL);
    }
    Ok(())
}
