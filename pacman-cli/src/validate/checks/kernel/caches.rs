//! The data caches of a CPU, from sysfs.

use std::fs;
use std::path::Path;

use pacman_core::{Error, ErrorKind, Result};

const CPUS: &str = "/sys/devices/system/cpu";

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
/// `Unsupported` if sysfs shows none.
pub(super) fn level(cpu: u32, level: u32) -> Result<Cache> {
    let caches = below(Path::new(CPUS), cpu);
    caches.iter().copied().find(|cache| cache.level == level).ok_or_else(|| {
        let which = format!("a data cache of level {level}");
        absent(cpu, &which)
    })
}

/// The largest level.
///
/// # Errors
/// `Unsupported` if sysfs shows none.
pub(super) fn last(cpu: u32) -> Result<Cache> {
    below(Path::new(CPUS), cpu).last().copied().ok_or_else(|| absent(cpu, "data caches"))
}

#[cold]
fn absent(cpu: u32, which: &str) -> Error {
    Error::new(
        ErrorKind::Unsupported,
        format!(
            "cannot size a kernel's data: {CPUS}/cpu{cpu}/cache does not show {which}; a virtual \
             machine can be given its host's caches"
        ),
    )
}

/// All levels, the nearest first.
fn below(cpus: &Path, cpu: u32) -> Vec<Cache> {
    let directory = cpus.join(format!("cpu{cpu}/cache"));
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let mut caches: Vec<Cache> = entries.flatten().filter_map(|entry| one(&entry.path())).collect();
    caches.sort_by_key(|cache| cache.level);
    caches
}

fn one(index: &Path) -> Option<Cache> {
    let text = |name: &str| fs::read_to_string(index.join(name)).ok();
    if text("type")?.trim() == "Instruction" {
        return None;
    }
    let level = text("level")?.trim().parse().ok()?;
    Some(Cache { level, bytes: size(text("size")?.trim())? })
}

/// `32K`, `1M`.
fn size(text: &str) -> Option<usize> {
    let (number, shift) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 10),
        b'M' => (&text[..text.len() - 1], 20),
        b'G' => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    Some(number.parse::<usize>().ok()? << shift).filter(|bytes| *bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(size("32K"), Some(32 << 10));
        assert_eq!(size("2M"), Some(2 << 20));
        assert_eq!(size("512"), Some(512));
        assert_eq!(["", "K", "0K", "many"].map(size), [None; 4]);
    }

    #[test]
    fn instruction_caches_are_left_out_and_levels_sorted() {
        let root = std::env::temp_dir().join(format!("pacman-caches-{}", std::process::id()));
        // A Pentium 4's: sysfs numbers in no particular order.
        for (index, level, kind, size) in
            [(0, 2, "Unified", "1024K"), (1, 1, "Data", "16K"), (2, 1, "Instruction", "12K")]
        {
            let directory = root.join(format!("cpu3/cache/index{index}"));
            fs::create_dir_all(&directory).unwrap();
            for (name, text) in
                [("level", level.to_string().as_str()), ("type", kind), ("size", size)]
            {
                fs::write(directory.join(name), format!("{text}\n")).unwrap();
            }
        }
        let caches = below(&root, 3);
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(
            caches,
            [Cache { level: 1, bytes: 16 << 10 }, Cache { level: 2, bytes: 1 << 20 }]
        );
        assert_eq!(caches[0].lines(), 256);
    }
}
