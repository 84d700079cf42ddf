//! Places on a die as JSON; `pacman-pmu topo --help` describes the fields.

use pacman_metrics::tiles::TILES;
use serde::Serialize;

use super::die;
use super::shown::on_tile;

#[derive(Serialize)]
pub(super) struct Document<'a> {
    processor: &'a str,
    tiles: Option<Vec<Tile>>,
    tiles_without_cores: Option<Vec<u32>>,
    tiles_unknown: Option<String>,
    cha: Option<Slices<'a>>,
    cha_unknown: Option<String>,
}

#[derive(Serialize)]
struct Tile {
    tile: u32,
    cpus: Vec<u32>,
}

#[derive(Serialize)]
struct Slices<'a> {
    source: &'a str,
    dies: Vec<Die<'a>>,
}

#[derive(Serialize)]
struct Die<'a> {
    device: Option<&'a str>,
    mask: String,
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
