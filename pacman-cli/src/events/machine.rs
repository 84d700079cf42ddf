//! What the commands ask of the machine they run on, behind a seam for tests.

use std::fs;
use std::path::Path;

use pacman_events::{CpuId, SysfsPmu};

/// The machine a command runs on.
pub(crate) trait Machine {
    /// What CPUID says of the CPU that runs this; `None` where there is no CPUID.
    fn cpu_id(&self) -> Option<CpuId>;

    /// The PMUs described below a directory; those that cannot be read are left out.
    fn pmus(&self, devices: &Path) -> Vec<SysfsPmu> {
        let Ok(entries) = fs::read_dir(devices) else { return Vec::new() };
        let mut pmus: Vec<_> = entries.flatten().filter_map(|entry| pmu(&entry.path())).collect();
        pmus.sort_by(|one, other| one.name().cmp(other.name()));
        pmus
    }
}

/// This machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Here;

impl Machine for Here {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    fn cpu_id(&self) -> Option<CpuId> {
        use pacman_events::CoreKind;
        let cpuid = raw_cpuid::CpuId::new();
        let features = cpuid.get_feature_info()?;
        let vendor = cpuid.get_vendor_info()?;
        let (family, model) = (features.family_id(), features.model_id());
        let id =
            CpuId::new(vendor.as_str(), family.into(), model.into(), features.stepping_id().into());
        // Leaf 1AH: core type in EAX[31:24], native model in EAX[23:0]; all zero where
        // all cores are alike.
        let hybrid = if raw_cpuid::cpuid!(0).eax >= 0x1a { raw_cpuid::cpuid!(0x1a).eax } else { 0 };
        Some(match (hybrid >> 24, hybrid & 0xff_ffff) {
            // Arrow Lake's low-power cores are Crestmont (2) beside Skymont (3).
            (0x20, 2) if id.model == 0xc5 => id.with_core(CoreKind::LowPower),
            (0x20, _) => id.with_core(CoreKind::Efficient),
            (0x40, _) => id.with_core(CoreKind::Performance),
            _ => id,
        })
    }

    #[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
    fn cpu_id(&self) -> Option<CpuId> {
        None
    }
}

fn pmu(directory: &Path) -> Option<SysfsPmu> {
    let name = directory.file_name()?.to_str()?;
    let kind = fs::read_to_string(directory.join("type")).ok()?;
    let formats = files(&directory.join("format"));
    let events = files(&directory.join("events"));
    SysfsPmu::parse(
        name,
        &kind,
        formats.iter().map(|(name, text)| (name.as_str(), text.as_str())),
        events.iter().map(|(name, text)| (name.as_str(), text.as_str())),
    )
    .ok()
}

fn files(directory: &Path) -> Vec<(String, String)> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let read = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        Some((name, fs::read_to_string(entry.path()).ok()?))
    };
    entries.flatten().filter_map(read).collect()
}
