//! The identity and features of the processor that runs the program, by CPUID or what other processors have.

#[cfg(target_arch = "x86")]
use std::arch::x86::{__cpuid_count, CpuidResult};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{__cpuid_count, CpuidResult};

use once_cell::sync::OnceCell;
use pacman_events::{CpuId, CpuModel, Family};

/// The registers that CPUID answers with, on the CPU that runs this.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
fn leaf(leaf: u32) -> CpuidResult {
    // SAFETY: no processor on which Rust's standard library runs lacks CPUID. With newer versions of Rust
    // the call is safe.
    #[allow(unused_unsafe)]
    unsafe {
        __cpuid_count(leaf, 0)
    }
}

/// The event table of this processor. On a hybrid processor it is the table of the core that runs
/// the first call.
pub(super) fn model() -> CpuModel {
    static MODEL: OnceCell<CpuModel> = OnceCell::new();
    *MODEL.get_or_init(|| {
        let found = cpu_id().and_then(|id| CpuModel::detect(&id));
        found.unwrap_or_else(CpuModel::generic)
    })
}

/// Leaf 0 of CPUID, which is the same on all cores: the highest leaf, and the vendor's name.
///
/// A virtual machine leaves the guest at each CPUID, which takes some 20 µs. So each leaf is read once
/// where it cannot change.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
fn leaf_0() -> (u32, [u8; 12]) {
    static LEAF: OnceCell<(u32, [u8; 12])> = OnceCell::new();
    *LEAF.get_or_init(|| {
        let leaf = self::leaf(0);
        let mut vendor = [0; 12];
        for (place, word) in vendor.chunks_exact_mut(4).zip([leaf.ebx, leaf.edx, leaf.ecx]) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        (leaf.eax, vendor)
    })
}

/// The identity of the CPU that runs this; `None` without CPUID.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
pub(super) fn cpu_id() -> Option<CpuId> {
    use pacman_events::CoreKind;
    /// The identity of all CPUs, if all are alike.
    static ALIKE: OnceCell<CpuId> = OnceCell::new();
    if let Some(id) = ALIKE.get() {
        return Some(id.clone());
    }
    let (highest, vendor) = leaf_0();
    if highest < 1 {
        return None;
    }
    let signature = leaf(1).eax;
    let field = |from: u32, bits: u32| signature >> from & ((1 << bits) - 1);
    let (family, model) = match field(8, 4) {
        15 => (15 + field(20, 8), field(16, 4) << 4 | field(4, 4)),
        6 => (6, field(16, 4) << 4 | field(4, 4)),
        family => (family, field(4, 4)),
    };
    let id = CpuId::new(std::str::from_utf8(&vendor).ok()?, family, model, field(0, 4));
    // Leaf 1AH: core type in EAX[31:24], native model in EAX[23:0]. All bits are zero if all cores
    // are alike.
    let hybrid = if highest >= 0x1a { leaf(0x1a).eax } else { 0 };
    Some(match (hybrid >> 24, hybrid & 0xff_ffff) {
        // Arrow Lake's low-power cores are Crestmont (2) beside Skymont (3).
        (0x20, 2) if id.model == 0xc5 => id.with_core(CoreKind::LowPower),
        (0x20, _) => id.with_core(CoreKind::Efficient),
        (0x40, _) => id.with_core(CoreKind::Performance),
        (0, 0) => ALIKE.get_or_init(|| id).clone(),
        _ => id,
    })
}

/// The identity of the first CPU; `None` if Linux does not tell it.
#[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
pub(super) fn cpu_id() -> Option<CpuId> {
    static ID: OnceCell<Option<CpuId>> = OnceCell::new();
    ID.get_or_init(|| super::cpuinfo::cpu_id(std::path::Path::new("/"), None)).clone()
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
    if leaf_0().0 >= 7 {
        static HYBRID: OnceCell<bool> = OnceCell::new();
        return *HYBRID.get_or_init(|| leaf(7).edx >> 15 & 1 == 1);
    }
    false
}

/// CPUID leaf 15H of the CPU that runs this: EBX and EAX, the ratio of the TSC to the core's
/// crystal. `None` if the leaf is missing or empty.
pub(super) fn crystal() -> Option<(u32, u32)> {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    if leaf_0().0 >= 0x15 {
        let leaf = self::leaf(0x15);
        return Some((leaf.ebx, leaf.eax)).filter(|(ebx, eax)| *ebx > 0 && *eax > 0);
    }
    None
}

#[cfg(all(test, any(target_arch = "x86", target_arch = "x86_64")))]
mod tests {
    use super::*;

    #[test]
    fn the_identity_is_that_of_another_decoder() {
        let cpuid = raw_cpuid::CpuId::new();
        let (vendor, features) = (cpuid.get_vendor_info(), cpuid.get_feature_info());
        let (vendor, features) = (vendor.expect("leaf 0"), features.expect("leaf 1"));
        // Twice: the second answer may be the kept one.
        for _ in 0..2 {
            let id = cpu_id().expect("it has CPUID");
            assert_eq!(&*id.vendor, vendor.as_str());
            let decoded = (features.family_id(), features.model_id(), features.stepping_id());
            let decoded = (decoded.0.into(), decoded.1.into(), decoded.2.into());
            assert_eq!((id.family, id.model, id.stepping), decoded);
        }
    }
}
