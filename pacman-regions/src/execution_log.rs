//! Single executions and waits of one thread, for traces.

use serde::{Deserialize, Serialize};

/// The first executions and waits of one thread, or of threads that ran one after the other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExecutionLog {
    /// The thread's parts of regions, in the order in which they ended.
    pub executions: Vec<LoggedExecution>,
    /// Its waits at constructs and in MPI calls, in the order in which they ended.
    pub waits: Vec<LoggedWait>,
}

/// A thread's part of one execution of a region.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoggedExecution {
    /// The index of the region.
    pub region: usize,
    /// The thread's number in the team.
    pub thread: u32,
    /// Seconds from the start of the process.
    pub begin: f64,
    /// Seconds of the part.
    pub seconds: f64,
    /// Seconds of the library's own work between its begin and its end, which are not in `seconds`.
    pub own_work: f64,
    /// The executions that it stands for: with an overhead budget only some are timed.
    pub weight: u32,
    /// The count of each event; empty if the part was not counted.
    pub counts: Vec<Option<u64>>,
}

/// One wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoggedWait {
    /// The index of the construct.
    pub site: usize,
    /// Seconds from the start of the process.
    pub begin: f64,
    /// Seconds from begin to end.
    pub seconds: f64,
    /// Seconds of tasks that the thread ran meanwhile.
    pub tasks: f64,
}
