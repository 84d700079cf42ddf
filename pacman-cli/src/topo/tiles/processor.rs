//! The processor that `/proc/cpuinfo` or CPUID describes.

use pacman_events::CpuId;

/// Vendor, family and model; all zero where the file does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Processor {
    intel: bool,
    family: u32,
    model: u32,
}

impl Processor {
    pub(super) const KNIGHTS_LANDING: Processor = Processor::intel(0x57);
    /// Skylake, Cascade Lake and Cooper Lake.
    pub(super) const XEON_SCALABLE_1_TO_3: Processor = Processor::intel(0x55);
    pub(super) const ICE_LAKE_XEON: Processor = Processor::intel(0x6a);

    const fn intel(model: u32) -> Processor {
        Processor { intel: true, family: 6, model }
    }

    /// The processor by CPUID.
    pub(super) fn of_cpuid(id: &CpuId) -> Processor {
        Processor { intel: id.vendor == "GenuineIntel", family: id.family, model: id.model }
    }

    /// The processor of the first CPU that is listed.
    pub(super) fn of_cpuinfo(text: &str) -> Processor {
        let field = |wanted: &str| {
            text.lines().find_map(|line| {
                let (key, value) = line.split_once(':')?;
                (key.trim() == wanted).then(|| value.trim())
            })
        };
        let number = |wanted| field(wanted).and_then(|value| value.parse().ok()).unwrap_or(0);
        Processor {
            intel: field("vendor_id") == Some("GenuineIntel"),
            family: number("cpu family"),
            model: number("model"),
        }
    }
}
