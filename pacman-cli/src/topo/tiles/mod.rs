//! `pacman-pmu topo --tiles`: where on the die a machine's CPUs and cache slices are.

mod cha;
mod die;
mod json;
mod processor;
mod shown;
#[cfg(test)]
mod tests;

use std::io::Write;

use pacman_core::Topology;

use self::die::Die;
#[cfg(test)]
pub(crate) use self::json::Document;
use crate::error::{CliError, CliResult, REFUSED};
use pacman_report::document;

/// Writes the known places. The exit status is 0 if any place is known, else 1. It is 2 for another
/// machine whose files do not name its processor.
pub(super) fn tiles(machine: &Topology, json: bool, out: &mut dyn Write) -> CliResult {
    let die = Die::read(machine)?;
    let unknown = die.tiles.is_err() && die.slices.is_err();
    if json {
        document::write(out, &json::die(&die))?;
    } else if unknown {
        return Err(CliError::Refused(shown::nothing(&die)));
    } else {
        out.write_all(shown::text(&die).as_bytes())?;
    }
    Ok(if unknown { REFUSED } else { 0 })
}
