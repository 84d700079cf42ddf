//! The stalled part of a context's cycles at one stage of the pipeline.

use crate::error::{Error, Result, not_computable};

/// The stage of the pipeline that nothing passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// No micro-operation went from renaming to the scheduler.
    Issue,
    /// The scheduler sent no micro-operation to any port.
    Dispatch,
    /// No micro-operation retired.
    Retire,
}

/// The stalled part of a context's cycles at one stage.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StallShare {
    /// The stage.
    pub stage: Stage,
    /// Stalled cycles over all cycles, from 0 to 1.
    pub share: f64,
    /// Instructions per cycle.
    pub ipc: f64,
    /// The largest share, from 0 to 1, that code of this `ipc` could show without any stall.
    ///
    /// Its instructions then pass the stage in full bunches. 0 if the stage does not overcount.
    pub from_bunching: f64,
    /// The ways in which the share may mislead.
    pub caveats: Vec<Caveat>,
}

/// A way in which a stall share misleads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Caveat {
    /// Below full width, work passes in bunches: the empty cycles between them are not stalls.
    Overcounts,
    /// The scheduler dispatches rejected micro-operations again, so a stalled cycle looks busy.
    Undercounts,
}

impl Caveat {
    /// The caveat in words.
    pub fn text(self) -> &'static str {
        match self {
            Caveat::Overcounts => {
                "may count too many: below the pipeline's width, work passes in bunches"
            }
            Caveat::Undercounts => {
                "may count too few: operations sent again because their data is late look busy"
            }
        }
    }
}

impl StallShare {
    /// Computes the stalled share at a stage that passes up to `width` operations per cycle.
    ///
    /// # Errors
    /// [`ErrorKind::NotComputable`](crate::ErrorKind::NotComputable) if `cycles` is 0, if `width`
    /// is not a positive number, or if more cycles are stalled than were counted. The same if more
    /// than two instructions per operation would have passed.
    ///
    /// ```
    /// use pacman_metrics::stalls::{Stage, StallShare};
    /// // One instruction per cycle, four wide: 75 % "stalled" at issue may be no stall at all.
    /// let issue = StallShare::of(Stage::Issue, 4.0, 1_000, 1_000, 750)?;
    /// assert_eq!((issue.share, issue.from_bunching), (0.75, 0.75));
    /// # Ok::<(), pacman_metrics::Error>(())
    /// ```
    pub fn of(
        stage: Stage,
        width: f64,
        cycles: u64,
        instructions: u64,
        stalled: u64,
    ) -> Result<StallShare> {
        if cycles == 0 {
            return Err(refused("no cycle was counted"));
        }
        if !(width.is_finite() && width > 0.0) {
            return Err(refused("the width of the pipeline is not known"));
        }
        if stalled > cycles {
            return Err(refused(format_args!("{stalled} of {cycles} cycles cannot be stalled")));
        }
        let ipc = instructions as f64 / cycles as f64;
        // One operation holds at most two instructions.
        if ipc > 2.0 * width {
            return Err(refused(format_args!(
                "{instructions} instructions do not fit {cycles} cycles of a pipeline {width} wide",
            )));
        }
        let overcounts = stage != Stage::Dispatch && ipc < width;
        let caveat = match stage {
            Stage::Dispatch => Some(Caveat::Undercounts),
            _ => overcounts.then_some(Caveat::Overcounts),
        };
        Ok(StallShare {
            stage,
            share: stalled as f64 / cycles as f64,
            ipc,
            from_bunching: if overcounts { 1.0 - ipc / width } else { 0.0 },
            caveats: caveat.into_iter().collect(),
        })
    }
}

#[cold]
pub(super) fn refused(because: impl std::fmt::Display) -> Error {
    not_computable("the share of stalled cycles", because)
}
