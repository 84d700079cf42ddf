//! The protocol between `pacman-pmu run` and `libpacman_omp.so`.
//!
//! The command passes [`Options`] in the environment of the program. The program's processes record their
//! regions in an [`arena`]. A [`Recording`] is the decoded form of one process.
//!
//! The library records no names: a region is a module and an offset. The reader looks up names, after the
//! run and outside of the measured program.

pub mod arena;
mod budget;
mod event;
mod execution_log;
mod machine;
mod max_loss;
mod options;
mod phases;
mod program_memory;
mod rank;
mod recording;
mod row;
pub mod sharing;
mod site;
mod start_memory;
mod waits;
pub mod watch;

pub use budget::OverheadBudget;
pub use event::{Event, EventFacts};
pub use execution_log::{ExecutionLog, LoggedExecution, LoggedWait};
pub use machine::{Machine, MachineContext};
pub use max_loss::MaxLoss;
pub use options::{Objective, Options, Segment, Waiting};
pub use phases::{Phase, PhaseKind, PhaseStates, PhaseThread};
pub use program_memory::{ProgramKey, ProgramMemory, RegionMemory, Remembered, hash_of_arguments};
pub use recording::{
    Adaptation, Ending, OpenPart, Overhead, Process, ProcessEnergy, Rank, Recording, Region,
    RegionEnergy, Runtime, RuntimeFamily, Sampling, Team, Timeline, TimelineRow,
};
pub use row::Row;
pub use site::{FileIdentity, Site};
pub use start_memory::{StartChoice, StartMemory};
pub use waits::{Cause, OutsideWaits, Scheduling, States, Wait, WaitSite, Waits};

// The examples of README.md are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
