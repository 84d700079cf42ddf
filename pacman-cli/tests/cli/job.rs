//! A command that runs for long, in the foreground of a terminal as it were.

use std::io::{BufRead, BufReader, Read};
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
