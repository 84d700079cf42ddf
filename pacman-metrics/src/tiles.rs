//! The tile of a Knights Landing die that a logical CPU is on.
//!
//! A tile has two cores and a slice of the cache directory. Core ids number the positions on the
//! die, so the tile is half of the core id, and missing numbers are tiles with disabled cores. From
//! John McCalpin, *Die Locations of Cores and L3 Slices for Intel Xeon Processors*, 2021. His list
//! for a Xeon Phi 7250 lacks tiles 10, 26, 27 and 37 of 38.

use std::collections::BTreeMap;

use crate::not_computable::not_computable;
use pacman_events::{Error, Result};

/// Tiles on a Knights Landing die.
pub const TILES: u32 = 38;

/// The tiles of one die and the logical CPUs on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiles {
    tile_of: BTreeMap<u32, u32>,
}

impl Tiles {
    /// Makes the map from pairs of logical CPU and core id, in any order.
    ///
    /// # Errors
    /// [`ErrorKind::NotComputable`](pacman_events::ErrorKind::NotComputable) without CPUs, for a CPU that
    /// is given twice, for a core id beyond the die, and for a tile with one core. Such numbers are
    /// incomplete, or not of a Knights Landing.
    ///
    /// ```
    /// use pacman_metrics::tiles::Tiles;
    /// let tiles = Tiles::of_cores([(0, 0), (1, 1), (2, 22), (3, 23)])?;
    /// assert_eq!(tiles.tile(3), Some(11));
    /// assert_eq!(tiles.missing().count(), 36);
    /// # Ok::<(), pacman_metrics::Error>(())
    /// ```
    pub fn of_cores(cores: impl IntoIterator<Item = (u32, u32)>) -> Result<Tiles> {
        let mut tile_of = BTreeMap::new();
        let mut present = [false; 2 * TILES as usize];
        for (cpu, core) in cores {
            let Some(seen) = present.get_mut(core as usize) else {
                return Err(refused(format_args!(
                    "core id {core} is beyond a die of {TILES} tiles"
                )));
            };
            *seen = true;
            if tile_of.insert(cpu, core / 2).is_some() {
                return Err(refused(format_args!("CPU {cpu} is listed twice")));
            }
        }
        if tile_of.is_empty() {
            return Err(refused("no CPU is listed"));
        }
        if let Some(tile) = present.chunks(2).position(|pair| pair[0] != pair[1]) {
            return Err(refused(format_args!("tile {tile} has one core, and cores come in pairs")));
        }
        Ok(Tiles { tile_of })
    }

    /// Makes the map from the text of `/proc/cpuinfo`.
    ///
    /// # Errors
    /// As for [`of_cores`](Tiles::of_cores), and for a processor without a core id.
    pub fn of_cpuinfo(text: &str) -> Result<Tiles> {
        let mut cores = Vec::new();
        let mut cpu: Option<u32> = None;
        for line in text.lines() {
            let Some((key, value)) = line.split_once(':') else { continue };
            let number = || value.trim().parse::<u32>().ok();
            match key.trim() {
                "processor" => {
                    if let Some(cpu) = cpu {
                        return Err(refused(format_args!("CPU {cpu} has no core id")));
                    }
                    cpu = number();
                }
                "core id" => match (cpu.take(), number()) {
                    (Some(cpu), Some(core)) => cores.push((cpu, core)),
                    _ => return Err(refused(format_args!("{line:?} belongs to no processor"))),
                },
                _ => {}
            }
        }
        match cpu {
            Some(cpu) => Err(refused(format_args!("CPU {cpu} has no core id"))),
            None => Tiles::of_cores(cores),
        }
    }

    /// The tile of a logical CPU.
    pub fn tile(&self, cpu: u32) -> Option<u32> {
        self.tile_of.get(&cpu).copied()
    }

    /// Logical CPUs and their tiles, in order of CPU.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.tile_of.iter().map(|(cpu, tile)| (*cpu, *tile))
    }

    /// The tiles without a listed CPU, in order. Their cores are disabled.
    pub fn missing(&self) -> impl Iterator<Item = u32> + '_ {
        (0..TILES).filter(|tile| !self.tile_of.values().any(|present| present == tile))
    }
}

#[cold]
fn refused(because: impl std::fmt::Display) -> Error {
    not_computable("the tile of each CPU", because)
}
