//! The identity of a processor, from CPUID, Arm's MIDR, POWER's PVR or IBM Z's machine type.

/// The kind of a hybrid processor's core, from CPUID leaf 1AH.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CoreKind {
    /// "Atom": core type 20H.
    Efficient,
    /// The efficient cores on a die of their own: core type 20H with another native
    /// model than the efficient cores of the compute die.
    LowPower,
    /// "Core": core type 40H.
    Performance,
}

/// A processor's identity: CPUID's vendor, family, model and stepping as displayed, that is with the
/// extended fields added in, or what other processors have in their place.
///
/// | | vendor | family | model | stepping |
/// |---|---|---|---|---|
/// | x86 | `GenuineIntel` | family | model | stepping |
/// | Arm | implementer, such as `0x41` | 8 | part | variant and revision, four bits each |
/// | POWER | `POWER` | 0 | version of the PVR | revision of the PVR |
/// | IBM Z | `IBM/S390` | 0 | machine type in decimal, such as 3906 | 0 |
///
/// ```
/// use pacman_events::{CoreKind, CpuId, CpuModel};
/// let alder_lake = CpuId::new("GenuineIntel", 6, 0x97, 2).with_core(CoreKind::Efficient);
/// assert_eq!(CpuModel::detect(&alder_lake).unwrap().name(), "adl-gracemont");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CpuId {
    /// The vendor string, such as `GenuineIntel`; on Arm the implementer, such as `0x41`.
    pub vendor: String,
    /// Displayed family.
    pub family: u32,
    /// Displayed model, part, version or machine type.
    pub model: u32,
    /// Stepping.
    pub stepping: u32,
    /// The kind of core that executed CPUID, on a hybrid processor.
    pub core: Option<CoreKind>,
}

impl CpuId {
    /// A processor with cores of one kind, unless [`CpuId::with_core`] changes it.
    pub fn new(vendor: impl Into<String>, family: u32, model: u32, stepping: u32) -> Self {
        CpuId { vendor: vendor.into(), family, model, stepping, core: None }
    }

    /// The Arm processor of a `MIDR_EL1`, which Linux has in
    /// `/sys/devices/system/cpu/cpu0/regs/identification/midr_el1`.
    ///
    /// ```
    /// use pacman_events::{CpuId, CpuModel};
    /// let vera = CpuId::from_midr(0x4e0f_0100);
    /// assert_eq!(CpuModel::detect(&vera).unwrap().name(), "olympus");
    /// ```
    pub fn from_midr(midr: u64) -> Self {
        let field = |low: u32, bits: u32| (midr >> low) as u32 & ((1 << bits) - 1);
        let stepping = field(20, 4) << 4 | field(0, 4);
        CpuId::new(format!("{:#04x}", field(24, 8)), ARM_FAMILY, field(4, 12), stepping)
    }

    /// The POWER processor of a processor version register.
    pub fn from_pvr(pvr: u32) -> Self {
        CpuId::new("POWER", 0, pvr >> 16, pvr & 0xffff)
    }

    /// The Arm, POWER or IBM Z processor `cpu` in the text of `/proc/cpuinfo`, or the first one there.
    /// `None` for others, which CPUID describes better.
    ///
    /// ```
    /// use pacman_events::{CpuId, CpuModel};
    /// let text = "processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\n\
    ///             CPU part\t: 0xd0c\nCPU revision\t: 1\n";
    /// let graviton2 = CpuId::from_cpuinfo(text, None).unwrap();
    /// assert_eq!(CpuModel::detect(&graviton2).unwrap().name(), "neoverse-n1");
    /// assert_eq!(CpuId::from_cpuinfo(text, Some(1)), None);
    /// ```
    pub fn from_cpuinfo(text: &str, cpu: Option<u32>) -> Option<Self> {
        let is_wanted = |number: &str| cpu.is_none_or(|cpu| number.parse() == Ok(cpu));
        let records = text.split("\n\n").map(Record);
        let mut own = records.filter(|one| one.value("processor").is_some_and(is_wanted));
        if let Some(own) = own.next() {
            return own.arm().or_else(|| own.power());
        }
        // IBM Z: `processor 0: version = FF,  identification = 0133E8,  machine = 3906`.
        let mut lines =
            text.lines().filter_map(|line| line.strip_prefix("processor ")?.split_once(':'));
        let (_, own) = lines.find(|(number, _)| is_wanted(number))?;
        let (_, machine) = own.split_once("machine = ")?;
        Some(CpuId::new("IBM/S390", 0, machine.trim().parse().ok()?, 0))
    }

    /// The same processor, seen from a core of this kind.
    #[must_use]
    pub fn with_core(mut self, core: CoreKind) -> Self {
        self.core = Some(core);
        self
    }
}

/// The lines of `/proc/cpuinfo` about one processor, but for IBM Z.
struct Record<'a>(&'a str);

impl Record<'_> {
    fn value(&self, key: &str) -> Option<&str> {
        let mut lines = self.0.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim())
    }

    fn arm(&self) -> Option<CpuId> {
        let part = |key| hexadecimal(self.value(key)?);
        let revision: u32 = self.value("CPU revision")?.parse().ok()?;
        let stepping = part("CPU variant")? << 4 | revision;
        Some(CpuId::new(self.value("CPU implementer")?, ARM_FAMILY, part("CPU part")?, stepping))
    }

    /// `revision : 2.2 (pvr 004e 1202)`.
    fn power(&self) -> Option<CpuId> {
        let (_, pvr) = self.value("revision")?.split_once("(pvr ")?;
        let (version, revision) = pvr.trim_end_matches(')').split_once(' ')?;
        Some(CpuId::from_pvr(hexadecimal(version)? << 16 | hexadecimal(revision)?))
    }
}

fn hexadecimal(text: &str) -> Option<u32> {
    u32::from_str_radix(text.trim_start_matches("0x"), 16).ok()
}

/// The `CPU architecture` of any 64-bit Arm processor in `/proc/cpuinfo`. MIDR has 15 there.
const ARM_FAMILY: u32 = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CpuModel;

    #[test]
    fn processors_are_known_by_their_registers_and_by_cpuinfo() {
        let table = |id: &CpuId| CpuModel::detect(id).map(CpuModel::name);
        // MIDRs of Linux's cputype.h: variant and revision do not matter.
        for (midr, name) in [
            (0x413f_d0c1, "neoverse-n1"),
            (0x410f_d490, "neoverse-n2"),
            (0x6d0f_d490, "neoverse-n2"),
            (0x411f_d401, "neoverse-v1"),
            (0x410f_d4f0, "neoverse-v2"),
            (0x431f_0af1, "thunderx2"),
            (0x420f_5160, "thunderx2"),
            (0x461f_0010, "a64fx"),
            (0x481f_d010, "tsv110"),
            (0x410f_d083, "cortex-a72"),
            (0x410f_d4a0, "neoverse-e1"),
            (0x4e0f_0100, "olympus"),
        ] {
            assert_eq!(table(&CpuId::from_midr(midr)), Some(name), "{midr:#x}");
        }
        // Apple's Icestorm has no table.
        assert_eq!(table(&CpuId::from_midr(0x611f_0221)), None);
        for (pvr, name) in
            [(0x004d_0200, "power8"), (0x004e_1202, "power9"), (0x0080_0200, "power10")]
        {
            assert_eq!(table(&CpuId::from_pvr(pvr)), Some(name), "{pvr:#x}");
        }
        let cpuinfo = |text: &str| CpuId::from_cpuinfo(text, None);
        let vera = "processor\t: 0\nBogoMIPS\t: 2000.00\nFeatures\t: fp asimd\nCPU implementer\t: \
                    0x4e\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0x010\nCPU \
                    revision\t: 0\n";
        assert_eq!(cpuinfo(vera), Some(CpuId::from_midr(0x4e0f_0100)));
        let power = "processor\t: 0\ncpu\t\t: POWER9 (architected), altivec supported\n\
                     clock\t\t: 2200.000000MHz\nrevision\t: 2.2 (pvr 004e 1202)\n";
        assert_eq!(cpuinfo(power), Some(CpuId::from_pvr(0x004e_1202)));
        let z14 = "vendor_id       : IBM/S390\n# processors    : 1\nprocessor 0: version = FF,  \
                   identification = 0133E8,  machine = 3906\n";
        assert_eq!(table(&cpuinfo(z14).unwrap()), Some("z14"));
        let of_two = z14.to_owned()
            + "processor 1: version = FF,  identification = 0133E8,  machine = 3931\n";
        let second = CpuId::from_cpuinfo(&of_two, Some(1)).unwrap();
        assert_eq!((cpuinfo(&of_two), table(&second)), (cpuinfo(z14), Some("z16")));
        assert_eq!(CpuId::from_cpuinfo(&of_two, Some(2)), None);
        let skylake = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 94\n";
        assert_eq!(cpuinfo(skylake), None);
        assert_eq!(cpuinfo(""), None);
    }
}
