//! The clock rates of a machine's contexts, as its firmware gives them.

use crate::tree::Tree;
use crate::{CpuSet, Topology};
use pacman_events::Result;

/// The clock rates that several contexts share.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClockRates {
    /// The contexts.
    pub cpus: CpuSet,
    /// The lowest rate in hertz; `None` if the kernel does not report it.
    pub min_hz: Option<u64>,
    /// The rate without turbo in hertz; `None` if the kernel does not report it.
    pub base_hz: Option<u64>,
    /// The highest rate in hertz; `None` if the kernel does not report it.
    pub max_hz: Option<u64>,
}

impl Topology {
    /// The clock rates, by lowest CPU; empty if the source does not report them.
    ///
    /// They are limits, not the rate at this moment. Each call reads them from the topology's
    /// source. Synthetic and simulated machines have none, and few virtual machines have.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if a file of the source is
    /// malformed.
    pub fn clock_rates(&self) -> Result<Vec<ClockRates>> {
        let Some(tree) = Tree::of(self) else { return Ok(Vec::new()) };
        let mut found: Vec<([Option<u64>; 3], Vec<u32>)> = Vec::new();
        for context in &self.contexts {
            let hertz = |name: &str| -> Result<Option<u64>> {
                let file = format!("devices/system/cpu/cpu{}/cpufreq/{name}", context.cpu);
                let kilohertz = tree.number::<u64>(&file)?.filter(|rate| *rate > 0);
                Ok(kilohertz.and_then(|rate| rate.checked_mul(1000)))
            };
            let names = ["cpuinfo_min_freq", "base_frequency", "cpuinfo_max_freq"];
            let [min, base, max] = names.map(hertz);
            let rates = [min?, base?, max?];
            if rates == [None; 3] {
                continue;
            }
            match found.iter_mut().find(|(known, _)| *known == rates) {
                Some((_, cpus)) => cpus.push(context.cpu),
                None => found.push((rates, vec![context.cpu])),
            }
        }
        let rates = |([min_hz, base_hz, max_hz], cpus): ([Option<u64>; 3], Vec<u32>)| ClockRates {
            cpus: cpus.into_iter().collect(),
            min_hz,
            base_hz,
            max_hz,
        };
        Ok(found.into_iter().map(rates).collect())
    }
}
