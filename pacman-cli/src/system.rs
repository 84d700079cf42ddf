//! The system calls and files of /proc that several commands need.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::time::Duration;

use pacman_regions::Scheduling;
use pacman_topology::process_files;

/// The ticks of a second in the kernel's accounts.
pub(crate) fn ticks_per_second() -> f64 {
    // SAFETY: sysconf has no preconditions.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    if ticks > 0 { ticks as f64 } else { 100.0 }
}

/// The ticks of each context in the text of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal.
pub(crate) fn ticks_of_contexts(text: &str) -> impl Iterator<Item = (u32, Vec<u64>)> {
    text.lines().filter_map(|line| {
        let mut fields = line.strip_prefix("cpu")?.split_ascii_whitespace();
        // The sum over all contexts has no number.
        let cpu = line.chars().nth(3)?.is_ascii_digit().then(|| fields.next())??.parse().ok()?;
        Some((cpu, fields.map_while(|field| field.parse().ok()).collect()))
    })
}

/// The resources that this process, this thread or the ended children have used.
pub(crate) fn usage(who: libc::c_int) -> libc::rusage {
    // SAFETY: all-zero bytes are a valid rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live rusage. The call cannot fail with these arguments.
    unsafe { libc::getrusage(who, &raw mut usage) };
    usage
}

/// A time of [`usage`].
pub(crate) fn duration(time: libc::timeval) -> Duration {
    Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000)
}

/// The time of a clock that every Linux has.
pub(crate) fn clock(clock: libc::clockid_t) -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live timespec.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The kernel's account of the first thread of a child until now. A child that has ended keeps it until it is reaped. `None` if the kernel
/// keeps no such account.
pub fn scheduling_of(child: u32) -> Option<Scheduling> {
    let folder = process_files::of_process(child)?;
    let text = fs::read_to_string(format!("{folder}/schedstat")).ok()?;
    let mut nanoseconds = text.split_whitespace().map_while(|word| word.parse::<u64>().ok());
    let (ran, delayed) = (nanoseconds.next()?, nanoseconds.next()?);
    let seconds = |nanoseconds: u64| nanoseconds as f64 * 1e-9;
    (ran > 0).then(|| Scheduling { ran: seconds(ran), delayed: seconds(delayed) })
}

/// Tells this boot from all others, on all machines.
pub(crate) fn boot() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    boot.trim().to_owned()
}

/// Asks for a lock of the open file on all of it, such as `F_OFD_SETLKW` for one of writers. It is none of `flock`'s.
pub(crate) fn file_lock(file: &File, command: libc::c_int, kind: i32) -> io::Result<libc::flock> {
    // SAFETY: all bits zero are a valid `flock`: from the begin to the end of the file.
    let mut range: libc::flock = unsafe { std::mem::zeroed() };
    range.l_type = kind as libc::c_short;
    range.l_whence = libc::SEEK_SET as libc::c_short;
    loop {
        // SAFETY: these commands read and write one `flock`, and `range` is one.
        if unsafe { libc::fcntl(file.as_raw_fd(), command, &raw mut range) } == 0 {
            return Ok(range);
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}
