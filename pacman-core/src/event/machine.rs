//! The processor for which event names are resolved by default.

use pacman_events::{CpuId, CpuModel};

use crate::platform;

/// The event table of the current platform's processor; see
/// [`Platform::cpu_model`](platform::Platform::cpu_model).
pub fn model() -> CpuModel {
    platform::current().cpu_model()
}

/// The CPUID identity of the current platform's processor; `None` without CPUID.
pub fn cpu_id() -> Option<CpuId> {
    platform::current().cpu_id()
}
