//! The identity of a processor without CPUID, from what Linux shows of it.

use std::fs;
use std::path::Path;

use pacman_events::CpuId;

/// The identity of the CPU `cpu`, or of the first, of a system whose `/sys` and `/proc` are under
/// `root`. `None` for processors with CPUID. Arm's older kernels have no `regs`, and list MIDR's parts
/// in `/proc/cpuinfo`.
pub(super) fn cpu_id(root: &Path, cpu: Option<u32>) -> Option<CpuId> {
    let of = cpu.unwrap_or(0);
    let register = format!("sys/devices/system/cpu/cpu{of}/regs/identification/midr_el1");
    let midr = fs::read_to_string(root.join(register))
        .ok()
        .and_then(|text| u64::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok());
    match midr {
        Some(midr) => Some(CpuId::from_midr(midr)),
        None => CpuId::from_cpuinfo(&fs::read_to_string(root.join("proc/cpuinfo")).ok()?, cpu),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pacman_events::CpuModel;

    #[test]
    fn each_cpu_has_its_registers() {
        let root = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| {
            let file = root.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        let id = |cpu| cpu_id(root.path(), cpu);
        assert_eq!(id(None), None);
        // Cortex-A53 and A72, as the kernel writes them. CPU 0 is offline.
        let record = |cpu, variant, part, revision| {
            format!(
                "processor\t: {cpu}\nBogoMIPS\t: 48.00\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\n\
                 CPU architecture: 8\nCPU variant\t: {variant}\nCPU part\t: {part}\n\
                 CPU revision\t: {revision}\n\n"
            )
        };
        write("proc/cpuinfo", &(record(1, "0x0", "0xd03", 4) + &record(4, "0x1", "0xd08", 2)));
        let (a53, a72) = (CpuId::from_midr(0x410f_d034), CpuId::from_midr(0x411f_d082));
        assert_eq!((id(None), id(Some(1))), (Some(a53.clone()), Some(a53)));
        assert_eq!((id(Some(0)), id(Some(4))), (None, Some(a72)));
        // NVIDIA's Olympus.
        let register = "sys/devices/system/cpu/cpu3/regs/identification/midr_el1";
        write(register, "0x000000004e0f0100\n");
        assert_eq!(id(Some(3)), Some(CpuId::from_midr(0x4e0f_0100)));
    }

    #[test]
    fn power_and_ibm_z_are_known_and_have_their_tables() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("proc")).unwrap();
        let model = |cpuinfo: &str| {
            fs::write(root.path().join("proc/cpuinfo"), cpuinfo).unwrap();
            cpu_id(root.path(), None).and_then(|id| CpuModel::detect(&id)).map(CpuModel::name)
        };
        let power = "processor\t: 8\ncpu\t\t: POWER10 (architected), altivec supported\n\
                     clock\t\t: 3550.000000MHz\nrevision\t: 2.0 (pvr 0080 0200)\n\n\
                     timebase\t: 512000000\nplatform\t: pSeries\n";
        assert_eq!(model(power), Some("power10"));
        let z = "vendor_id       : IBM/S390\n# processors    : 1\nbogomips per cpu: 3033.00\n\
                 processor 0: version = FF,  identification = 0133E8,  machine = 3931\n\n\
                 cpu number      : 0\nversion         : FF\nmachine         : 3931\n";
        assert_eq!(model(z), Some("z16"));
        let x86 = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 94\n";
        assert_eq!(model(x86), None);
    }
}
