//! The machine that runs the program, as a [`Platform`].

use std::path::Path;
use std::sync::Arc;

use once_cell::sync::OnceCell;
use pacman_events::{CpuId, CpuModel, SysfsPmu};
use pacman_topology::processors::Linux;

use super::core_types::{CoreTypePmu, core_types_in};
use super::cpuid;
use super::interface::Platform;
use super::permissions::PerfPermissions;
use super::pmus::{DEVICES, pmus_in};
use crate::clock::Clock;
use crate::seam::{MsrIo, PerfSys};

impl Platform for Linux {
    fn cpu_id(&self) -> Option<CpuId> {
        cpuid::cpu_id()
    }

    fn cpu_model(&self) -> CpuModel {
        cpuid::model()
    }

    fn crystal(&self) -> Option<(u32, u32)> {
        cpuid::crystal()
    }

    fn pmus(&self) -> Vec<SysfsPmu> {
        pmus_in(Path::new(DEVICES))
    }

    fn core_types(&self) -> Vec<CoreTypePmu> {
        /// The kernel registers these PMUs when it starts. Each resolved event asks for them.
        static TYPES: OnceCell<Vec<CoreTypePmu>> = OnceCell::new();
        TYPES.get_or_init(|| core_types_in(Path::new("/"), cpuid::cpu_id().as_ref())).clone()
    }

    fn tsc(&self) -> Option<u64> {
        Clock::tsc().map(|clock| clock.now())
    }

    /// Measured: CPUID leaf 16H is missing before Skylake, and holds a nominal figure after.
    fn tsc_hz(&self) -> Option<f64> {
        Clock::tsc().map(|clock| 1e9 / clock.nanos_per_tick())
    }

    fn permissions(&self) -> PerfPermissions {
        PerfPermissions::read()
    }

    fn perf(&self) -> Option<Arc<dyn PerfSys>> {
        None
    }

    fn msr(&self) -> Option<Arc<dyn MsrIo>> {
        None
    }
}
