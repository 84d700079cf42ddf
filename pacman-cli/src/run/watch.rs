//! The watchers of this run's samples: a thread of this command, and a process of its own.
//!
//! Each of them alone cuts a sample short. The second one has a process group of its own, so that what stops or ends
//! this command's job leaves it. It ends with this command.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use pacman_regions::Segment;
use pacman_regions::arena::PAGE;
use pacman_regions::watch::{self, Table, Watcher};

use super::memory::Attached;

/// The pages of the segment: its header, and the table.
const PAGES: usize = 1 + Table::BYTES.div_ceil(PAGE);

/// The watchers. They end when this value is dropped.
#[derive(Debug)]
pub(super) struct Watch {
    segment: Segment,
    second: libc::pid_t,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    attached: Arc<Attached>,
}

impl Watch {
    /// Starts the watchers. This process has no other thread yet.
    ///
    /// # Errors
    /// The system's message.
    pub(super) fn start() -> io::Result<Watch> {
        let (segment, attached) = Attached::single(PAGES)?;
        let attached = Arc::new(attached);
        let second = second(table(&attached)?)?;
        let is_over = Arc::new(AtomicBool::new(false));
        let mut both = Watch { segment, second, is_over, thread: None, attached };
        let (memory, is_over) = (Arc::clone(&both.attached), Arc::clone(&both.is_over));
        let watches = move || {
            if let Ok(table) = table(&memory) {
                watch::watch(table, Watcher::Command, || is_over.load(Ordering::Relaxed));
            }
        };
        both.thread = Some(thread::Builder::new().name("watcher".to_owned()).spawn(watches)?);
        Ok(both)
    }

    pub(super) fn segment(&self) -> &Segment {
        &self.segment
    }
}

fn table(attached: &Attached) -> io::Result<Table<'_>> {
    Table::new(&attached.words()[PAGE / 8..])
        .ok_or_else(|| io::Error::other("the memory of the watchers is too small"))
}

/// Starts the second watcher.
fn second(table: Table<'_>) -> io::Result<libc::pid_t> {
    // SAFETY: this process has one thread.
    let (parent, child) = unsafe { (libc::getpid(), libc::fork()) };
    match child {
        0 => {
            // Not a session of its own: Linux schedules each session as a group of equal weight (`CONFIG_SCHED_AUTOGROUP`).
            // The few milliseconds of this process would weigh as much as the whole program when its threads start,
            // and the kernel would put three of four threads on the other one of two contexts.
            // SAFETY: a process group of its own. The streams and locks stay with the command alone.
            unsafe {
                libc::setpgid(0, 0);
                libc::syscall(libc::SYS_close_range, 0, u32::MAX, 0);
            }
            // SAFETY: it only returns a number: another one when the command has ended.
            watch::watch(table, Watcher::Second, || unsafe { libc::getppid() } != parent);
            // SAFETY: ends this process, whose exit handlers are the command's.
            unsafe { libc::_exit(0) }
        }
        -1 => Err(io::Error::last_os_error()),
        child => Ok(child),
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Ok(table) = table(&self.attached) {
            table.ring();
        }
        if let Some(thread) = self.thread.take() {
            // A watcher that panicked has said so.
            let _ = thread.join();
        }
        // SAFETY: a child of this process that nobody has waited for.
        unsafe {
            libc::kill(self.second, libc::SIGKILL);
            libc::waitpid(self.second, std::ptr::null_mut(), 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_watchers_live_until_the_end() {
        use pacman_regions::watch::{ALIVE, since_boot};
        let watch = Watch::start().expect("watchers");
        let second = watch.second;
        let table = table(&watch.attached).expect("a table");
        while !table.is_watched(since_boot(), 4 * ALIVE) {
            thread::yield_now();
        }
        // SAFETY: these only return numbers.
        let (group, its, session) =
            unsafe { (libc::getpgid(second), libc::getsid(second), libc::getsid(0)) };
        assert_eq!((group, its), (second, session), "it is scheduled with this one");
        drop(watch);
        // SAFETY: signal 0 is none.
        assert_eq!(unsafe { libc::kill(second, 0) }, -1, "it has ended");
    }
}
