//! Register writes that start a planned set of events on one context, in order.
//!
//! Families differ only in register numbers and in the order of writes. A [`RegisterProgram`]
//! holds both as data, so its writer needs no knowledge of the family.
//!
//! ```
//! use pacman_events::allocate::{EventConstraints, Pmu};
//! use pacman_events::encode::Rings;
//! use pacman_events::partition::Partition;
//! use pacman_events::registers::RegisterProgram;
//! use pacman_events::{CpuModel, resolve};
//!
//! let skylake = CpuModel::named("skl").unwrap();
//! let event = resolve(skylake, "BRANCH_MISSES").unwrap().encoding().unwrap().clone();
//! let (pmu, rings) = (Pmu::of(skylake, true), Rings::default());
//! let demand = EventConstraints::of(&event, &pmu, rings);
//! let plan = Partition::ByDemand.plan(&pmu, &[vec![demand]])?;
//! let core = plan.contexts();
//! let program = RegisterProgram::new(&core[0], core, &[event], rings)?;
//! // The event's selector comes before IA32_PERF_GLOBAL_CTRL (0x38f), which starts the counters.
//! assert_eq!(program.writes.last().unwrap().msr, 0x38f);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod amd;
mod build;
mod data;
mod intel;
mod netburst;

pub use data::{
    CounterSlot, CycleCounting, RegisterGuard, RegisterInvariant, RegisterProgram, RegisterSharing,
    RegisterWrite,
};
