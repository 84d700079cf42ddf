//! The two things that pass between `pacman-pmu run` and `libpacman_omp.so`: the
//! [`Wishes`] in the environment of the program, and the [`Recording`] that each of its
//! processes leaves in a directory when it exits.
//!
//! The library knows no names: a region is a module and an offset. Who reads a recording
//! looks them up, at leisure and outside of the measured program.

mod recording;
mod wishes;

pub use recording::{
    Adaptation, Ending, Event, Guarded, Loop, Overhead, Process, Recording, Region, Row, Runtime,
    RuntimeFamily, Site, Team, Timeline, TimelineRow, VERSION,
};
pub use wishes::{Guard, Objective, Waiting, Wishes};
