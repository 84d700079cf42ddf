//! Commands that tests run.

use std::os::unix::process::CommandExt;
use std::process::{Command, Output};

/// Has a command start with the default action of every signal, as in a terminal's foreground.
///
/// `nohup` ignores SIGHUP, and a shell's background job has SIGINT and SIGQUIT ignored. Programs inherit that, and
/// a script cannot trap a signal that was ignored when the script began.
pub fn with_default_signals(command: &mut Command) -> &mut Command {
    let reset = || {
        for signal in 1..=libc::SIGRTMAX() {
            // SAFETY: the default action is valid for any signal. The call refuses those that have no other.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        Ok(())
    };
    // SAFETY: `signal` may be called between fork and exec, and touches no memory.
    unsafe { command.pre_exec(reset) }
}

/// Runs a command that must succeed.
///
/// # Panics
/// If it cannot be run or fails; the message has its output.
pub fn finish(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// Whether the machine has a command.
pub fn have(command: &str) -> bool {
    Command::new(command).arg("--version").output().is_ok_and(|output| output.status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_trap_what_this_process_ignores() {
        let script = "trap 'exit 5' HUP; kill -HUP $$; exit 6";
        // The shell between ignores the signal as `nohup` does, in a process of its own.
        let mut ignoring = Command::new("sh");
        ignoring.args(["-c", "trap '' HUP; exec sh -c \"$0\"", script]);
        assert_eq!(ignoring.status().expect("sh runs").code(), Some(6));
        let ignore = || {
            // SAFETY: an action of the child alone.
            unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) };
            Ok(())
        };
        let mut trapping = Command::new("sh");
        trapping.args(["-c", script]);
        // SAFETY: as in `with_default_signals`; it comes before that.
        unsafe { trapping.pre_exec(ignore) };
        assert_eq!(with_default_signals(&mut trapping).status().expect("sh runs").code(), Some(5));
    }
}
