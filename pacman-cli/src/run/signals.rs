//! The wait for the program, and signals meanwhile: they are the program's.
//!
//! A signal that somebody sends to this command is passed on, and one that the terminal sends has
//! reached the program by itself. This command ends when the program has ended. It stops when the
//! program stops after a signal to both. So a shell sees the right state of the job.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use pacman_regions::Scheduling;
use pacman_topology::process_files;

use crate::signals::{Signals, Wake};
use crate::system;

/// Waits for the end of `pid`, a child that only this function reaps. Returns its status and the
/// kernel's account of its first thread.
pub(super) fn wait(
    pid: libc::pid_t,
    signals: &Signals,
) -> io::Result<(ExitStatus, Option<Scheduling>)> {
    // Somebody wants the job stopped.
    let mut is_to_stop = false;
    loop {
        // Before the child is reaped, which ends the account.
        let account = system::scheduling_of(pid.unsigned_abs());
        match change(pid)? {
            Some(Change::Ended(status)) => return Ok((status, account)),
            Some(Change::Stopped) if is_to_stop => {
                // SAFETY: raise has no preconditions. When this process is continued, it goes on
                // here.
                unsafe { libc::raise(libc::SIGSTOP) };
                is_to_stop = false;
                continue;
            }
            Some(Change::Stopped) => continue,
            None => {}
        }
        let Wake::Signal(sent) = signals.wait(Instant::now() + LOOK_ANYWAY)? else { continue };
        match sent.number {
            // A job is continued as a whole, which the program has seen then.
            libc::SIGCONT if !is_stopped(pid) => {}
            libc::SIGTSTP => {
                is_to_stop = true;
                sent.pass_on(pid);
            }
            _ => sent.pass_on(pid),
        }
    }
}

/// A change of a child's state.
enum Change {
    Ended(ExitStatus),
    Stopped,
}

/// The change since the last call.
fn change(pid: libc::pid_t) -> io::Result<Option<Change>> {
    let mut status = 0;
    // SAFETY: the status is written to a live word.
    match unsafe { libc::waitpid(pid, &raw mut status, libc::WNOHANG | libc::WUNTRACED) } {
        0 => Ok(None),
        -1 => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::Interrupted => Ok(None),
            error => Err(error),
        },
        _ if libc::WIFSTOPPED(status) => Ok(Some(Change::Stopped)),
        _ => Ok(Some(Change::Ended(ExitStatus::from_raw(status)))),
    }
}

fn is_stopped(pid: libc::pid_t) -> bool {
    let folder = process_files::of_process(pid.unsigned_abs());
    let stat = folder.and_then(|folder| std::fs::read(folder + "/stat").ok()).unwrap_or_default();
    // The state follows the name, which ends with the last parenthesis.
    let name_ends = stat.iter().rposition(|&byte| byte == b')');
    name_ends.and_then(|end| stat.get(end + 2)) == Some(&b'T')
}

/// Signals of one kind merge: a child's end may come together with another child's.
const LOOK_ANYWAY: Duration = Duration::from_secs(1);
