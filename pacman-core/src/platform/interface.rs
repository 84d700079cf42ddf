//! The trait of a machine to count on.

use std::sync::Arc;

use pacman_events::{CpuId, CpuModel, SysfsPmu};
use pacman_topology::processors::Processors;

use super::core_types::CoreTypePmu;
use super::permissions::PerfPermissions;
use crate::seam::{MsrIo, PerfSys};

/// A machine to count on: its [processors](Processors), and how events are counted there.
pub trait Platform: Processors {
    /// The answer of CPUID on the calling thread's CPU; `None` without CPUID.
    fn cpu_id(&self) -> Option<CpuId>;

    /// The event table of the processor; the kernel's generic events for a processor without a table.
    fn cpu_model(&self) -> CpuModel;

    /// CPUID leaf 15H, EBX and EAX: the ratio of the TSC to the core's crystal. `None` where the leaf
    /// is missing or empty.
    fn crystal(&self) -> Option<(u32, u32)>;

    /// The PMUs that the kernel describes, by name.
    fn pmus(&self) -> Vec<SysfsPmu>;

    /// The PMUs of a hybrid processor's core types, the performance cores' first; empty where all
    /// cores are alike, and where the kernel describes fewer than two such PMUs.
    fn core_types(&self) -> Vec<CoreTypePmu> {
        Vec::new()
    }

    /// The time stamp counter now; `None` for a processor without one.
    fn tsc(&self) -> Option<u64>;

    /// Ticks of the time stamp counter per second.
    fn tsc_hz(&self) -> Option<f64>;

    /// The permissions and limits that decide which counters may be opened.
    fn permissions(&self) -> PerfPermissions;

    /// The kernel's counter interface; `None` for the one of the kernel that runs the program, which
    /// the driver calls directly.
    fn perf(&self) -> Option<Arc<dyn PerfSys>>;

    /// The registers; `None` for those that `/dev/cpu/N/msr` reaches, which the driver calls directly.
    fn msr(&self) -> Option<Arc<dyn MsrIo>>;
}
