//! The trait [`Processors`] and the data that it passes.

use std::fmt;

use crate::cpu_set::CpuSet;
use pacman_events::Result;

/// The processors of a machine and the threads that they run.
///
/// On a simulated machine "the calling thread" means the thread's counterpart there.
pub trait Processors: fmt::Debug + Send + Sync + 'static {
    /// A number that identifies the machine; 0 is the machine that runs the program.
    fn number(&self) -> u64;

    /// The machine's name and title if it is simulated; `None` for the machine that runs the program.
    fn simulation(&self) -> Option<Simulation>;

    /// The source of the description of the hardware contexts.
    fn layout(&self) -> Layout;

    /// The CPUs that are online now; `None` if the kernel does not report them.
    fn online(&self) -> Option<CpuSet>;

    /// The CPU that the calling thread runs on now; `None` if the kernel does not report it.
    fn current_cpu(&self) -> Option<u32>;

    /// The CPU that a thread of any process ran on last; `None` if the kernel does not report it.
    fn cpu_of(&self, tid: i32) -> Option<u32>;

    /// Keeps the calling thread on `cpu` until the returned binding is dropped.
    ///
    /// # Errors
    /// `PlaceNotAllowed` for a CPU that is offline or outside of the cpuset; `Permission` or `System`
    /// if the kernel refuses.
    fn bind(&self, cpu: u32) -> Result<Box<dyn ThreadBinding>>;

    /// Moves a thread of any process to `cpu` permanently.
    ///
    /// # Errors
    /// `PlaceNotAllowed` or `System`, with the kernel's reason.
    fn move_thread(&self, tid: i32, cpu: u32) -> Result<()>;
}

/// The label of a simulated machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Simulation {
    /// The name that selects it, such as `p4`.
    pub name: &'static str,
    /// A description of the machine.
    pub title: &'static str,
}

/// The source of a machine's topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// `/sys` of the running system.
    System,
    /// A line that [`Topology::synthetic`](crate::Topology::synthetic) reads.
    Synthetic(&'static str),
}

/// A thread's binding to a CPU; dropping it releases the thread.
pub trait ThreadBinding: fmt::Debug {
    /// `None` while the binding holds, otherwise the CPUs that the thread may run on now.
    ///
    /// # Errors
    /// `System` if the kernel does not report the mask.
    fn lost(&self) -> Result<Option<CpuSet>>;
}
