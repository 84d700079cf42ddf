//! Places on a die as a table, as JSON, or as one line that says why there are none.

use std::fmt::Write;

use pacman_core::topology::CpuSet;
use pacman_metrics::tiles::{TILES, Tiles};
use serde_json::{Value, json};

use super::cha::Slices;
use super::die::Die;

/// Everything that is known, for a person.
pub(super) fn text(die: &Die) -> String {
    let mut text = format!("{}\n", die.processor);
    match &die.tiles {
        Ok(tiles) => text += &table(tiles),
        Err(reason) => text += &format!("{reason}\n"),
    }
    match &die.slices {
        Ok(slices) => text += &masks(slices),
        Err(reason) => text += &format!("{reason}\n"),
    }
    text
}

/// Why nothing is known, in one line.
pub(super) fn nothing(die: &Die) -> String {
    let reasons: Vec<String> = [die.tiles.as_ref().err(), die.slices.as_ref().err()]
        .into_iter()
        .flatten()
        .map(ToString::to_string)
        .collect();
    format!("{}: {}", die.processor, reasons.join("; "))
}

fn table(tiles: &Tiles) -> String {
    let mut text = "\ntile  cpus\n".to_owned();
    let mut present = 0;
    for tile in 0..TILES {
        let cpus = on_tile(tiles, tile);
        if !cpus.is_empty() {
            present += 1;
            // A string takes whatever is written to it.
            let _ = writeln!(text, "{tile:>4}  {cpus}");
        }
    }
    let missing: CpuSet = tiles.missing().collect();
    let without = if missing.is_empty() { "none".to_owned() } else { missing.to_string() };
    let _ = writeln!(text, "\n{present} of {TILES} tiles have cores; without: {without}");
    text
}

fn on_tile(tiles: &Tiles, tile: u32) -> CpuSet {
    tiles.iter().filter(|(_, on)| *on == tile).map(|(cpu, _)| cpu).collect()
}

fn masks(slices: &Slices) -> String {
    let mut text = format!("\nCHA slices, by {}:\n", slices.source);
    for die in &slices.dies {
        let on = die.places(true, slices.places).count();
        let off: CpuSet = die.places(false, slices.places).collect();
        let device = die.device.as_deref().map_or(String::new(), |device| format!("{device}  "));
        let _ = write!(text, "{device}{on} on, mask {:#x}", die.mask);
        let _ = match off.is_empty() {
            true => writeln!(text),
            false => writeln!(text, ", without a slice: {off}"),
        };
    }
    text
}

/// The same for a program.
pub(super) fn json(die: &Die) -> Value {
    let tiles = die.tiles.as_ref().ok().map(|tiles| {
        let present = (0..TILES).filter(|tile| !on_tile(tiles, *tile).is_empty());
        let rows = present.map(
            |tile| json!({ "tile": tile, "cpus": on_tile(tiles, tile).iter().collect::<Vec<_>>() }),
        );
        rows.collect::<Vec<Value>>()
    });
    let without = die.tiles.as_ref().ok().map(|tiles| tiles.missing().collect::<Vec<u32>>());
    let slices = die.slices.as_ref().ok().map(|slices| {
        let dies = slices.dies.iter().map(|die| {
            json!({
                "device": die.device,
                "mask": format!("{:#x}", die.mask),
                "places": die.places(true, slices.places).collect::<Vec<u32>>(),
            })
        });
        json!({ "source": slices.source, "dies": dies.collect::<Vec<Value>>() })
    });
    json!({
        "processor": die.processor,
        "tiles": tiles,
        "tiles_without_cores": without,
        "tiles_unknown": die.tiles.as_ref().err().map(ToString::to_string),
        "cha": slices,
        "cha_unknown": die.slices.as_ref().err().map(ToString::to_string),
    })
}
