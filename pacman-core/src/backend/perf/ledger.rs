//! Counts that the kernel keeps for every thread, whatever perf allows.
//!
//! `context-switches` opened with the kernel excluded stays 0 for ever: the
//! switch happens in kernel mode, which the filter drops. Without the right to
//! count the kernel, the same figure comes from where the kernel keeps it.

use std::fs::File;
use std::os::unix::fs::FileExt;

use crate::error::{Error, ErrorKind, Result};
use crate::event::Ledger;

/// The file with a thread's `nr_migrations`.
const SCHED: &str = "/proc/thread-self/sched";

/// Reads the ledger counts of the calling thread.
#[derive(Debug)]
pub(super) struct Ledgers {
    wanted: Vec<(usize, Ledger)>,
    usage: bool,
    sched: Option<File>,
}

impl Ledgers {
    /// Prepares to read `wanted`: places in a reading, and what belongs there.
    ///
    /// # Errors
    /// `Permission` when migrations are wanted and this kernel does not show
    /// them (`CONFIG_SCHED_DEBUG`); `why` names what forbids the perf event.
    pub(super) fn open(wanted: &[(usize, Ledger)], why: &str) -> Result<Ledgers> {
        let migrations = wanted.iter().any(|(_, l)| *l == Ledger::Migrations);
        let sched = if migrations {
            Some(File::open(SCHED).map_err(|error| {
                Error::from_errno(
                    ErrorKind::Permission,
                    error.raw_os_error().unwrap_or(0),
                    format!(
                        "cannot count cpu-migrations for this thread: {why}; \
                         and {SCHED} cannot stand in: {error}"
                    ),
                )
            })?)
        } else {
            None
        };
        Ok(Ledgers {
            wanted: wanted.to_vec(),
            usage: wanted.iter().any(|(_, l)| *l != Ledger::Migrations),
            sched,
        })
    }

    /// Reads every wanted count of the calling thread into its place.
    pub(super) fn read(&self, counts: &mut [u64]) -> Result<()> {
        let usage = if self.usage { thread_usage()? } else { Usage::default() };
        for (place, ledger) in &self.wanted {
            counts[*place] = match ledger {
                Ledger::ContextSwitches => usage.switches,
                Ledger::PageFaults => usage.minor + usage.major,
                Ledger::MinorFaults => usage.minor,
                Ledger::MajorFaults => usage.major,
                Ledger::Migrations => self.migrations()?,
            };
        }
        Ok(())
    }

    fn migrations(&self) -> Result<u64> {
        // The file is about 1.5 KB; the line stands near its top.
        let mut text = [0u8; 1024];
        let file = self.sched.as_ref().expect("opened when migrations are wanted");
        let length = file.read_at(&mut text, 0).map_err(|error| unreadable(&error))?;
        parse_migrations(&text[..length]).ok_or_else(|| {
            Error::new(
                ErrorKind::Unsupported,
                format!(
                    "cannot count cpu-migrations for this thread: {SCHED} has no nr_migrations"
                ),
            )
        })
    }
}

#[cold]
fn unreadable(error: &std::io::Error) -> Error {
    Error::from_errno(
        ErrorKind::System,
        error.raw_os_error().unwrap_or(0),
        format!("cannot read {SCHED}: {error}"),
    )
}

#[derive(Default)]
struct Usage {
    switches: u64,
    minor: u64,
    major: u64,
}

fn thread_usage() -> Result<Usage> {
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
    Ok(Usage {
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
        let wanted = [(0, Ledger::ContextSwitches), (1, Ledger::Migrations)];
        let Ok(ledgers) = Ledgers::open(&wanted, "") else {
            // A kernel without CONFIG_SCHED_DEBUG: the refusal is its own test.
            return;
        };
        let (mut before, mut after) = ([0; 2], [0; 2]);
        ledgers.read(&mut before).unwrap();
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
        ledgers.read(&mut after).unwrap();
        assert!(after[0] > before[0], "a rendezvous of two threads must switch");
    }
}
