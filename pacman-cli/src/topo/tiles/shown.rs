//! Places on a die as a table, or as one line that says why there are none.

use std::fmt::Write;

use pacman_core::topology::CpuSet;
use pacman_metrics::tiles::{TILES, Tiles};

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
            // A write to a string cannot fail.
            let _ = writeln!(text, "{tile:>4}  {cpus}");
        }
    }
    let missing: CpuSet = tiles.missing().collect();
    let without = if missing.is_empty() { "none".to_owned() } else { missing.to_string() };
    let _ = writeln!(text, "\n{present} of {TILES} tiles have cores; without: {without}");
    text
}

pub(super) fn on_tile(tiles: &Tiles, tile: u32) -> CpuSet {
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
