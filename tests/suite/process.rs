//! Facts about this process that a leak would change.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};

/// Open descriptors of perf events, by number.
pub fn perf_descriptors() -> BTreeMap<i32, String> {
    let entries = fs::read_dir("/proc/self/fd").expect("a process sees its descriptors");
    entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let number = entry.file_name().to_str()?.parse().ok()?;
            let target = fs::read_link(entry.path()).ok()?.to_string_lossy().into_owned();
            target.contains("perf_event").then_some((number, target))
        })
        .collect()
}

/// Raises this process's limit on open files as far as it may go; the limit then.
///
/// # Panics
/// If the kernel refuses, which it does not below the hard limit.
pub fn allow_descriptors() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointers are to a live rlimit.
    unsafe {
        assert_eq!(libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit), 0);
        limit.rlim_cur = limit.rlim_max;
        assert_eq!(libc::setrlimit(libc::RLIMIT_NOFILE, &limit), 0);
    }
    limit.rlim_cur
}

/// Whether this process is root's.
pub fn is_root() -> bool {
    // SAFETY: geteuid takes nothing and cannot fail.
    unsafe { libc::geteuid() == 0 }
}

/// Makes the whole process an unprivileged user's.
///
/// # Panics
/// If the kernel refuses, which it does not for root.
pub fn become_nobody() {
    const NOBODY: u32 = 65_534;
    // SAFETY: the calls take numbers; glibc applies them to every thread.
    unsafe {
        assert_eq!(libc::setgroups(0, std::ptr::null()), 0);
        assert_eq!(libc::setgid(NOBODY), 0);
        assert_eq!(libc::setuid(NOBODY), 0);
    }
}

/// Whether `perf_event_open(2)` reaches a kernel. QEMU's emulation of user mode has no such call.
pub fn reaches_perf_events() -> bool {
    // SAFETY: without a description of an event the call refuses, whatever else it is told.
    let done =
        unsafe { libc::syscall(libc::SYS_perf_event_open, std::ptr::null::<u8>(), 0, -1, -1, 0) };
    done >= 0 || std::io::Error::last_os_error().raw_os_error() != Some(libc::ENOSYS)
}

/// Whether this program can start itself. Under QEMU's emulation of user mode the machine would have to know
/// the emulator.
///
/// # Panics
/// If it has no path.
pub fn starts_itself() -> bool {
    let itself = std::env::current_exe().expect("a test has a path");
    let listed =
        Command::new(itself).arg("--list").stdout(Stdio::null()).stderr(Stdio::null()).status();
    listed.is_ok_and(|status| status.success())
}

/// The `perf_event_paranoid` level.
pub fn paranoid() -> i32 {
    fs::read_to_string("/proc/sys/kernel/perf_event_paranoid")
        .ok()
        .and_then(|level| level.trim().parse().ok())
        .expect("a kernel with perf events")
}
