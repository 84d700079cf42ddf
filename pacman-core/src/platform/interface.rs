//! The trait itself and the data that it passes.

use std::fmt;
use std::sync::Arc;

use pacman_events::{CpuId, CpuModel, SysfsPmu};

use crate::backend::msr::MsrIo;
use crate::backend::perf::{PerfPermissions, PerfSys};
use crate::error::Result;
use crate::topology::CpuSet;

/// A machine to count on.
///
/// Methods about "the calling thread" concern the thread as this machine sees it.
pub trait Platform: fmt::Debug + Send + Sync + 'static {
    /// Tells machines apart; 0 is the machine that runs the program.
    fn number(&self) -> u64;

    /// The machine's name and title if it is simulated; `None` for the machine that runs the program.
    fn simulation(&self) -> Option<Simulation>;

    /// Where the hardware contexts are described.
    fn layout(&self) -> Layout;

    /// The CPUs that are online now; `None` where the kernel does not tell.
    fn online(&self) -> Option<CpuSet>;

    /// The answer of CPUID on the calling thread's CPU; `None` where there is no CPUID.
    fn cpu_id(&self) -> Option<CpuId>;

    /// The event table of the processor; the kernel's generic events for a processor without a table.
    fn cpu_model(&self) -> CpuModel;

    /// CPUID leaf 15H, EBX and EAX: the ratio of the TSC to the core's crystal. `None` where the leaf
    /// is missing or empty.
    fn crystal(&self) -> Option<(u32, u32)>;

    /// The PMUs that the kernel describes, by name.
    fn pmus(&self) -> Vec<SysfsPmu>;

    /// The time stamp counter now; `None` for a processor without one.
    fn tsc(&self) -> Option<u64>;

    /// Ticks of the time stamp counter a second.
    fn tsc_hz(&self) -> Option<f64>;

    /// The CPU that the calling thread runs on now, if the kernel tells.
    fn current_cpu(&self) -> Option<u32>;

    /// The CPU that a thread of any process ran on last, if the kernel tells.
    fn cpu_of(&self, tid: i32) -> Option<u32>;

    /// Keeps the calling thread on `cpu` until the answer is dropped.
    ///
    /// # Errors
    /// `PlaceNotAllowed` for a CPU that is offline or outside of the cpuset; `Permission` or `System`
    /// if the kernel refuses.
    fn bind(&self, cpu: u32) -> Result<Box<dyn ThreadBinding>>;

    /// Moves a thread of any process to `cpu` for good.
    ///
    /// # Errors
    /// `PlaceNotAllowed` or `System`, with the kernel's reason.
    fn move_thread(&self, tid: i32, cpu: u32) -> Result<()>;

    /// The permissions and limits that decide which counters may be opened.
    fn permissions(&self) -> PerfPermissions;

    /// The kernel's counter interface; `None` for the one of the kernel that runs the program, which
    /// the driver calls directly.
    fn perf(&self) -> Option<Arc<dyn PerfSys>>;

    /// The registers; `None` for those that `/dev/cpu/N/msr` reaches, which the driver calls directly.
    fn msr(&self) -> Option<Arc<dyn MsrIo>>;
}

/// The label of a simulated machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Simulation {
    /// The name that selects it, such as `p4`.
    pub name: &'static str,
    /// The machine in words.
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
    /// `System` if the kernel does not tell.
    fn lost(&self) -> Result<Option<CpuSet>>;
}
