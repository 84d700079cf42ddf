//! The machine that runs the program.

use std::fs;
use std::io;
use std::marker::PhantomData;

use super::interface::{Layout, Processors, Simulation, ThreadBinding};
use crate::affinity;
use crate::cpu_set::CpuSet;
use crate::process_files;
use pacman_events::{Error, ErrorKind, Result};

/// The machine that runs the program, under Linux.
#[derive(Clone, Copy, Debug)]
pub struct Linux;

impl Processors for Linux {
    fn number(&self) -> u64 {
        0
    }

    fn simulation(&self) -> Option<Simulation> {
        None
    }

    fn layout(&self) -> Layout {
        Layout::System
    }

    fn online(&self) -> Option<CpuSet> {
        let list = fs::read_to_string("/sys/devices/system/cpu/online").ok()?;
        CpuSet::from_list(list.trim()).ok()
    }

    fn current_cpu(&self) -> Option<u32> {
        affinity::current_cpu()
    }

    fn cpu_of(&self, tid: i32) -> Option<u32> {
        let stat = fs::read(format!("{}/stat", process_files::of_thread(tid)?)).ok()?;
        processor(&String::from_utf8_lossy(&stat))
    }

    fn bind(&self, cpu: u32) -> Result<Box<dyn ThreadBinding>> {
        let before = affinity::current_mask()?;
        let ours: CpuSet = [cpu].into_iter().collect();
        affinity::set(&ours).map_err(|error| refused(cpu, &error))?;
        affinity::remember(&before);
        Ok(Box::new(Mask { ours, before, one_thread: PhantomData }))
    }

    fn move_thread(&self, tid: i32, cpu: u32) -> Result<()> {
        affinity::set_of(tid, &[cpu].into_iter().collect()).map_err(|error| {
            Error::from_errno(
                ErrorKind::System,
                error.raw_os_error().unwrap_or(0),
                format!("not bound to CPU {cpu}: sched_setaffinity says {error}"),
            )
        })
    }
}

/// The calling thread's mask before, and the mask that was set here.
#[derive(Debug)]
struct Mask {
    ours: CpuSet,
    before: CpuSet,
    one_thread: PhantomData<*const ()>,
}

impl ThreadBinding for Mask {
    fn lost(&self) -> Result<Option<CpuSet>> {
        let now = affinity::current_mask()?;
        Ok((now != self.ours).then_some(now))
    }
}

impl Drop for Mask {
    fn drop(&mut self) {
        affinity::forget();
        if affinity::current().is_ok_and(|now| now == self.ours) {
            // A failure means that the cpuset allows no CPU of the old mask any more. The kernel
            // then keeps the thread on CPUs of the cpuset, and there is nothing to restore.
            let _ = affinity::set(&self.before);
        }
    }
}

/// Field 39 of `stat`, `processor` (proc_pid_stat(5)). Fields are counted from the end of the name,
/// because the name may contain any text.
fn processor(stat: &str) -> Option<u32> {
    let (_, after) = stat.rsplit_once(')')?;
    after.split_ascii_whitespace().nth(39 - 3)?.parse().ok()
}

#[cold]
fn refused(cpu: u32, error: &io::Error) -> Error {
    let errno = error.raw_os_error().unwrap_or(0);
    match errno {
        libc::EINVAL => Error::from_errno(
            ErrorKind::PlaceNotAllowed,
            errno,
            format!(
                "cannot bind to cpu {cpu}: sched_setaffinity says {error}; the cpu went offline or left the \
                 process's cpuset after the topology was read; detect it again"
            ),
        ),
        libc::EPERM | libc::EACCES | libc::ENOSYS => Error::from_errno(
            ErrorKind::Permission,
            errno,
            format!(
                "cannot bind to cpu {cpu}: sched_setaffinity says {error}; a seccomp filter or security module \
                 forbids it, so run without binding or allow the call"
            ),
        ),
        _ => Error::from_errno(
            ErrorKind::System,
            errno,
            format!(
                "cannot bind to cpu {cpu}: sched_setaffinity says {error}; run without binding"
            ),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_tell_causes_apart() {
        for (errno, kind, message) in [
            (
                libc::EINVAL,
                ErrorKind::PlaceNotAllowed,
                "cannot bind to cpu 3: sched_setaffinity says Invalid argument (os error 22); the cpu went \
                 offline or left the process's cpuset after the topology was read; detect it again",
            ),
            (
                libc::EPERM,
                ErrorKind::Permission,
                "cannot bind to cpu 3: sched_setaffinity says Operation not permitted (os error 1); a seccomp \
                 filter or security module forbids it, so run without binding or allow the call",
            ),
            (
                libc::ESRCH,
                ErrorKind::System,
                "cannot bind to cpu 3: sched_setaffinity says No such process (os error 3); run without binding",
            ),
        ] {
            let error = refused(3, &io::Error::from_raw_os_error(errno));
            assert_eq!((error.kind(), error.errno()), (kind, Some(errno)));
            assert_eq!(error.to_string(), message);
        }
    }

    #[test]
    fn the_processor_is_field_39() {
        let before: Vec<String> = (4..39).map(|field| field.to_string()).collect();
        let stat = format!("77 (a) b) R {} 5 0 0", before.join(" "));
        assert_eq!(processor(&stat), Some(5));
        assert_eq!(processor("77 (short) R 1 2"), None);
    }

    #[test]
    fn a_thread_is_found_on_a_cpu_that_is_online() {
        // SAFETY: gettid takes nothing and cannot fail.
        let tid = unsafe { libc::gettid() };
        let cpu = Linux.cpu_of(tid).unwrap();
        assert!(Linux.online().is_none_or(|online| online.contains(cpu)), "CPU {cpu}");
    }
}
