//! What passes between `pacman-pmu run` and `libpacman_omp.so`: the [`Options`] in the environment of
//! the program, and the [`arena`] in which its processes record what their regions did. A
//! [`Recording`] is what is read from that, of one process.
//!
//! The library knows no names: a region is a module and an offset. Who reads a recording
//! looks them up, at leisure and outside of the measured program.

pub mod arena;
mod options;
mod recording;

pub use options::{Guard, Objective, Options, Segment, Waiting};
pub use recording::{
    Adaptation, Ending, Event, Guarded, Loop, Overhead, Process, Recording, Region, Row, Runtime,
    RuntimeFamily, Site, Team, Timeline, TimelineRow,
};

// The examples of README.md are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
