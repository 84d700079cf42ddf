//! The states of a core's contexts over an interval.

use std::fmt;

use crate::not_computable::not_computable;
use pacman_events::Result;

/// The times in which a core's contexts were idle, alone or together.
///
/// The unit is ticks of the TSC, or the unit of the idle times.
///
/// Each state has [`Bounds`], which are equal if the method decides the state. Show the values
/// [`idle`](Split::idle), [`only`](Split::only) and [`shared`](Split::shared). They lie within the
/// bounds and sum to [`elapsed`](Split::elapsed).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Split {
    /// The interval.
    pub elapsed: f64,
    /// No context was active.
    pub idle: f64,
    /// Only this context was active; one entry per context.
    pub only: Vec<f64>,
    /// At least two contexts were active.
    pub shared: f64,
    /// The bounds of [`idle`](Split::idle).
    pub idle_bounds: Bounds,
    /// The bounds of the entries of [`only`](Split::only).
    pub only_bounds: Vec<Bounds>,
    /// The bounds of [`shared`](Split::shared).
    pub shared_bounds: Bounds,
    /// The part of [`uncertainty`](Split::uncertainty) that comes from different reading times of
    /// the contexts.
    ///
    /// It is 0 for idle times and periods. A caller that reads those one by one sets it.
    pub skew: f64,
    /// The largest error of any bound, from steps of the counters and different reading times.
    pub uncertainty: f64,
    /// The method that computed the split.
    pub method: Method,
}

/// The minimum and the maximum of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The minimum.
    pub low: f64,
    /// The maximum.
    pub high: f64,
}

/// The methods that compute a [`Split`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Method {
    /// A core-wide count beside the contexts' counts.
    AnyThread,
    /// Counts that the hardware divides among the active siblings.
    Distributed,
    /// The times at which contexts became idle and active.
    IdlePeriods,
    /// The total idle time of each context.
    IdleTimes,
    /// Counts of the cycles in which the sibling is idle.
    OneThreadActive,
    /// The total idle time of each context, and the part of its cycles in which it had the core alone.
    AloneShares,
}

impl Split {
    /// Whether the method decides every state, within [`uncertainty`](Split::uncertainty).
    pub fn is_decided(&self) -> bool {
        let mut bounds = self.only_bounds.iter().chain([&self.idle_bounds, &self.shared_bounds]);
        // Sums of doubles differ in their last places.
        bounds.all(|bounds| bounds.high - bounds.low <= 1e-9 * self.elapsed)
    }

    /// A time of this split, such as [`idle`](Split::idle), as a part of the interval, 0 to 1.
    pub fn share(&self, state: f64) -> f64 {
        state / self.elapsed
    }

    /// The time in which at least one of the core's contexts was active.
    pub fn active(&self) -> f64 {
        self.elapsed - self.idle
    }

    /// Adds the interval that follows this one.
    ///
    /// The bounds add up too, so many short intervals give narrower bounds than a long one.
    ///
    /// # Errors
    /// [`ErrorKind::NotComputable`](pacman_events::ErrorKind::NotComputable) if `next` has another number
    /// of contexts or another method.
    pub fn extend(&mut self, next: &Split) -> Result<()> {
        if self.only.len() != next.only.len() || self.method != next.method {
            let what = "the activity of both intervals together";
            return Err(not_computable(what, "they differ in contexts or method"));
        }
        self.elapsed += next.elapsed;
        self.idle += next.idle;
        self.shared += next.shared;
        self.idle_bounds.extend(next.idle_bounds);
        self.shared_bounds.extend(next.shared_bounds);
        for (context, only) in self.only.iter_mut().enumerate() {
            *only += next.only[context];
            self.only_bounds[context].extend(next.only_bounds[context]);
        }
        self.skew += next.skew;
        self.uncertainty += next.uncertainty;
        Ok(())
    }
}

impl Bounds {
    /// Bounds with a single value.
    pub(super) fn exactly(value: f64) -> Bounds {
        Bounds { low: value, high: value }
    }

    /// The middle of the bounds.
    pub fn middle(self) -> f64 {
        f64::midpoint(self.low, self.high)
    }

    fn extend(&mut self, next: Bounds) {
        self.low += next.low;
        self.high += next.high;
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Method::AnyThread => "AnyThread reference cycles",
            Method::Distributed => "distributed reference cycles",
            Method::IdlePeriods => "idle periods",
            Method::IdleTimes => "idle times",
            Method::OneThreadActive => "cycles with one context active",
            Method::AloneShares => "idle times and cycles alone",
        })
    }
}
