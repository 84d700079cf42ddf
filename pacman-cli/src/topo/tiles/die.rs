//! Places on a die: the tiles of the CPUs and the slices of the cache directory.

use std::fs;

use pacman_core::Topology;
use pacman_core::platform::{self, PlatformRef};
use pacman_core::topology::Source;
use pacman_events::shown::shown_path;
use pacman_metrics::tiles::Tiles;

use super::cha::Slices;
use super::processor::Processor;
use crate::error::{CliError, CliResult};

/// The known places on a die.
#[derive(Debug)]
pub(super) struct Die {
    /// The processor in words.
    pub(super) processor: String,
    /// The tile of every CPU, or why it is not known.
    pub(super) tiles: CliResult<Tiles>,
    /// The slices of the cache directory that are switched on, or why they are not known.
    pub(super) slices: CliResult<Slices>,
}

impl Die {
    /// Reads the files of the machine that tell its processor.
    pub(super) fn read(machine: &Topology) -> CliResult<Die> {
        let root = match machine.source() {
            Source::Sysfs(root) => root,
            Source::Simulated(_) => return Ok(Die::of_simulated(machine, platform::current())),
            other => {
                return Err(CliError::BadInput(format!(
                    "{other} has no files that tell its processor"
                )));
            }
        };
        let file = root.join("proc/cpuinfo");
        let cpuinfo = fs::read_to_string(&file).map_err(|error| {
            let problem = format!("cannot read {}: {error}; it goes with sys", shown_path(&file));
            match machine.is_this_system() {
                true => CliError::Refused(problem),
                false => CliError::BadInput(problem),
            }
        })?;
        let processor = Processor::of_cpuinfo(&cpuinfo);
        let tiles = match processor {
            Processor::KNIGHTS_LANDING => Tiles::of_cpuinfo(&cpuinfo).map_err(CliError::refused),
            _ => Err(CliError::refused(UNKNOWN_TILES)),
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
                Tiles::of_cores(cores).map_err(CliError::refused)
            }
            _ => Err(CliError::refused(UNKNOWN_TILES)),
        };
        let slices = Err(CliError::refused("its CHA slices are not simulated"));
        Die { processor: machine.machine_name().to_owned(), tiles, slices }
    }
}

const UNKNOWN_TILES: &str = "the tiles of its CPUs are not known for this model";
