//! The caches of a machine and the contexts that share each of them.

use std::collections::BTreeMap;
use std::fmt;

use crate::cpu_bits::CpuBits;
use crate::tree::Tree;
use crate::{CpuSet, Topology};
use pacman_events::Result;

/// One cache.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cache {
    /// The level, from 1.
    pub level: u32,
    /// The content.
    pub kind: CacheKind,
    /// The size; `None` if the kernel does not report it.
    pub bytes: Option<u64>,
    /// The online contexts that share the cache.
    pub cpus: CpuSet,
    /// Whether the kernel reports the contexts that share the cache, the same on each of them. Otherwise
    /// `cpus` are those of the first context's list, or of its core: a cache belongs to a core at least.
    pub sharers_known: bool,
}

/// The content of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum CacheKind {
    /// Data.
    Data,
    /// Instructions.
    Instruction,
    /// Both.
    Unified,
}

impl Topology {
    /// The caches, by level, kind and lowest CPU; empty if the source does not report them.
    ///
    /// Each call reads them from the topology's source. Synthetic and simulated machines have none.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if a file of the source is
    /// malformed.
    pub fn caches(&self) -> Result<Vec<Cache>> {
        match Tree::of(self) {
            Some(tree) => read(&tree, self),
            None => Ok(Vec::new()),
        }
    }
}

fn read(tree: &Tree, machine: &Topology) -> Result<Vec<Cache>> {
    let mut caches: Vec<Cache> = Vec::new();
    // A cache is listed by each CPU that shares it: its index by CPU.
    let mut covered: BTreeMap<(u32, CacheKind), BTreeMap<u32, usize>> = BTreeMap::new();
    for context in machine.contexts() {
        let directory = format!("devices/system/cpu/cpu{}/cache", context.cpu);
        for index in tree.numbered(&directory, "index").iter() {
            let file = |name: &str| format!("{directory}/index{index}/{name}");
            let Some(level) = tree.number::<u32>(&file("level"))? else { continue };
            let kind = match tree.text(&file("type")).as_deref() {
                Some("Data") => CacheKind::Data,
                Some("Instruction") => CacheKind::Instruction,
                Some("Unified") => CacheKind::Unified,
                _ => continue,
            };
            let shared = tree.first_bits(&file("shared_cpu_map"), &file("shared_cpu"))?;
            let is_online = |cpu: &u32| machine.context(*cpu).is_some();
            let shared: CpuSet = shared.iter().flat_map(CpuBits::iter).filter(is_online).collect();
            let known = covered.entry((level, kind)).or_default();
            if let Some(at) = known.get(&context.cpu) {
                let cache = &mut caches[*at];
                cache.sharers_known &= cache.cpus == shared;
                continue;
            }
            // Old kernels of Itanium write an empty mask. A mask without the CPU itself is no answer either.
            let sharers_known = shared.contains(context.cpu);
            let cpus = match sharers_known {
                true => shared,
                false => machine.siblings_of(context.cpu).iter().copied().collect(),
            };
            known.extend(cpus.iter().map(|cpu| (cpu, caches.len())));
            let bytes = match tree.text(&file("size")) {
                Some(text) => Some(bytes(&text).ok_or_else(|| {
                    tree.malformed(&file("size"), "the size is not a number and K, M or G")
                })?),
                None => None,
            };
            caches.push(Cache { level, kind, bytes, cpus, sharers_known });
        }
    }
    caches.sort_unstable_by_key(|cache| (cache.level, cache.kind, cache.cpus.first()));
    Ok(caches)
}

/// The kernel writes `32K`.
fn bytes(text: &str) -> Option<u64> {
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let unit = match &text[split..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    text[..split].parse::<u64>().ok()?.checked_mul(unit)
}

impl CacheKind {
    /// The letter behind the level in a cache's name: `L1d`, `L1i`, `L2`.
    pub fn letter(self) -> &'static str {
        match self {
            CacheKind::Data => "d",
            CacheKind::Instruction => "i",
            CacheKind::Unified => "",
        }
    }
}

impl fmt::Display for CacheKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            CacheKind::Data => "data",
            CacheKind::Instruction => "instruction",
            CacheKind::Unified => "unified",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_the_kernel_writes_them() {
        assert_eq!(bytes("32K"), Some(32 << 10));
        assert_eq!(bytes("1M"), Some(1 << 20));
        assert_eq!(bytes("512"), Some(512));
        for wrong in ["", "K", "32 K", "32KB", "-1K", "99999999999999999999K"] {
            assert_eq!(bytes(wrong), None, "{wrong:?}");
        }
    }
}
