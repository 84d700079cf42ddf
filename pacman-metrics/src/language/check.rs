//! Checks whether a model can count the events of a metric.

use pacman_events::allocate::{EventConstraints, Pmu, allocate};
use pacman_events::encode::Rings;
use pacman_events::partition::Partition;
use pacman_events::{ResolveError, ResolveErrorKind, Resolved};

use super::metric::Metric;
use pacman_events::{Error, ErrorKind, Result};

/// The ways in which a core can count a metric's events.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Countable {
    /// All at once, in one set.
    AtOnce,
    /// Not at once, but in rotating sets.
    ByRotation {
        /// The number of sets.
        sets: usize,
        /// The reason why one set does not suffice.
        because: String,
    },
    /// The events cannot be counted.
    Never {
        /// The reason.
        because: String,
    },
}

impl Metric {
    /// Checks that some model knows each event. This finds misspelt names.
    ///
    /// `resolve` is the model's resolver with its tables, such as
    /// [`Resolver::resolve`](pacman_events::Resolver::resolve).
    ///
    /// # Errors
    /// [`ErrorKind::UnknownEvent`] as `FILE:LINE: reason`, with the nearest names, for an event
    /// that no table has, or for a malformed name.
    pub fn check_names(
        &self,
        resolve: impl Fn(&str) -> Result<Resolved, ResolveError>,
    ) -> Result<()> {
        for event in self.events() {
            let Err(refusal) = resolve(event) else { continue };
            if matches!(refusal.kind(), ResolveErrorKind::Grammar | ResolveErrorKind::Unknown) {
                let problem = format!("{}: {}: {refusal}", self.origin(), self.name());
                return Err(Error::new(ErrorKind::UnknownEvent, problem));
            }
        }
        Ok(())
    }

    /// Checks whether one context of `pmu` can count the metric's events while it has the core to
    /// itself.
    ///
    /// Events without `u` or `k` count in user mode. `TSC` and the other clocks take no counter.
    ///
    /// ```
    /// use pacman_metrics::language::{Countable, builtin};
    /// use pacman_events::{CpuModel, allocate::Pmu, resolve};
    ///
    /// let ipc = builtin().iter().find(|metric| metric.name() == "ipc").unwrap();
    /// let skl = CpuModel::named("skl").unwrap();
    /// let countable = ipc.countable(&Pmu::of(skl, true), |event| resolve(skl, event));
    /// assert_eq!(countable, Countable::AtOnce);
    /// ```
    pub fn countable(
        &self,
        pmu: &Pmu,
        resolve: impl Fn(&str) -> Result<Resolved, ResolveError>,
    ) -> Countable {
        let mut demands = Vec::new();
        for (bundle, event) in self.events().into_iter().enumerate() {
            match resolve(event) {
                // The terms of one event belong together, so the same execution should count them.
                Ok(resolved) => demands.extend(resolved.terms().map(|term| {
                    EventConstraints::of(&term.encoding, pmu, USER).in_bundle(bundle as u32)
                })),
                Err(refusal) => return Countable::Never { because: refusal.to_string() },
            }
        }
        let Err(conflict) = allocate(pmu, &demands) else { return Countable::AtOnce };
        let because = conflict.reason().to_owned();
        match Partition::ByDemand.sets(pmu, &[demands]) {
            Ok(schedule) => Countable::ByRotation { sets: schedule.sets().len(), because },
            Err(alone) => Countable::Never { because: alone.reason().to_owned() },
        }
    }
}

/// The mode that a thread may count without privileges.
const USER: Rings = Rings { user: true, kernel: false };
