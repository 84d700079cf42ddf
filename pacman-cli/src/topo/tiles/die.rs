//! Places on a die: the tiles of the CPUs and the slices of the cache directory.

use std::fs;

use pacman_core::Topology;
use pacman_core::platform::{self, PlatformRef};
use pacman_core::topology::Source;
use pacman_events::shown::shown_path;
use pacman_metrics::tiles::Tiles;

use super::cha::Slices;
use super::processor::Processor;

/// What is known of places on a die.
#[derive(Debug)]
pub(super) struct Die {
    /// The processor in words.
    pub(super) processor: String,
    /// The tile of every CPU, or why it is not known.
    pub(super) tiles: Result<Tiles, String>,
    /// The slices of the cache directory that are switched on, or why they are not known.
    pub(super) slices: Result<Slices, String>,
}

impl Die {
    /// Reads the files of the machine that tell its processor.
    pub(super) fn read(machine: &Topology) -> Result<Die, String> {
        let root = match machine.source() {
            Source::Sysfs(root) => root,
            Source::Simulated(_) => return Ok(Die::of_simulated(machine, platform::current())),
            other => return Err(format!("{other} has no files that tell its processor")),
        };
        let file = root.join("proc/cpuinfo");
        let cpuinfo = fs::read_to_string(&file).map_err(|error| {
            format!("cannot read {}: {error}; it goes with sys", shown_path(&file))
        })?;
        let processor = Processor::of_cpuinfo(&cpuinfo);
        let tiles = match processor {
            Processor::KNIGHTS_LANDING => {
                Tiles::of_cpuinfo(&cpuinfo).map_err(|error| error.to_string())
            }
            _ => Err(UNKNOWN_TILES.to_owned()),
        };
        let devices = root.join("sys/bus/pci/devices");
        let slices = Slices::read(processor, machine.machine_name(), &devices);
        Ok(Die { processor: machine.machine_name().to_owned(), tiles, slices })
    }

    /// A simulated machine has the core ids of its model's tiles, and no PCI devices.
    fn of_simulated(machine: &Topology, simulated: &PlatformRef) -> Die {
        let processor = simulated.cpu_id().map(|id| Processor::of_cpuid(&id));
        let tiles = match processor {
            Some(Processor::KNIGHTS_LANDING) => {
                let cores = machine.contexts().iter().map(|context| (context.cpu, context.core));
                Tiles::of_cores(cores).map_err(|error| error.to_string())
            }
            _ => Err(UNKNOWN_TILES.to_owned()),
        };
        let slices = Err("its CHA slices are not simulated".to_owned());
        Die { processor: machine.machine_name().to_owned(), tiles, slices }
    }
}

const UNKNOWN_TILES: &str = "the tiles of its CPUs are not known for this model";
