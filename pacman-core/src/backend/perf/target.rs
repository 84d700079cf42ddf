//! The obstacles to counting another thread or a context.

use crate::backend::Target;
use crate::platform::PerfPermissions;
use crate::seam::Errno;
use pacman_events::ErrorKind;

impl PerfPermissions {
    /// The reason for `errno` that applies only to this kind of target; `None` for a reason that
    /// any target can have.
    pub(super) fn obstacle(&self, target: Target, errno: Errno) -> Option<(ErrorKind, String)> {
        let forbidden = [libc::EACCES, libc::EPERM].contains(&errno.0);
        let filtered = self.seccomp == 2 && errno.0 == libc::EPERM;
        // The level is not the cause if the process has the capability.
        let level = self.paranoid.filter(|_| self.capability.is_none());
        match (target, level) {
            (Target::Thread(_) | Target::Tree(_), _) if errno.0 == libc::ESRCH => {
                Some((ErrorKind::System, "it has ended".into()))
            }
            (Target::Thread(_) | Target::Tree(_), None | Some(..=2))
                if forbidden && self.seccomp != 2 => Some((
                ErrorKind::Permission,
                "permission denied: it is another user's, or its program is set-user-ID; run as \
                 that user, or with CAP_PERFMON"
                    .into(),
            )),
            (Target::Context(_), Some(level @ 1..)) if forbidden && !filtered => Some((
                ErrorKind::Permission,
                format!(
                    "permission denied: perf_event_paranoid is {level}; 0 or less lets a process \
                     count whole CPUs (sysctl kernel.perf_event_paranoid), or CAP_PERFMON"
                ),
            )),
            (Target::Context(cpu), _) if errno.0 == libc::ENODEV => Some((
                ErrorKind::PlaceNotAllowed,
                format!("it is offline; write 1 to /sys/devices/system/cpu/cpu{cpu}/online"),
            )),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::backend::perf::explain::Reach;
    use crate::backend::perf::{PerfBackend, Sharing};
    use crate::backend::{Backend, Reading};
    use crate::event::Event;

    /// Touches fresh pages one by one; pages of the heap may have been touched before.
    fn touch(pages: usize) {
        const PAGE: usize = 4096;
        let (prot, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: the mapping is fresh and anonymous; writes stay within its length.
        unsafe {
            let base = libc::mmap(std::ptr::null_mut(), pages * PAGE, prot, flags, -1, 0);
            assert_ne!(base, libc::MAP_FAILED);
            // With huge pages one fault could map many pages.
            libc::madvise(base, pages * PAGE, libc::MADV_NOHUGEPAGE);
            for page in 0..pages {
                base.cast::<u8>().add(page * PAGE).write_volatile(1);
            }
            libc::munmap(base, pages * PAGE);
        }
    }

    #[test]
    fn another_thread_is_counted_from_outside() {
        if !pacman_suite::process::reaches_perf_events() {
            return pacman_suite::skipped("perf_event_open does not reach a kernel");
        }
        const PAGES: usize = 64;
        let (tell, told) = mpsc::channel();
        let (go, wait) = mpsc::channel::<()>();
        let other = std::thread::spawn(move || {
            // SAFETY: gettid takes nothing and cannot fail.
            tell.send(unsafe { libc::gettid() }).unwrap();
            wait.recv().unwrap();
            touch(PAGES);
            tell.send(0).unwrap();
            wait.recv().unwrap();
        });
        let target = Target::Thread(told.recv().unwrap());
        let events = Event::parse_list("task-clock,page-faults").unwrap();
        let backend = PerfBackend::new(&events, Sharing::Pinned).unwrap();
        let counters = backend.open(target).unwrap();
        let (mut before, mut after) = (Reading::EMPTY, Reading::EMPTY);
        counters.read(&mut before).unwrap();
        go.send(()).unwrap();
        told.recv().unwrap();
        counters.read(&mut after).unwrap();
        assert!(after.count_since(&before, 0) > 0, "it ran");
        assert!(after.count_since(&before, 1) >= PAGES as u64, "{before:?} {after:?}");
        go.send(()).unwrap();
        other.join().unwrap();
        let mut error = backend.open(target).err();
        // A joined thread may still be in the kernel.
        while error.is_none() {
            error = backend.open(target).err();
        }
        let error = error.expect("it has ended").to_string();
        assert!(error.ends_with("it has ended") || error.contains("No such"), "{error}");
    }

    #[test]
    fn each_target_has_obstacles_of_its_own() {
        let mut permissions = PerfPermissions::read_under(std::path::Path::new("/nowhere"));
        permissions.paranoid = Some(1);
        permissions.pmus = vec!["cpu".into()];
        let line = |permissions: &PerfPermissions, target, errno| {
            permissions.explain("CYCLES", true, Reach::Kernel, target, Errno(errno)).to_string()
        };
        for (target, errno, text) in [
            (
                Target::Context(3),
                libc::EACCES,
                "cannot open CYCLES for CPU 3: permission denied: perf_event_paranoid is 1; 0 or less lets a process count whole CPUs (sysctl kernel.perf_event_paranoid), or CAP_PERFMON",
            ),
            (
                Target::Context(3),
                libc::ENODEV,
                "cannot open CYCLES for CPU 3: it is offline; write 1 to /sys/devices/system/cpu/cpu3/online",
            ),
            (
                Target::Thread(77),
                libc::EACCES,
                "cannot open CYCLES for thread 77: permission denied: it is another user's, or its program is set-user-ID; run as that user, or with CAP_PERFMON",
            ),
            (Target::Thread(77), libc::ESRCH, "cannot open CYCLES for thread 77: it has ended"),
        ] {
            assert_eq!(line(&permissions, target, errno), text);
        }
        permissions.seccomp = 2;
        let filtered = line(&permissions, Target::Context(0), libc::EPERM);
        assert!(filtered.contains("seccomp"), "{filtered}");
    }
}
