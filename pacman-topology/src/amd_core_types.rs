//! The core types of AMD's processors, by CPUID leaf 8000_0026H (AMD64 Architecture Programmer's Manual, volume 3; the
//! low-power type: Linux 7.3, commits 924be9d673eb and bdb1b1f03b9b).
//!
//! Linux has one PMU for all of them, and names no types in `/sys`. The instruction describes the core
//! that executes it, so a copy of `/sys` does not have the types.

// Other processors test the decoding and never use it.
#![cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]

use std::collections::BTreeMap;

use crate::core_type::CoreType;
use crate::cpu_set::CpuSet;

/// EAX, EBX and ECX of a subleaf: a level of the hierarchy, from the core outwards.
type Level = [u32; 3];

/// More than there are types of levels.
const MOST_LEVELS: u32 = 8;

/// The levels up to the first without a type.
fn levels(leaf: &impl Fn(u32) -> Level) -> impl Iterator<Item = Level> {
    (0..MOST_LEVELS).map(leaf).take_while(|level| level_type(level) != 0)
}

/// 1 for the core, then its complex, its die and its socket.
fn level_type([_, _, ecx]: &Level) -> u32 {
    ecx >> 8 & 0xff
}

/// The type of the executing core; `None` for a type without a name.
fn kind(leaf: &impl Fn(u32) -> Level) -> Option<CoreType> {
    let [_, ebx, _] = levels(leaf).find(|level| level_type(level) == 1)?;
    match ebx >> 28 {
        0 => Some(CoreType::Performance),
        1 => Some(CoreType::Efficiency),
        2 => Some(CoreType::LowPower),
        _ => None,
    }
}

/// The type of each CPU on which `run_on` can put the calling thread; empty if all cores are alike, without a move.
///
/// `leaf` reads a subleaf on the CPU that executes it.
fn read(
    online: &CpuSet,
    leaf: &impl Fn(u32) -> Level,
    mut run_on: impl FnMut(u32) -> bool,
) -> BTreeMap<u32, CoreType> {
    // HeterogeneousCores: not all parts of a level have the same core types.
    if !levels(leaf).any(|[eax, _, _]| eax >> 30 & 1 == 1) {
        return BTreeMap::new();
    }
    let kind_of = |cpu| run_on(cpu).then(|| kind(leaf)).flatten().map(|kind| (cpu, kind));
    online.iter().filter_map(kind_of).collect()
}

/// The type of each CPU of this system that the calling thread may run on; empty if all cores are alike.
#[cfg(target_arch = "x86_64")]
pub(crate) fn here(online: &CpuSet) -> BTreeMap<u32, CoreType> {
    use crate::affinity;

    if !has_leaf() {
        return BTreeMap::new();
    }
    let (Ok(before), Some(place)) = (affinity::current(), affinity::current_cpu()) else {
        return BTreeMap::new();
    };
    let mut is_moved = false;
    let run_on = |cpu| {
        let is_there = affinity::set(&[cpu].into_iter().collect()).is_ok();
        is_moved |= is_there;
        is_there
    };
    let kinds = read(online, &level, run_on);
    if is_moved {
        // A wider mask alone moves no thread: it goes back to its CPU first.
        let _ = affinity::set(&[place].into_iter().collect());
        // A failure means that the cpuset allows no CPU of the old mask any more, as at the end of a binding.
        let _ = affinity::set(&before);
    }
    kinds
}

/// Other processors have no such instruction.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn here(_: &CpuSet) -> BTreeMap<u32, CoreType> {
    BTreeMap::new()
}

const LEAF: u32 = 0x8000_0026;

#[cfg(target_arch = "x86_64")]
fn cpuid(leaf: u32, subleaf: u32) -> std::arch::x86_64::CpuidResult {
    // SAFETY: every x86-64 processor has CPUID. With newer versions of Rust the call is safe.
    #[allow(unused_unsafe)]
    unsafe {
        std::arch::x86_64::__cpuid_count(leaf, subleaf)
    }
}

#[cfg(target_arch = "x86_64")]
fn level(subleaf: u32) -> Level {
    let found = cpuid(LEAF, subleaf);
    [found.eax, found.ebx, found.ecx]
}

/// Whether this is an AMD processor with the leaf.
#[cfg(target_arch = "x86_64")]
fn has_leaf() -> bool {
    let first = cpuid(0, 0);
    let vendor = [first.ebx, first.edx, first.ecx].map(u32::to_le_bytes).concat();
    vendor == b"AuthenticAMD" && cpuid(0x8000_0000, 0).eax >= LEAF
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use super::*;
    use CoreType::{Efficiency, LowPower, Performance};

    /// The types of a machine whose CPUs report `types` in EBX bits 31 to 28, and the CPUs on which the thread ran.
    fn found(types: &[u32], mixed: bool, refused: &[u32]) -> (Vec<(u32, CoreType)>, Vec<u32>) {
        let (cpu, visited) = (Cell::new(0u32), RefCell::new(Vec::new()));
        let heterogeneous = u32::from(mixed) << 30;
        let leaf = |subleaf: u32| match subleaf {
            0 => [heterogeneous | 1, types[cpu.get() as usize] << 28 | 1 << 24 | 2, 0x100],
            1 => [heterogeneous | 4, types.len() as u32, 0x201],
            _ => [0, 0, subleaf],
        };
        let run_on = |to| {
            let may = !refused.contains(&to);
            if may {
                cpu.set(to);
                visited.borrow_mut().push(to);
            }
            may
        };
        let online = (0..types.len() as u32).collect();
        let kinds = read(&online, &leaf, run_on).into_iter().collect();
        (kinds, visited.into_inner())
    }

    #[test]
    fn equal_cores_have_no_types_and_no_thread_moves() {
        assert_eq!(found(&[0, 0, 0, 0], false, &[]), (vec![], vec![]));
    }

    #[test]
    fn each_cpu_has_the_type_of_its_core() {
        let (two, visited) = found(&[0, 0, 1, 1], true, &[]);
        assert_eq!(two, [(0, Performance), (1, Performance), (2, Efficiency), (3, Efficiency)]);
        assert_eq!(visited, [0, 1, 2, 3]);
        let (three, _) = found(&[0, 1, 2], true, &[]);
        assert_eq!(three, [(0, Performance), (1, Efficiency), (2, LowPower)]);
    }

    #[test]
    fn a_type_that_is_not_known_is_not_guessed() {
        assert_eq!(found(&[0, 1, 7], true, &[]).0, [(0, Performance), (1, Efficiency)]);
        assert_eq!(found(&[0, 1, 1], true, &[2]).0, [(0, Performance), (1, Efficiency)]);
    }

    #[test]
    fn the_thread_keeps_its_mask_on_this_system() {
        let before = crate::affinity::current().unwrap();
        here(&before);
        assert_eq!(crate::affinity::current().unwrap(), before);
    }
}
