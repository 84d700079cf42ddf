//! The time stamp counter that goes with the counts: the processor's own, or that of a simulated
//! machine, where the real one means nothing.

use pacman_core::clock::Clock;
use pacman_core::event;
use pacman_core::metrics::smt::{Clocks, Crystal};
use pacman_core::sim::Machine;

/// Where TSC ticks come from.
#[derive(Clone, Debug)]
pub(super) enum Tsc {
    Real(Clock),
    Simulated(Machine),
}

impl Tsc {
    /// The TSC of a simulated machine, or of this one.
    pub(super) fn of(machine: Option<&Machine>) -> Option<Tsc> {
        match machine {
            Some(machine) => Some(Tsc::Simulated(machine.clone())),
            None => Clock::tsc().map(Tsc::Real),
        }
    }

    /// Its ticks now.
    pub(super) fn now(&self) -> u64 {
        match self {
            Tsc::Real(clock) => clock.now(),
            Tsc::Simulated(machine) => machine.tsc(),
        }
    }

    /// The clocks that counts are scaled by.
    pub(super) fn clocks(&self) -> Clocks {
        let (base_hz, crystal) = match self {
            // Measured: leaf 16H is not there before Skylake, and is a nominal figure after.
            Tsc::Real(clock) => (1e9 / clock.nanos_per_tick(), event::machine::crystal()),
            Tsc::Simulated(machine) => (machine.tsc_hz() as f64, machine.crystal()),
        };
        let crystal = crystal.map(|(numerator, denominator)| Crystal { numerator, denominator });
        Clocks { base_hz, crystal }
    }

    /// The simulated machine, if it is one's.
    pub(super) fn machine(&self) -> Option<&Machine> {
        match self {
            Tsc::Real(_) => None,
            Tsc::Simulated(machine) => Some(machine),
        }
    }
}
