//! Energy of the processor packages, from the first source that this machine has.
//!
//! [`pacman_topology::energy::Rapl`] reads Linux's powercap by itself. Where only root may read that, or where it
//! is missing, the perf PMU `power` has the same counters.

mod detect;
mod power_pmu;

pub use detect::detect;
