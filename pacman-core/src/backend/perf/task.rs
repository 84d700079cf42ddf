//! Another thread's switches and faults, from `/proc`.

use std::fs::File;
use std::os::unix::fs::FileExt;

use pacman_events::{Error, ErrorKind, Result};

/// The longest `status` that is read: lists of CPUs and nodes make it long.
const STATUS: usize = 16 << 10;
/// The longest `stat` that is read: one line of some fifty numbers.
const STAT: usize = 2 << 10;

/// The kernel's record of a thread.
#[derive(Debug, Default)]
pub(super) struct Noted {
    pub(super) switches: u64,
    pub(super) minor: u64,
    pub(super) major: u64,
}

/// The files of one thread, open while the thread is counted.
#[derive(Debug)]
pub(super) struct Task {
    directory: String,
    status: File,
    stat: File,
}

impl Task {
    /// Opens the files of `directory`, which must be the thread's own: the `stat` of a process has
    /// the sums of all its threads.
    pub(super) fn open(directory: &str) -> Result<Task> {
        let open = |name: &str| {
            let path = format!("{directory}/{name}");
            File::open(&path).map_err(|error| unreadable(&path, &error))
        };
        Ok(Task { directory: directory.into(), status: open("status")?, stat: open("stat")? })
    }

    pub(super) fn noted(&self) -> Result<Noted> {
        let (mut status, mut stat) = ([0; STATUS], [0; STAT]);
        let status = self.read("status", &self.status, &mut status)?;
        let stat = self.read("stat", &self.stat, &mut stat)?;
        let noted = || {
            let (minor, major) = faults(stat)?;
            Some(Noted { switches: switches(status)?, minor, major })
        };
        noted().ok_or_else(|| {
            Error::new(
                ErrorKind::System,
                format!("cannot read {}: status or stat lacks a field", self.directory),
            )
        })
    }

    fn read<'a>(&self, name: &str, file: &File, into: &'a mut [u8]) -> Result<&'a str> {
        let length = file
            .read_at(into, 0)
            .map_err(|error| unreadable(&format!("{}/{name}", self.directory), &error))?;
        // A name may contain any bytes; the text after it is ASCII.
        let text = &into[..length];
        let start = text.iter().rposition(|byte| !byte.is_ascii()).map_or(0, |at| at + 1);
        Ok(std::str::from_utf8(&text[start..]).unwrap_or_default())
    }
}

#[cold]
pub(super) fn unreadable(path: &str, error: &std::io::Error) -> Error {
    Error::from_errno(
        ErrorKind::System,
        error.raw_os_error().unwrap_or(0),
        format!("cannot read {path}: {error}"),
    )
}

fn switches(status: &str) -> Option<u64> {
    let field = |name: &str| -> Option<u64> {
        status.lines().find_map(|line| line.strip_prefix(name))?.trim().parse().ok()
    };
    Some(field("voluntary_ctxt_switches:")? + field("nonvoluntary_ctxt_switches:")?)
}

/// Fields 10 and 12 of `stat`, `minflt` and `majflt` (proc_pid_stat(5)). They are counted from the
/// end of the name, because it may contain spaces and parentheses.
fn faults(stat: &str) -> Option<(u64, u64)> {
    let (_, after) = stat.rsplit_once(')')?;
    let mut fields = after.split_ascii_whitespace().skip(10 - 3);
    let minor = fields.next()?.parse().ok()?;
    Some((minor, fields.nth(1)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_counted_from_the_end_of_the_name() {
        let stat = "7 (a ) (b) S 1 7 7 0 -1 4194560 211 9 3 8 1 2 0 0 20 0 1 0 5 0";
        assert_eq!(faults(stat), Some((211, 3)));
        assert_eq!(faults("7 (cut"), None);
        let status = "Name:\tx\nvoluntary_ctxt_switches:\t17\nnonvoluntary_ctxt_switches:\t4\n";
        assert_eq!(switches(status), Some(21));
    }

    #[test]
    fn another_thread_s_ledger_is_its_own() {
        let (tell, told) = std::sync::mpsc::channel();
        let (finish, finished) = std::sync::mpsc::channel::<()>();
        let pages = 64;
        let other = std::thread::spawn(move || {
            // SAFETY: gettid takes nothing and cannot fail.
            tell.send(unsafe { libc::gettid() }).unwrap();
            finished.recv().unwrap();
            let touched = std::hint::black_box(vec![1u8; pages << 12]);
            tell.send(touched.len() as i32).unwrap();
            finished.recv().unwrap();
        });
        let tid = told.recv().unwrap();
        let task = Task::open(&format!("/proc/{tid}/task/{tid}")).unwrap();
        let before = task.noted().unwrap();
        finish.send(()).unwrap();
        told.recv().unwrap();
        let after = task.noted().unwrap();
        assert!(after.minor >= before.minor + pages as u64, "{before:?} {after:?}");
        assert!(after.switches > before.switches, "it waited for this thread");
        finish.send(()).unwrap();
        other.join().unwrap();
        // A joined thread may still be in the kernel.
        let ended = loop {
            if let Err(error) = task.noted() {
                break error;
            }
        };
        assert_eq!(ended.errno(), Some(libc::ESRCH));
    }
}
