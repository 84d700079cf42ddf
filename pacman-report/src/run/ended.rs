//! The end of the program.

use std::time::SystemTime;

use pacman_regions::Scheduling;

use crate::exit::Exit;

/// The end of the program.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// The process that was waited for; 0 where there was none.
    pub pid: u32,
    /// Its exit status, or its signal.
    pub exit: Exit,
    /// Seconds from its start.
    pub seconds: f64,
    /// The time.
    pub at: SystemTime,
    /// The kernel's account of its first thread.
    pub scheduling: Option<Scheduling>,
}
