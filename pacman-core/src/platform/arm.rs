//! The identity of an Arm processor: by MIDR, which Linux shows for each CPU.

use std::fs;
use std::path::Path;

use pacman_events::CpuId;

/// The identity of the CPU `cpu` of a system whose `/sys` and `/proc` are under `root`. `None` for
/// processors of other makes. Older kernels have no `regs` and list MIDR's parts in `/proc/cpuinfo`.
pub(super) fn cpu_id(root: &Path, cpu: u32) -> Option<CpuId> {
    let register = format!("sys/devices/system/cpu/cpu{cpu}/regs/identification/midr_el1");
    if let Some(midr) = fs::read_to_string(root.join(register)).ok().and_then(|text| number(&text))
    {
        return Some(from_midr(midr));
    }
    from_cpuinfo(&fs::read_to_string(root.join("proc/cpuinfo")).ok()?, cpu)
}

/// The implementer as the vendor, the part as the model, and variant and revision as the stepping.
fn from_midr(midr: u64) -> CpuId {
    let field = |low: u32, bits: u32| (midr >> low) as u32 & ((1 << bits) - 1);
    CpuId::new(
        format!("{:#04x}", field(24, 8)),
        FAMILY,
        field(4, 12),
        field(20, 4) << 4 | field(0, 4),
    )
}

/// From the record of one CPU.
fn from_cpuinfo(text: &str, cpu: u32) -> Option<CpuId> {
    let fields = |record: &str| -> Vec<(String, String)> {
        let pairs = record.lines().filter_map(|line| line.split_once(':'));
        pairs.map(|(key, value)| (key.trim().into(), value.trim().into())).collect()
    };
    let all = text.split("\n\n").map(fields);
    let value = |fields: &[(String, String)], key: &str| {
        let found = fields.iter().find(|(name, _)| name == key)?;
        number(&found.1)
    };
    let own = all.into_iter().find(|one| value(one, "processor") == Some(u64::from(cpu)))?;
    let part = |key| value(&own, key);
    let (variant, revision) = (part("CPU variant")?, part("CPU revision")?);
    Some(from_midr(
        part("CPU implementer")? << 24 | variant << 20 | part("CPU part")? << 4 | revision,
    ))
}

/// What `/proc/cpuinfo` calls the CPU architecture of any 64-bit Arm processor.
const FAMILY: u32 = 8;

fn number(text: &str) -> Option<u64> {
    match text.trim().strip_prefix("0x") {
        Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16).ok(),
        None => text.trim().parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(vendor: &str, part: u32, stepping: u32) -> Option<CpuId> {
        Some(CpuId::new(vendor, 8, part, stepping))
    }

    #[test]
    fn each_cpu_has_its_midr() {
        let root = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| {
            let file = root.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        assert_eq!(cpu_id(root.path(), 0), None);
        // Cortex-A53 and A72, as the kernel writes them.
        let record = |cpu, variant, part, revision| {
            format!(
                "processor\t: {cpu}\nBogoMIPS\t: 48.00\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\n\
                 CPU architecture: 8\nCPU variant\t: {variant}\nCPU part\t: {part}\n\
                 CPU revision\t: {revision}\n\n"
            )
        };
        write("proc/cpuinfo", &(record(0, "0x0", "0xd03", 4) + &record(4, "0x0", "0xd08", 2)));
        assert_eq!(cpu_id(root.path(), 0), id("0x41", 0xd03, 4));
        assert_eq!(cpu_id(root.path(), 4), id("0x41", 0xd08, 2));
        assert_eq!(cpu_id(root.path(), 1), None);
        // NVIDIA's Olympus.
        let register = "sys/devices/system/cpu/cpu1/regs/identification/midr_el1";
        write(register, "0x000000004e0f0100\n");
        assert_eq!(cpu_id(root.path(), 1), id("0x4e", 0x010, 0));
        write("proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n");
        assert_eq!(cpu_id(root.path(), 0), None);
    }
}
