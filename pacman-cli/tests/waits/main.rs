//! Waits against the clock of the program that waits.
//!
//! Cargo runs one test program at a time, and the tests of this one take turns: another test on the same
//! processors would come between the clock of the program and that of the library.

mod chunks;
mod counts;
mod free;
mod off;
mod phases;
#[path = "../cli/rows.rs"]
mod rows;
#[path = "../cli/scratch.rs"]
mod scratch;
mod trials;
mod turns;
mod waits;

use turns::{alone, pacman_pmu, text};
