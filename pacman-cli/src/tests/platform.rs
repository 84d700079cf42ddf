//! A machine of the tests' own, of which a command asks the processor and its PMUs.

use std::path::Path;
use std::sync::Arc;

use pacman_core::backend::msr::MsrIo;
use pacman_core::backend::perf::{PerfPermissions, PerfSys};
use pacman_core::platform::{Layout, Platform, Processors, Simulation, ThreadBinding};
use pacman_events::{CpuId, CpuModel, SysfsPmu};
use pacman_topology::{CpuSet, Result};

/// A machine that tells its processor and nothing else; by default it has no CPUID.
#[derive(Debug)]
pub(crate) struct TestPlatform {
    pub(crate) cpu_id: Option<CpuId>,
    pub(crate) pmus: Vec<SysfsPmu>,
    pub(crate) permissions: PerfPermissions,
}

impl Default for TestPlatform {
    fn default() -> TestPlatform {
        let permissions = PerfPermissions::read_under(Path::new("/nowhere"));
        TestPlatform { cpu_id: None, pmus: Vec::new(), permissions }
    }
}

impl Processors for TestPlatform {
    fn number(&self) -> u64 {
        u64::MAX
    }

    fn simulation(&self) -> Option<Simulation> {
        Some(Simulation { name: "test", title: "a machine of the tests" })
    }

    fn layout(&self) -> Layout {
        Layout::Synthetic("1 core")
    }

    fn online(&self) -> Option<CpuSet> {
        None
    }

    fn current_cpu(&self) -> Option<u32> {
        None
    }

    fn cpu_of(&self, _: i32) -> Option<u32> {
        None
    }

    fn bind(&self, cpu: u32) -> Result<Box<dyn ThreadBinding>> {
        unreachable!("nobody binds a thread to CPU {cpu} of this machine")
    }

    fn move_thread(&self, tid: i32, cpu: u32) -> Result<()> {
        unreachable!("nobody moves thread {tid} to CPU {cpu} of this machine")
    }
}

impl Platform for TestPlatform {
    fn cpu_id(&self) -> Option<CpuId> {
        self.cpu_id.clone()
    }

    fn cpu_model(&self) -> CpuModel {
        let found = self.cpu_id.as_ref().and_then(CpuModel::detect);
        found.unwrap_or_else(CpuModel::generic)
    }

    fn crystal(&self) -> Option<(u32, u32)> {
        None
    }

    fn pmus(&self) -> Vec<SysfsPmu> {
        self.pmus.clone()
    }

    fn tsc(&self) -> Option<u64> {
        None
    }

    fn tsc_hz(&self) -> Option<f64> {
        None
    }

    fn permissions(&self) -> PerfPermissions {
        self.permissions.clone()
    }

    fn perf(&self) -> Option<Arc<dyn PerfSys>> {
        unreachable!("nobody counts on this machine")
    }

    fn msr(&self) -> Option<Arc<dyn MsrIo>> {
        unreachable!("nobody counts on this machine")
    }
}
