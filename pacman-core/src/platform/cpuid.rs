//! The identity and features of the processor that runs the program, by CPUID.

use once_cell::sync::OnceCell;
use pacman_events::{CpuId, CpuModel, Family};

/// The event table of this processor. On a hybrid processor it is the table of the core that runs
/// the first call.
pub(super) fn model() -> CpuModel {
    static MODEL: OnceCell<CpuModel> = OnceCell::new();
    *MODEL.get_or_init(|| {
        let found = cpu_id().and_then(|id| CpuModel::detect(&id));
        found.unwrap_or_else(CpuModel::generic)
    })
}

/// The identity of the CPU that runs this; `None` without CPUID.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
pub(super) fn cpu_id() -> Option<CpuId> {
    use pacman_events::CoreKind;
    let cpuid = raw_cpuid::CpuId::new();
    let features = cpuid.get_feature_info()?;
    let vendor = cpuid.get_vendor_info()?;
    let (family, model) = (features.family_id(), features.model_id());
    let id =
        CpuId::new(vendor.as_str(), family.into(), model.into(), features.stepping_id().into());
    // Leaf 1AH: core type in EAX[31:24], native model in EAX[23:0]. All bits are zero if all cores
    // are alike.
    let hybrid = if raw_cpuid::cpuid!(0).eax >= 0x1a { raw_cpuid::cpuid!(0x1a).eax } else { 0 };
    Some(match (hybrid >> 24, hybrid & 0xff_ffff) {
        // Arrow Lake's low-power cores are Crestmont (2) beside Skymont (3).
        (0x20, 2) if id.model == 0xc5 => id.with_core(CoreKind::LowPower),
        (0x20, _) => id.with_core(CoreKind::Efficient),
        (0x40, _) => id.with_core(CoreKind::Performance),
        _ => id,
    })
}

/// The identity of the CPU that runs this; `None` without CPUID.
#[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
pub(super) fn cpu_id() -> Option<CpuId> {
    None
}

/// Why hardware counts of Linux's driver may be wrong on this processor; `None` if they are right.
///
/// NetBurst's driver starts a counter by two writes (erratum N15), the second with a stale period.
/// After a change of threads a count may be wrong by the counter's width.
pub(crate) fn driver_doubt() -> Option<&'static str> {
    (model().facts().family == Family::NetBurst).then_some(
        "Linux's driver for NetBurst writes a stale period over a counter when threads change, so \
         that a count may be off by up to 2^40",
    )
}

/// Whether CPUID says that the processor has cores of several types (leaf 7, EDX bit 15).
pub(crate) fn is_hybrid() -> bool {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    if raw_cpuid::cpuid!(0).eax >= 7 {
        return raw_cpuid::cpuid!(7, 0).edx >> 15 & 1 == 1;
    }
    false
}

/// CPUID leaf 15H of the CPU that runs this: EBX and EAX, the ratio of the TSC to the core's
/// crystal. `None` if the leaf is missing or empty.
pub(super) fn crystal() -> Option<(u32, u32)> {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    if raw_cpuid::cpuid!(0).eax >= 0x15 {
        let leaf = raw_cpuid::cpuid!(0x15);
        return Some((leaf.ebx, leaf.eax)).filter(|(ebx, eax)| *ebx > 0 && *eax > 0);
    }
    None
}
