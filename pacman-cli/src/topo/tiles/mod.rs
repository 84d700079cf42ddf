//! `pacman-pmu topo --tiles`: where on the die a machine's CPUs and cache slices are.

mod cha;
mod processor;
mod shown;
#[cfg(test)]
mod tests;

use std::fs;
use std::io::{self, Write};

use pacman_events::shown::shown_path;

use pacman_core::Topology;
use pacman_core::platform::PlatformRef;
use pacman_core::topology::Source;
use pacman_metrics::tiles::Tiles;

use self::cha::Slices;
use self::processor::Processor;
use crate::error;

/// What is known of places on a die.
#[derive(Debug)]
struct Die {
    /// The processor in words.
    processor: String,
    /// The tile of every CPU, or why it is not known.
    tiles: Result<Tiles, String>,
    /// The slices of the cache directory that are switched on, or why they are not known.
    slices: Result<Slices, String>,
}

/// Writes what is known; the exit status is 0 if anything is, else 1, or 2 for another machine
/// whose files do not tell its processor.
pub(super) fn tiles(machine: &Topology, json: bool, out: &mut dyn Write) -> io::Result<u8> {
    let die = match Die::read(machine) {
        Ok(die) => die,
        Err(problem) => {
            error::complain(&problem);
            return Ok(if machine.is_this_system() { UNKNOWN } else { error::BAD_INPUT });
        }
    };
    let status = if die.tiles.is_err() && die.slices.is_err() { UNKNOWN } else { 0 };
    if json {
        writeln!(out, "{:#}", shown::json(&die))?;
    } else if status == 0 {
        out.write_all(shown::text(&die).as_bytes())?;
    } else {
        error::complain(&shown::nothing(&die));
    }
    out.flush()?;
    Ok(status)
}

impl Die {
    fn read(machine: &Topology) -> Result<Die, String> {
        let root = match machine.source() {
            Source::Sysfs(root) => root,
            Source::Simulated(simulated) => return Ok(Die::of_simulated(machine, simulated)),
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
}

impl Die {
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

/// The exit status where nothing is known of the places.
const UNKNOWN: u8 = 1;

const UNKNOWN_TILES: &str = "the tiles of its CPUs are not known for this model";
