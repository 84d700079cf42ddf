//! The core of each hardware context, and its number within the core.

use std::fs;

use pacman_events::CpuId;

use crate::platform;
use pacman_events::Result;
use pacman_topology::Topology;

/// One hardware context, as the registers address it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuLocation {
    /// Linux's number.
    pub cpu: u32,
    /// The first CPU of the core. It represents the registers that siblings share.
    pub core: u32,
    /// The context's number in the plans for its core. On NetBurst this is the logical processor of
    /// the T0 and T1 bits of an ESCR: bit 0 of its initial APIC ID. It need not follow the order of
    /// CPU numbers.
    pub context: u8,
}

/// The hardware contexts of a machine.
#[derive(Clone, Debug)]
pub struct CpuMap {
    sites: Vec<CpuLocation>,
    processor: Option<CpuId>,
}

impl CpuMap {
    /// The contexts of the machine that the program runs on.
    ///
    /// # Errors
    /// As for [`Topology::of`].
    pub fn detect() -> Result<CpuMap> {
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        Ok(CpuMap::read(&Topology::of(platform::host())?, &cpuinfo))
    }

    /// The contexts of a topology, numbered within each core by their order.
    pub fn of(topology: &Topology) -> CpuMap {
        CpuMap::read(topology, "")
    }

    /// The contexts of a topology, with numbers from the machine's `/proc/cpuinfo`.
    pub fn read(topology: &Topology, cpuinfo: &str) -> CpuMap {
        let blocks: Vec<&str> = cpuinfo.split("\n\n").collect();
        let processor = blocks.first().and_then(|block| processor(block));
        // Only NetBurst numbers its contexts in registers.
        let netburst = processor.as_ref().is_some_and(|id| (&*id.vendor, id.family) == INTEL_15);
        let apic = |cpu: u32| {
            let block = blocks.iter().find(|block| number(block, "processor") == Some(cpu))?;
            number(block, "initial apicid").or_else(|| number(block, "apicid"))
        };
        let site = |context: &pacman_topology::Context| {
            let siblings = topology.siblings_of(context.cpu);
            let logical = if netburst { apic(context.cpu).map(|id| id & 1) } else { None };
            CpuLocation {
                cpu: context.cpu,
                core: siblings.first().copied().unwrap_or(context.cpu),
                context: logical.unwrap_or(context.sibling) as u8,
            }
        };
        CpuMap { sites: topology.contexts().iter().map(site).collect(), processor }
    }

    /// The context with that CPU number.
    pub fn site(&self, cpu: u32) -> Option<CpuLocation> {
        self.sites.iter().copied().find(|site| site.cpu == cpu)
    }

    /// The processor's identity by CPUID, if it is known.
    pub fn processor(&self) -> Option<&CpuId> {
        self.processor.as_ref()
    }
}

fn processor(block: &str) -> Option<CpuId> {
    let vendor = field(block, "vendor_id")?;
    let stepping = number(block, "stepping").unwrap_or(0);
    Some(CpuId::new(vendor, number(block, "cpu family")?, number(block, "model")?, stepping))
}

fn number(block: &str, name: &str) -> Option<u32> {
    field(block, name)?.parse().ok()
}

fn field<'a>(block: &'a str, name: &str) -> Option<&'a str> {
    block.lines().find_map(|line| {
        let (known, value) = line.split_once(':')?;
        (known.trim() == name).then(|| value.trim())
    })
}

const INTEL_15: (&str, u32) = ("GenuineIntel", 15);
