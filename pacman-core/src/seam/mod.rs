//! The OS seam: the traits through which backends and energy counters reach the machine.
//!
//! [`PerfSys`] has every system call of counting, [`MsrIo`] every access to a register. Their drivers implement
//! them for Linux; simulated machines and tests implement both, below unchanged drivers.

mod msr_io;
mod perf_sys;

use std::fmt;

pub use msr_io::MsrIo;
pub use perf_sys::{PAGE, PerfSys};

/// An `errno` value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub i32);

impl Errno {
    /// That of the last failed call of this thread.
    pub(crate) fn last() -> Errno {
        Errno(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO))
    }
}

/// The answer of a system call.
pub type SysResult<T> = Result<T, Errno>;

/// The thread or context whose events a counter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The calling thread.
    Caller,
    /// Another thread, by its id.
    Thread(i32),
    /// Another thread, by its id, and all threads and processes that it makes from now on.
    Tree(i32),
    /// A hardware context with all that runs on it, by Linux's number of the logical CPU.
    Context(u32),
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Caller => f.write_str("this thread"),
            Target::Thread(tid) => write!(f, "thread {tid}"),
            Target::Tree(tid) => write!(f, "thread {tid} and all that it makes"),
            Target::Context(cpu) => write!(f, "CPU {cpu}"),
        }
    }
}
