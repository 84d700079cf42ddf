//! One plan for all events of a core's contexts.

use crate::allocate::{Assignment, Conflict, Division, EventConstraints, Grant, Pmu, place};

/// The ways to divide a core between its hardware contexts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Partition {
    /// An exact joint placement over the whole core: it finds a placement if one exists.
    #[default]
    ByDemand,
    /// PACMAN's split of a NetBurst core: context 0 gets half 0 and context 1 half 1, both counters
    /// and ESCRs. The counters of a context do not depend on its sibling.
    ///
    /// If counters are per context anyway, this is the same as `ByDemand`. A context
    /// that is enabled alone gets the whole core.
    Even,
    /// One context gets the whole core; its siblings count nothing.
    Whole {
        /// The context that gets it.
        owner: u8,
    },
}

/// A legal placement of the events of all contexts of one core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorePlan {
    pub(super) contexts: Vec<Assignment>,
}

impl CorePlan {
    /// One assignment per context of the core, in order. A context without events has no
    /// placements.
    pub fn contexts(&self) -> &[Assignment] {
        &self.contexts
    }
}

impl Partition {
    /// Plans one list of events per context, all at once.
    ///
    /// `threads[n]` runs on context `n`; missing lists count nothing. Exact: if a legal
    /// placement exists under this partition, it is found.
    ///
    /// # Errors
    /// The conflict, if the events cannot be counted at once; also for a thread beyond
    /// the contexts of the core.
    ///
    /// ```
    /// use pacman_events::CounterSet;
    /// use pacman_events::allocate::{EventConstraints, Pmu, Register, RegisterKind, Alternative};
    /// use pacman_events::encode::Scope;
    /// use pacman_events::partition::Partition;
    ///
    /// // Nehalem has one off-core response register for both siblings.
    /// let pmu = Pmu::per_context("nhm-ep", 2, CounterSet::first(4));
    /// let rsp = Register::msr(RegisterKind::OffcoreResponse, 0x1a6, Scope::Core);
    /// let offcore = |name, value| {
    ///     vec![EventConstraints::new(name, [Alternative::general(CounterSet::first(4)).claiming(rsp, value)])]
    /// };
    /// let same = [offcore("A", 0x1011), offcore("A", 0x1011)];
    /// assert!(Partition::ByDemand.plan(&pmu, &same).is_ok());
    ///
    /// let differ = [offcore("A", 0x1011), offcore("B", 0x2011)];
    /// let refused = Partition::ByDemand.plan(&pmu, &differ).unwrap_err();
    /// assert_eq!(refused.resource().to_string(), "OFFCORE_RSP_0");
    /// ```
    pub fn plan(self, pmu: &Pmu, threads: &[Vec<EventConstraints>]) -> Result<CorePlan, Conflict> {
        let lists: Vec<&[EventConstraints]> = threads.iter().map(Vec::as_slice).collect();
        let contexts = place(pmu, &self.division(pmu), &lists)?;
        Ok(CorePlan { contexts })
    }

    /// The counters that each context may use.
    pub(crate) fn division(self, pmu: &Pmu) -> Division {
        let open = Division::open(pmu);
        let mut division = match (self, pmu.halves()) {
            (Partition::Whole { owner }, _) => Division::whole(pmu, owner),
            (Partition::Even, Some(halves)) if pmu.contexts() > 1 => {
                let mut division = open.clone();
                for (context, grant) in division.grants.iter_mut().enumerate() {
                    *grant = match halves.get(context) {
                        Some(general) => {
                            Grant { general: *general, half: Some(context as u8), active: true }
                        }
                        None => Grant { active: false, ..*grant },
                    };
                }
                division
            }
            _ => return open,
        };
        division.wider = Some(("split the core by demand, which can place this", open.grants));
        division
    }
}
