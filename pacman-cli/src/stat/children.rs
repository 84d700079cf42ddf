//! The processor time of child processes, as the kernel accounts it.

use std::time::Duration;

use pacman_report::stat::Usage;

/// The time of all child processes that ended and that this process waited for.
///
/// The command is such a child. Its followed threads and processes are not, so that none of
/// them counts twice.
pub(super) fn usage() -> Usage {
    // SAFETY: all-zero bytes are a valid rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live rusage. The call cannot fail with these arguments.
    unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage) };
    Usage { user: duration(usage.ru_utime), system: duration(usage.ru_stime) }
}

fn duration(time: libc::timeval) -> Duration {
    Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000)
}
