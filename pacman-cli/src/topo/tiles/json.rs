//! Places on a die as JSON; `pacman-pmu topo --help` describes the fields.

use pacman_metrics::tiles::TILES;
use serde::Serialize;

use super::die;
use super::shown::on_tile;

/// With `--tiles`, the places on the die.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Document<'a> {
    /// Name of the processor.
    processor: &'a str,
    /// Tiles with cores; null if they are unknown.
    tiles: Option<Vec<Tile>>,
    /// Numbers of the tiles without cores; null if they are unknown.
    tiles_without_cores: Option<Vec<u32>>,
    /// Reason if the tiles are unknown.
    tiles_unknown: Option<String>,
    /// Caching and home agents, with the slices of the last cache; null if they are unknown.
    cha: Option<Slices<'a>>,
    /// Reason if the agents are unknown.
    cha_unknown: Option<String>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Tile {
    /// Number of the tile.
    tile: u32,
    /// Contexts of the tile.
    cpus: Vec<u32>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Slices<'a> {
    /// Source of the masks.
    source: &'a str,
    /// Dies.
    dies: Vec<Die<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Die<'a> {
    /// PCI device.
    device: Option<&'a str>,
    /// Mask of the slices that are there.
    #[cfg_attr(test, schemars(extend("pattern" = r"^0x[0-9a-f]+$")))]
    mask: String,
    /// Places of slices on the die.
    places: Vec<u32>,
}

/// Everything that is known, and why the rest is not.
pub(super) fn die(die: &die::Die) -> Document<'_> {
    let tiles = die.tiles.as_ref().ok();
    let on_tiles = tiles.map(|tiles| {
        let all = (0..TILES).map(|tile| Tile { tile, cpus: on_tile(tiles, tile).iter().collect() });
        all.filter(|one| !one.cpus.is_empty()).collect()
    });
    let slices = die.slices.as_ref().ok().map(|slices| {
        let dies = slices.dies.iter().map(|die| Die {
            device: die.device.as_deref(),
            mask: format!("{:#x}", die.mask),
            places: die.places(true, slices.places).collect(),
        });
        Slices { source: slices.source, dies: dies.collect() }
    });
    Document {
        processor: &die.processor,
        tiles: on_tiles,
        tiles_without_cores: tiles.map(|tiles| tiles.missing().collect()),
        tiles_unknown: die.tiles.as_ref().err().map(ToString::to_string),
        cha: slices,
        cha_unknown: die.slices.as_ref().err().map(ToString::to_string),
    }
}
