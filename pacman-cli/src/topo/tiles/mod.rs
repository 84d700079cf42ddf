//! `pacman-pmu topo --tiles`: where on the die a machine's CPUs and cache slices are.

mod cha;
mod die;
mod processor;
mod shown;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use pacman_core::Topology;

use self::die::Die;
use crate::error;

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

/// The exit status where nothing is known of the places.
const UNKNOWN: u8 = 1;
