//! The work of this process at its regions, decided once, before the program begins.
//!
//! The options give it. Three facts show later and are added: whether energy can be read, whether the events need
//! several sets, and whether the program runs kernels of Kokkos. [`Decision`](crate::team::Decision) makes of it what
//! one execution does.

use std::ops::BitOr;

use pacman_regions::{Objective, Options};

/// The work at regions in addition to observing them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan(u16);

impl Plan {
    const ADAPTS: Plan = Plan(1);
    const PACKS: Plan = Plan(2);
    const NARROWS: Plan = Plan(4);
    const TIMES_WAITS: Plan = Plan(8);
    const TRACES: Plan = Plan(16);
    const SAMPLES: Plan = Plan(32);
    /// Energy is read around regions.
    pub(crate) const METERS: Plan = Plan(64);
    /// Event sets take turns on the counters.
    pub(crate) const ROTATES_SETS: Plan = Plan(128);
    /// The program runs kernels of Kokkos, whose regions have labels.
    pub(crate) const RUNS_KERNELS: Plan = Plan(256);

    /// The plan that the options give. An adapted process neither times waits nor logs executions. Short regions are
    /// sampled only where nothing but times and waits is recorded.
    pub(crate) fn of(options: &Options) -> Plan {
        let when = |holds: bool, plan: Plan| if holds { plan } else { Plan::default() };
        if let Some(objective) = options.adapt {
            // Teams keep their sizes, and times decide.
            let packs = objective == Objective::Time
                && !options.narrow
                && !options.energy
                && options.watch.is_some();
            let narrows = when(options.narrow, Plan::NARROWS);
            return Plan::ADAPTS | when(packs, Plan::PACKS) | narrows;
        }
        let samples = options.overhead.is_some() && options.events.is_empty() && !options.energy;
        when(options.waits, Plan::TIMES_WAITS)
            | when(options.trace, Plan::TRACES)
            | when(samples, Plan::SAMPLES)
    }

    pub(crate) const fn from_bits(bits: u16) -> Plan {
        Plan(bits)
    }

    #[inline(always)]
    pub(crate) const fn bits(self) -> u16 {
        self.0
    }

    #[inline(always)]
    fn has(self, part: Plan) -> bool {
        self.0 & part.0 != 0
    }

    /// Whether regions are observed and nothing else.
    #[inline(always)]
    pub(crate) fn only_observes(self) -> bool {
        self == Plan::default()
    }

    /// Whether regions are adapted and nothing else, so that most run as they did before.
    #[inline(always)]
    pub(crate) fn only_adapts(self) -> bool {
        self.0 & !Plan::NARROWS.0 == Plan::ADAPTS.0
    }

    /// Whether regions may run with other threads, or on other contexts, than the program would use.
    #[inline]
    pub(crate) fn adapts(self) -> bool {
        self.has(Plan::ADAPTS)
    }

    /// Whether the threads of teams may be packed.
    #[inline]
    pub(crate) fn packs(self) -> bool {
        self.has(Plan::PACKS)
    }

    /// Whether adaptation may give teams fewer threads, which the program can notice.
    pub(crate) fn narrows(self) -> bool {
        self.has(Plan::NARROWS)
    }

    /// Whether waits inside regions are timed on request.
    #[inline]
    pub(crate) fn times_waits(self) -> bool {
        self.has(Plan::TIMES_WAITS)
    }

    /// Whether single executions are logged.
    #[inline]
    pub(crate) fn traces(self) -> bool {
        self.has(Plan::TRACES)
    }

    /// Whether executions of short regions may be counted only.
    #[inline]
    pub(crate) fn samples(self) -> bool {
        self.has(Plan::SAMPLES)
    }

    /// The same, and no region has the label of a kernel.
    #[inline(always)]
    pub(crate) fn samples_by_body(self) -> bool {
        self.0 & (Plan::SAMPLES.0 | Plan::RUNS_KERNELS.0) == Plan::SAMPLES.0
    }

    /// Whether energy is read around regions.
    #[inline]
    pub(crate) fn meters(self) -> bool {
        self.has(Plan::METERS)
    }

    /// Whether event sets take turns on the counters.
    #[inline]
    pub(crate) fn rotates_sets(self) -> bool {
        self.has(Plan::ROTATES_SETS)
    }

    /// Whether the program runs kernels of Kokkos.
    #[inline]
    pub(crate) fn runs_kernels(self) -> bool {
        self.has(Plan::RUNS_KERNELS)
    }
}

impl BitOr for Plan {
    type Output = Plan;

    fn bitor(self, other: Plan) -> Plan {
        Plan(self.0 | other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_adapted_process_neither_times_waits_nor_logs_executions() {
        let options = Options { waits: true, trace: true, ..Options::default() };
        let observed = Plan::of(&options);
        assert!(observed.times_waits() && observed.traces() && !observed.adapts());
        let adapted = Plan::of(&Options { adapt: Some(Objective::Time), ..options });
        assert!(adapted.only_adapts() && !adapted.packs(), "nobody watches the samples");
        assert!(!(adapted | Plan::RUNS_KERNELS).only_adapts());
        assert!(Plan::of(&Options::default()).only_observes());
    }

    #[test]
    fn executions_that_are_only_counted_have_neither_events_nor_energy() {
        let within = Options { overhead: Some("2%".parse().unwrap()), ..Options::default() };
        let of = |change: fn(&mut Options)| {
            let mut options = within.clone();
            change(&mut options);
            Plan::of(&options)
        };
        assert!(of(|_| ()).samples_by_body());
        assert!(!of(|options| "cycles".clone_into(&mut options.events)).samples());
        assert!(!of(|options| options.energy = true).samples());
        assert!(!(of(|_| ()) | Plan::RUNS_KERNELS).samples_by_body());
    }
}
