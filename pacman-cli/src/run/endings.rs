//! The endings of processes that recorded none.

use std::time::SystemTime;

use pacman_regions::{Ending, Recording};
use pacman_topology::process_files;

use crate::system;
use pacman_report::run::Ended;

/// Completes the endings of recordings, and the kernel's account of threads, from the end of the program
/// and from the processes that still run. The recordings are in the order in which their processes began.
pub(super) fn complete(recordings: &mut [Recording], ended: &Ended) {
    let unsaid = |recording: &&mut Recording| recording.process.ending == Ending::Unsaid;
    for recording in recordings.iter_mut().filter(unsaid) {
        let process = &mut recording.process;
        if process.pid != ended.pid && is_alive(process.pid, process.began) {
            process.ending = Ending::Running;
            process.seconds = process.seconds.max(since_1970(SystemTime::now()) - process.began);
        }
    }
    // It may have been several programs, one after the other.
    let own = recordings.iter_mut().rfind(|recording| recording.process.pid == ended.pid);
    let Some(recording) = own else { return };
    recording.scheduling = recording.scheduling.or(ended.scheduling);
    let process = &mut recording.process;
    // A program that the library was not loaded into may have come after it, and ended so.
    if process.ending == Ending::Unsaid {
        process.seconds = process.seconds.max(since_1970(ended.at) - process.began);
    }
    if let (Ending::Unsaid | Ending::Exit | Ending::ExitInRegion, Some(signal)) =
        (process.ending, ended.exit.signal())
    {
        process.ending = Ending::Killed(signal);
    }
}

fn since_1970(time: SystemTime) -> f64 {
    time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// Whether the process is there that began recording at that time; one that came later may have its
/// number.
fn is_alive(pid: u32, began: f64) -> bool {
    started(pid).is_some_and(|started| started <= began + CLOCKS_DIFFER)
}

/// When the process was started, in seconds since 1970; `None` if it has ended.
fn started(pid: u32) -> Option<f64> {
    let since_boot = start_ticks(pid)? as f64;
    let uptime = std::fs::read_to_string("/proc/uptime").ok()?;
    let uptime: f64 = uptime.split(' ').next()?.parse().ok()?;
    Some(since_1970(SystemTime::now()) - uptime + since_boot / system::ticks_per_second())
}

/// The clock ticks between the boot and the start of a process; `None` if it has ended, or `/proc` is of another namespace.
pub(super) fn start_ticks(pid: u32) -> Option<u64> {
    let folder = process_files::of_process(pid)?;
    let about = std::fs::read_to_string(format!("{folder}/stat")).ok()?;
    // The name may have anything in it, brackets, too.
    let mut fields = about.rsplit_once(") ")?.1.split(' ');
    let state = fields.next()?;
    let ticks = fields.nth(18)?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some(ticks)
}

/// Seconds by which the start of a process may seem later than it was.
const CLOCKS_DIFFER: f64 = 0.1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_told_from_later_ones_of_their_number() {
        let own = std::process::id();
        let now = since_1970(SystemTime::now());
        assert!(is_alive(own, now), "this one");
        let started = started(own).expect("it is there");
        // The kernel's clocks have ticks of 10 ms, and this process may be younger than one.
        let age = now - started;
        assert!(age > -CLOCKS_DIFFER && age < 86_400.0, "{age} s");
        assert!(!is_alive(own, started - 60.0), "one that recorded before it was there");
        let mut ended = std::process::Command::new("true").spawn().expect("it runs");
        ended.wait().expect("it ends");
        assert!(!is_alive(ended.id(), now));
    }
}
