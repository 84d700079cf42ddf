//! The core types that one machine can mix.

use std::collections::BTreeMap;
use std::fmt;

use pacman_events::few;

/// The type of a core on hybrid processors.
///
/// Intel and AMD name the types. On Arm they follow from the capacities that the kernel gives the CPUs:
/// the largest is `Performance`, the next `Efficiency`, any smaller one `LowPower`. Capacities
/// within an eighth of each other are one type, because clocks differ between equal cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum CoreType {
    /// All cores of the machine have the same type.
    Uniform,
    /// The faster type (Intel P-core).
    Performance,
    /// The smaller type (Intel E-core).
    Efficiency,
    /// A third, still smaller type (Intel low-power E-core).
    LowPower,
}

impl fmt::Display for CoreType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            CoreType::Uniform => "uniform",
            CoreType::Performance => "performance",
            CoreType::Efficiency => "efficiency",
            CoreType::LowPower => "low-power",
        })
    }
}

/// The type of each CPU from its capacity; empty if all have the same type.
pub(crate) fn from_capacities(capacities: &BTreeMap<u32, u32>) -> BTreeMap<u32, CoreType> {
    let mut falling: Vec<u32> = capacities.values().copied().collect();
    few::sort_by(&mut falling, |a, b| b.cmp(a));
    let mut tops: Vec<u32> = Vec::new();
    for capacity in falling {
        let same_kind =
            tops.last().is_some_and(|&top| u64::from(capacity) * 8 >= u64::from(top) * 7);
        if !same_kind {
            tops.push(capacity);
        }
    }
    if tops.len() < 2 {
        return BTreeMap::new();
    }
    let kind = |capacity: u32| match tops.iter().filter(|&&top| top >= capacity).count() {
        0 | 1 => CoreType::Performance,
        2 => CoreType::Efficiency,
        _ => CoreType::LowPower,
    };
    capacities.iter().map(|(&cpu, &capacity)| (cpu, kind(capacity))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(capacities: &[u32]) -> Vec<CoreType> {
        from_capacities(&(0..).zip(capacities.iter().copied()).collect()).into_values().collect()
    }

    #[test]
    fn capacities_sort_into_kinds() {
        use CoreType::{Efficiency, LowPower, Performance};
        assert_eq!(
            kinds(&[446, 446, 1024, 1024]),
            [Efficiency, Efficiency, Performance, Performance]
        );
        assert_eq!(kinds(&[250, 620, 1024]), [LowPower, Efficiency, Performance]);
        assert_eq!(kinds(&[1024, 1010, 1000]), [], "clocks differ, cores do not");
        assert_eq!(kinds(&[]), []);
    }
}
