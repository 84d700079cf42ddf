//! Adapted programs, whose costs decide what is tested.
//!
//! Cargo runs one test program at a time, and the tests of this one take turns: another test on the same
//! processors would change the costs of the teams.

mod block_time;
mod clauses;
mod kept;
mod packed;
mod readings;
mod remembered;
#[path = "../cli/schema.rs"]
mod schema;
#[path = "../cli/scratch.rs"]
mod scratch;
mod sharing;
mod short_regions;
mod started;
#[path = "../waits/turns.rs"]
mod turns;
mod waiting;

use turns::{alone, pacman_pmu, text};
