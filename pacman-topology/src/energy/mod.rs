//! Energy of the processor packages, as RAPL counts it.

mod counters;
mod powercap;
mod rapl;
mod reading;

pub use counters::EnergyCounters;
pub use rapl::Rapl;
pub use reading::EnergyReading;
