//! Counts that the kernel keeps for every thread, independent of perf's permissions.
//!
//! `context-switches` always stays 0 if it is opened with the kernel excluded: the switch happens
//! in kernel mode, and the filter drops it. Without the right to count the kernel, the count comes
//! from the kernel's own accounting.

use super::explain::Reach;
use super::task::{Noted, Task, unreadable};
use crate::backend::Target;
use crate::descriptor::Kept;
use crate::event::KernelAccounting;
use crate::platform::PerfPermissions;
use crate::seam::Errno;
use pacman_events::{Error, ErrorKind, Result};
use pacman_topology::{cancel, process_files};

/// The kernel's answer for an event in the kernel, to a process that may not count there.
const KERNEL_REFUSED: Errno = Errno(libc::EACCES);

/// Reads the kernel's accounting of one thread.
#[derive(Debug)]
pub(super) struct Ledgers {
    wanted: Vec<(usize, KernelAccounting)>,
    source: Option<Source>,
    sched: Option<Sched>,
}

/// A source of switches and faults.
#[derive(Debug)]
enum Source {
    /// `getrusage(RUSAGE_THREAD)`, for the calling thread only.
    Usage,
    Files(Task),
}

/// The file with a thread's `nr_migrations`.
#[derive(Debug)]
struct Sched {
    path: String,
    file: Kept,
}

impl Ledgers {
    /// Prepares to read `wanted` of `target`: the places in a reading, and the accounts for them.
    ///
    /// # Errors
    /// `Permission` if migrations are wanted and this kernel does not show them
    /// (`CONFIG_SCHED_DEBUG`); `Unsupported` for a hardware context, because only threads have
    /// accounting; `System` for a thread that has ended.
    pub(super) fn open(
        wanted: &[(usize, KernelAccounting)],
        target: Target,
        permissions: &PerfPermissions,
    ) -> Result<Ledgers> {
        let mut accounting = Ledgers { wanted: wanted.to_vec(), source: None, sched: None };
        if wanted.is_empty() {
            return Ok(accounting);
        }
        let why = || permissions.why_forbidden(Reach::Kernel, KERNEL_REFUSED);
        let proc = match target {
            Target::Caller => "/proc/thread-self".to_string(),
            Target::Thread(tid) => process_files::of_thread(tid).ok_or_else(|| {
                let foreign = process_files::FOREIGN;
                let why = why();
                Error::new(
                    ErrorKind::Unsupported,
                    format!("cannot count {} for {target}: {why}; and {foreign}", names(wanted)),
                )
            })?,
            Target::Context(_) | Target::Tree(_) => {
                let obstacle = permissions.obstacle(target, KERNEL_REFUSED);
                return Err(Error::new(
                    ErrorKind::Unsupported,
                    format!(
                        "cannot count {} for {target}: {}; and the kernel's own accounting is kept \
                         for single threads only",
                        names(wanted),
                        obstacle.map_or_else(why, |(_, why)| why)
                    ),
                ));
            }
        };
        if wanted.iter().any(|(_, account)| *account == KernelAccounting::Migrations) {
            let path = format!("{proc}/sched");
            let file = Kept::open(&path).map_err(|error| {
                Error::from_errno(
                    ErrorKind::Permission,
                    error.raw_os_error().unwrap_or(0),
                    format!(
                        "cannot count cpu-migrations for {target}: {}; and {path} cannot stand \
                         in: {error}",
                        why()
                    ),
                )
            })?;
            accounting.sched = Some(Sched { path, file });
        }
        if wanted.iter().any(|(_, account)| *account != KernelAccounting::Migrations) {
            accounting.source = Some(match target {
                Target::Caller => Source::Usage,
                _ => Source::Files(Task::open(&proc)?),
            });
        }
        Ok(accounting)
    }

    /// Reads every wanted count into its place.
    pub(super) fn read(&self, counts: &mut [u64]) -> Result<()> {
        let noted = match &self.source {
            None => Noted::default(),
            Some(Source::Usage) => thread_usage()?,
            Some(Source::Files(task)) => cancel::put_off_during(|| task.noted())?,
        };
        for (place, account) in &self.wanted {
            counts[*place] = match account {
                KernelAccounting::ContextSwitches => noted.switches,
                KernelAccounting::PageFaults => noted.minor + noted.major,
                KernelAccounting::MinorFaults => noted.minor,
                KernelAccounting::MajorFaults => noted.major,
                KernelAccounting::Migrations => self.migrations()?,
            };
        }
        Ok(())
    }

    fn migrations(&self) -> Result<u64> {
        // The file has about 1.5 KB; the line is near its begin.
        let mut text = [0u8; 1024];
        let Sched { path, file } = self.sched.as_ref().expect("opened when migrations are wanted");
        let read = cancel::put_off_during(|| file.read_at(&mut text, 0));
        let length = read.map_err(|error| unreadable(path, &error))?;
        parse_migrations(&text[..length]).ok_or_else(|| {
            Error::new(
                ErrorKind::Unsupported,
                format!("cannot count cpu-migrations: {path} has no nr_migrations"),
            )
        })
    }
}

fn names(wanted: &[(usize, KernelAccounting)]) -> String {
    let names: Vec<&str> = wanted.iter().map(|(_, account)| account.event()).collect();
    names.join(", ")
}

fn thread_usage() -> Result<Noted> {
    // SAFETY: an all-zero rusage is a valid value; the call fills it.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live rusage.
    if unsafe { libc::getrusage(libc::RUSAGE_THREAD, &mut usage) } != 0 {
        let error = std::io::Error::last_os_error();
        return Err(Error::from_errno(
            ErrorKind::System,
            error.raw_os_error().unwrap_or(0),
            format!("cannot read the thread's usage: getrusage said {error}"),
        ));
    }
    Ok(Noted {
        switches: usage.ru_nvcsw as u64 + usage.ru_nivcsw as u64,
        minor: usage.ru_minflt as u64,
        major: usage.ru_majflt as u64,
    })
}

fn parse_migrations(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    let line = text.lines().find(|line| line.starts_with("se.nr_migrations"))?;
    line.rsplit(':').next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn migrations_are_found_in_the_kernels_table() {
        let text = b"cat (2151, #threads: 1)\n----\nse.exec_start    :   236012.08\nse.nr_migrations                             :                   17\nnr_switches : 3\n";
        assert_eq!(parse_migrations(text), Some(17));
        assert_eq!(parse_migrations(b"nothing here\n"), None);
    }

    #[test]
    fn switches_grow_when_the_thread_sleeps() {
        let wanted = [(0, KernelAccounting::ContextSwitches), (1, KernelAccounting::Migrations)];
        let Ok(accounting) = Ledgers::open(&wanted, Target::Caller, &PerfPermissions::read())
        else {
            // On a kernel without CONFIG_SCHED_DEBUG, another test checks the refusal.
            return;
        };
        let (mut before, mut after) = ([0; 2], [0; 2]);
        accounting.read(&mut before).unwrap();
        let (sender, receiver) = std::sync::mpsc::sync_channel::<()>(0);
        let waker = std::thread::spawn(move || {
            for _ in 0..20 {
                receiver.recv().unwrap();
            }
        });
        for _ in 0..20 {
            sender.send(()).unwrap();
        }
        waker.join().unwrap();
        accounting.read(&mut after).unwrap();
        assert!(after[0] > before[0], "a rendezvous of two threads must switch");
    }
}
