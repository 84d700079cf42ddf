//! The rule by which contexts share the issue slots of a core.

use crate::not_computable::not_computable;
use pacman_events::{Error, Result};

/// The rule by which contexts share the issue slots of a core.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Issue {
    /// Instructions that the core issues per cycle.
    pub width: f64,
    /// Number of contexts that share them.
    pub contexts: u32,
    /// The most instructions per cycle that one context issues alone.
    pub alone: f64,
}

impl Issue {
    /// The rule for a core of `width` slots that `contexts` share. One context can fill all slots
    /// alone, as on out-of-order cores.
    pub fn shared(width: f64, contexts: u32) -> Issue {
        Issue { width, contexts, alone: width }
    }

    /// The fair share of one context, in instructions per cycle.
    ///
    /// ```
    /// use pacman_metrics::budget::Issue;
    /// assert_eq!(Issue::shared(4.0, 2).fair(), 2.0);
    /// // UltraSPARC T2: eight threads, two slots, one instruction per thread.
    /// assert_eq!(Issue { width: 2.0, contexts: 8, alone: 1.0 }.fair(), 0.25);
    /// ```
    pub fn fair(&self) -> f64 {
        (self.width / f64::from(self.contexts)).min(self.alone)
    }

    /// The part of its cycles in which a context may stall and still get its fair share.
    pub fn stall_budget(&self) -> f64 {
        1.0 - self.fair() / self.alone
    }

    pub(super) fn check(&self) -> Result<()> {
        let possible = |slots: f64| slots.is_finite() && slots > 0.0;
        if self.contexts > 0 && possible(self.width) && possible(self.alone) {
            return Ok(());
        }
        Err(refused("a core must have issue slots and at least one context"))
    }
}

#[cold]
pub(super) fn refused(because: impl std::fmt::Display) -> Error {
    not_computable("the issue budget", because)
}
