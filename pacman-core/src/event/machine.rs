//! The processor for which event names are resolved by default.

use pacman_events::{CpuId, CpuModel};

use crate::platform;

/// The event table of the processor that this process counts on; see
/// [`Platform::cpu_model`](platform::Platform::cpu_model).
pub fn model() -> CpuModel {
    platform::current().cpu_model()
}

/// The answer of CPUID there; `None` where there is no CPUID.
pub fn cpu_id() -> Option<CpuId> {
    platform::current().cpu_id()
}
