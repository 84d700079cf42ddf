//! The report of `pacman-pmu run`: an OpenMP program's regions, waits, phases and counts, from recordings.

mod csv;
mod endings;
pub mod expected;
#[cfg(test)]
pub(crate) mod figures_tests;
mod findings;
mod form;
mod json;
mod json_figures;
mod json_overview;
mod json_phases;
mod json_region;
mod json_slots;
mod json_states;
#[cfg(test)]
mod json_tests;
pub mod names;
mod open_metrics;
mod page;
pub mod ranks;
mod report;
mod talp;
#[cfg(test)]
mod talp_tests;
#[cfg(test)]
pub(crate) mod tests;
mod text;
#[cfg(test)]
mod thread_states_tests;
mod trace;
mod verdict;
mod written;

#[cfg(test)]
pub(crate) use csv::{columns, columns_of_states};
pub use form::Form;
pub use json::VERSION;
#[cfg(test)]
pub(crate) use json::Written;
pub(crate) use json::{StateMember, thread_states};
pub(crate) use page::assembled;
pub use page::with as page_of;
pub use report::{
    Column, Columns, Count, Ended, Figures, Overview, ProcessReport, RegionReport, Report, Run,
    RunEnergy, named_ranks, threads_of,
};
pub(crate) use report::{Efficiency, FIGURES, Figure};
#[cfg(test)]
pub(crate) use report::{THREAD_STATES, ThreadState};
pub use text::Extent;
pub(crate) use text::{of_unit, rounded, seconds, share, signed};
pub use written::read_report;
