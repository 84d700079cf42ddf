//! The caches of a CPU that hold data.

use pacman_core::topology::CacheKind;
use pacman_core::{Error, ErrorKind, Result, Topology};

/// Lines of 64 bytes: the largest number that any line size makes of a capacity here.
const LINE: usize = 64;

/// One level of the caches that hold data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cache {
    pub(super) level: u32,
    bytes: usize,
}

impl Cache {
    #[cfg(target_arch = "x86_64")]
    pub(super) fn bytes(self) -> usize {
        self.bytes
    }

    /// The lines it holds at most.
    pub(super) fn lines(self) -> usize {
        self.bytes / LINE
    }
}

/// The cache of this level.
///
/// # Errors
/// `Unsupported` if the machine shows none.
pub(super) fn level(machine: &Topology, cpu: u32, level: u32) -> Result<Cache> {
    let caches = of(machine, cpu)?;
    caches.into_iter().find(|cache| cache.level == level).ok_or_else(|| {
        let which = format!("a data cache of level {level}");
        absent(cpu, &which)
    })
}

/// The largest level.
///
/// # Errors
/// `Unsupported` if the machine shows none.
pub(super) fn last(machine: &Topology, cpu: u32) -> Result<Cache> {
    of(machine, cpu)?.pop().ok_or_else(|| absent(cpu, "data caches"))
}

#[cold]
fn absent(cpu: u32, which: &str) -> Error {
    Error::new(
        ErrorKind::Unsupported,
        format!(
            "cannot size a kernel's data: /sys/devices/system/cpu/cpu{cpu}/cache does not show \
             {which}; a virtual machine can be given its host's caches"
        ),
    )
}

/// All levels, the nearest first.
fn of(machine: &Topology, cpu: u32) -> Result<Vec<Cache>> {
    let caches = machine.caches()?.into_iter();
    let caches = caches.filter(|cache| {
        cache.kind != CacheKind::Instruction && cache.cpus.iter().any(|other| other == cpu)
    });
    let sized = caches.filter_map(|cache| {
        let bytes = usize::try_from(cache.bytes?).ok().filter(|bytes| *bytes > 0)?;
        Some(Cache { level: cache.level, bytes })
    });
    Ok(sized.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instruction_caches_are_left_out_and_levels_sorted() {
        let root = tempfile::tempdir().expect("a directory");
        let cpu = root.path().join("sys/devices/system/cpu");
        let put = |file: &str, text: &str| {
            let path = cpu.join(file);
            std::fs::create_dir_all(path.parent().expect("a directory")).expect("made");
            std::fs::write(path, format!("{text}\n")).expect("written");
        };
        put("online", "0");
        put("cpu0/topology/core_id", "0");
        put("cpu0/topology/physical_package_id", "0");
        // A Pentium 4's: sysfs numbers in no particular order.
        for (index, level, kind, size) in
            [(0, "2", "Unified", "1024K"), (1, "1", "Data", "16K"), (2, "1", "Instruction", "12K")]
        {
            for (name, text) in
                [("level", level), ("type", kind), ("size", size), ("shared_cpu_list", "0")]
            {
                put(&format!("cpu0/cache/index{index}/{name}"), text);
            }
        }
        let machine = Topology::from_sysfs(root.path()).expect("a machine");
        let caches = of(&machine, 0).expect("caches");
        assert_eq!(
            caches,
            [Cache { level: 1, bytes: 16 << 10 }, Cache { level: 2, bytes: 1 << 20 }]
        );
        assert_eq!(caches[0].lines(), 256);
        let error = level(&machine, 0, 3).expect_err("two levels").to_string();
        assert!(error.contains("does not show a data cache of level 3"), "{error}");
    }
}
