//! Signs that the cores of a machine differ, where the kernel names no core types.
//!
//! Guests, containers and copied trees lack the PMUs by which Linux reports the core types of Intel. None
//! of these signs reveals which core has which type, so they become a caveat.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use crate::input::{self, MOST_BYTES};
use crate::snapshot::Core;
use crate::tree::Tree;
use pacman_events::Result;

/// A line about the differences; `None` if the cores look alike.
pub(crate) fn caveat(tree: &Tree, cores: &[Core]) -> Result<Option<String>> {
    let mut signs = Vec::new();
    let cpuinfo = Cpuinfo::read(&tree.proc_file("cpuinfo"));
    if cpuinfo.is_hybrid {
        signs.push("the processor's flags have hybrid_cpu".to_owned());
    }
    if cpuinfo.parts.len() > 1 {
        let parts: Vec<_> = cpuinfo.parts.into_iter().collect();
        signs.push(format!("their part numbers are {}", parts.join(" and ")));
    }
    let first_of = |core: &Core| core.cpus.first().copied();
    // Level 3 differs between equal cores of some processors, whose dies have more or less of it.
    for (index, cache) in [(0, "first-level"), (2, "second-level")] {
        let sizes: BTreeSet<String> = cores
            .iter()
            .filter_map(|core| {
                let directory =
                    format!("devices/system/cpu/cpu{}/cache/index{index}", first_of(core)?);
                let level = tree.text(&format!("{directory}/level"))?;
                (level != "3").then(|| tree.text(&format!("{directory}/size")))?
            })
            .collect();
        if sizes.len() > 1 {
            let sizes: Vec<_> = sizes.into_iter().collect();
            signs.push(format!("their {cache} cache has {}", sizes.join(" or ")));
        }
    }
    let mut clocks = Vec::new();
    for cpu in cores.iter().filter_map(first_of) {
        let file = format!("devices/system/cpu/cpu{cpu}/cpufreq/cpuinfo_max_freq");
        clocks.extend(tree.number::<u64>(&file)?);
    }
    // Equal cores have clocks within an eighth, as in `core_type`.
    if let (Some(least), Some(most)) = (clocks.iter().min(), clocks.iter().max()) {
        if u128::from(*least) * 8 < u128::from(*most) * 7 {
            signs.push(format!("their highest clocks are {least} to {most} kHz"));
        }
    }
    Ok((!signs.is_empty()).then(|| {
        format!(
            "the cores differ ({}), and the system does not name their types: all count as one type",
            signs.join("; ")
        )
    }))
}

/// The facts of `/proc/cpuinfo` that distinguish core types.
#[derive(Default)]
struct Cpuinfo {
    /// Some core of the processor is of another type (x86).
    is_hybrid: bool,
    /// The different part numbers (Arm).
    parts: BTreeSet<String>,
}

impl Cpuinfo {
    fn read(file: &Path) -> Cpuinfo {
        let mut found = Cpuinfo::default();
        let Ok(file) = input::open_regular(file) else { return found };
        for line in BufReader::new(file.take(MOST_BYTES)).lines().map_while(std::io::Result::ok) {
            let Some((key, value)) = line.split_once(':') else { continue };
            match key.trim() {
                // The records of x86 have equal flags, and the kernel writes them as far as they are read.
                "flags" => {
                    found.is_hybrid = value.split_whitespace().any(|flag| flag == "hybrid_cpu");
                    break;
                }
                "CPU part" => {
                    found.parts.insert(value.trim().to_owned());
                }
                _ => {}
            }
        }
        found
    }
}
