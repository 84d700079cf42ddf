//! The division of a core between its contexts.

use super::Pmu;
use crate::CounterSet;

/// The share of a core that one context may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grant {
    /// General counters, withheld ones included.
    pub(crate) general: CounterSet,
    /// The half whose registers it may use; `None` for both.
    pub(crate) half: Option<u8>,
    /// Whether it may count at all.
    pub(crate) active: bool,
}

/// The division of a core between its contexts.
#[derive(Clone, Debug)]
pub(crate) struct Division {
    /// One per context.
    pub(crate) grants: Vec<Grant>,
    /// A division that gives every context at least the same, and how to ask for it.
    pub(crate) wider: Option<(&'static str, Vec<Grant>)>,
}

impl Division {
    /// Every context may use everything.
    pub(crate) fn open(pmu: &Pmu) -> Self {
        let all = Grant { general: pmu.general, half: None, active: true };
        Division { grants: vec![all; usize::from(pmu.contexts())], wider: None }
    }

    /// One context may use everything, the others nothing.
    pub(crate) fn whole(pmu: &Pmu, owner: u8) -> Self {
        let mut division = Division::open(pmu);
        for (context, grant) in division.grants.iter_mut().enumerate() {
            grant.active = context == usize::from(owner);
        }
        division
    }
}
