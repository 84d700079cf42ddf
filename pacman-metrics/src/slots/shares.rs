//! The level-1 categories of issue slots.

use crate::language::builtin;
use crate::not_computable::not_computable;
use pacman_events::Result;

/// Parts of the slots, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlotShares {
    /// Slots whose operation retired.
    pub retiring: f64,
    /// Slots lost to operations that never retired.
    pub bad_speculation: f64,
    /// Slots that the front end left empty.
    pub frontend_bound: f64,
    /// Slots for which the back end could take no operation.
    pub backend_bound: f64,
    /// Slots for which the core's other context was chosen; `None` where no event counts them.
    pub smt_contention: Option<f64>,
}

impl SlotShares {
    /// The shares from the counts of one sample, by the metrics `topdown-…`.
    ///
    /// `count` returns the count of an event, and the number of `CONTEXTS`.
    ///
    /// ```
    /// use pacman_metrics::slots::SlotShares;
    ///
    /// let shares = SlotShares::of(|name| match name {
    ///     "SLOTS" => Some(1_000),
    ///     "TOPDOWN_RETIRING" => Some(400),
    ///     "TOPDOWN_BAD_SPECULATION" => Some(50),
    ///     "TOPDOWN_FRONTEND_BOUND" => Some(150),
    ///     "TOPDOWN_BACKEND_BOUND" => Some(400),
    ///     _ => None,
    /// })?;
    /// assert_eq!(shares.frontend_bound, 0.15);
    /// # Ok::<(), pacman_metrics::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::NotComputable`](pacman_events::ErrorKind::NotComputable) if one of the four categories
    /// that all processors have is not computable, or if they exceed all slots by more than 2 %.
    pub fn of(count: impl Fn(&str) -> Option<u64>) -> Result<SlotShares> {
        let value = |name: &str| {
            let ways = builtin().iter().filter(|metric| metric.name() == name);
            let mut error = None;
            for metric in ways {
                match metric.value(&count) {
                    Ok(value) => return Ok(value),
                    Err(why) => error = Some(why),
                }
            }
            Err(error.unwrap_or_else(|| not_computable(name, "there is no such metric")))
        };
        let shares = SlotShares {
            retiring: value("topdown-retiring")?,
            bad_speculation: value("topdown-bad-speculation")?,
            frontend_bound: value("topdown-frontend-bound")?,
            backend_bound: value("topdown-backend-bound")?,
            smt_contention: value("topdown-smt-contention").ok(),
        };
        let all = shares.sum();
        if all > 1.0 + TOLERANCE {
            let because = format!("its categories come to {all:.3} of the slots");
            return Err(not_computable("the slots of this sample", because));
        }
        Ok(shares)
    }

    /// The categories in the order of the fields.
    pub fn parts(&self) -> [Option<f64>; 5] {
        let SlotShares { retiring, bad_speculation, frontend_bound, backend_bound, .. } = *self;
        let [retiring, backend] = [retiring, backend_bound].map(Some);
        [retiring, Some(bad_speculation), Some(frontend_bound), backend, self.smt_contention]
    }

    /// All categories together; the rest of the slots belongs to none.
    pub fn sum(&self) -> f64 {
        self.parts().into_iter().flatten().sum()
    }
}

/// The part of the slots by which the categories may exceed them: counters of one group stop one
/// after the other, and fractions of 255 are rounded.
const TOLERANCE: f64 = 0.02;
