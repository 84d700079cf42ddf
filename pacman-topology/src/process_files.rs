//! The folders of processes and threads in `/proc`, where they are those of this process's numbers.
//!
//! `unshare --pid --fork` without `--mount-proc` leaves a process in a new namespace with the `/proc` of the outer one:
//! a number there is of another process. Only `/proc/self` and `/proc/thread-self` are right in both.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

/// Why there is no folder, and the remedy.
pub const FOREIGN: &str = "/proc is of another namespace of processes; mount one of this namespace (unshare --mount-proc)";

/// Whether the numbers in `/proc` are those by which this process knows others.
pub fn are_ours() -> bool {
    /// This process, and whether they are: a child may be in another namespace.
    static KNOWN: AtomicU64 = AtomicU64::new(0);
    let own = u64::from(std::process::id()) << 1;
    let known = KNOWN.load(Ordering::Relaxed);
    if known & !1 == own {
        return known & 1 == 1;
    }
    let are = fs::read_to_string("/proc/self/status").is_ok_and(|status| is_of_reader(&status));
    KNOWN.store(own | u64::from(are), Ordering::Relaxed);
    are
}

/// Whether the reader of this `/proc/self/status` has one number: one for each namespace from that of `/proc` inwards.
fn is_of_reader(status: &str) -> bool {
    // Kernels without namespaces of processes have no such line.
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    numbers.is_none_or(|numbers| numbers.split_whitespace().count() == 1)
}

/// The folder of a process; `None` where that of its number is another process's.
pub fn of_process(pid: u32) -> Option<String> {
    if pid == std::process::id() {
        return Some("/proc/self".to_owned());
    }
    are_ours().then(|| format!("/proc/{pid}"))
}

/// The folder of a thread alone; `None` where that of its number is another thread's.
pub fn of_thread(tid: i32) -> Option<String> {
    // SAFETY: gettid takes nothing and cannot fail.
    if tid == unsafe { libc::gettid() } {
        return Some("/proc/thread-self".to_owned());
    }
    // The files of `/proc/TID` itself sum up its process.
    are_ours().then(|| format!("/proc/{tid}/task/{tid}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_with_two_numbers_has_a_foreign_proc() {
        assert!(is_of_reader("Name:\tx\nNSpid:\t17\nNSpgid:\t17\n"));
        assert!(!is_of_reader("Name:\tx\nNSpid:\t4711\t1\nNSpgid:\t4711\t1\n"));
        assert!(is_of_reader("Name:\tx\nPid:\t17\n"));
    }

    #[test]
    fn this_process_and_thread_are_there() {
        let status = |folder: Option<String>| {
            let folder = folder.expect("its own is always right");
            let text = fs::read_to_string(format!("{folder}/status")).expect("Linux has it");
            text.lines().any(|line| line.starts_with("Tgid:"))
        };
        assert!(status(of_process(std::process::id())));
        // SAFETY: as above.
        assert!(status(of_thread(unsafe { libc::gettid() })));
    }
}
