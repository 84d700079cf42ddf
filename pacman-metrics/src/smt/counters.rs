//! Computes splits from counters.

use super::scale::Scale;
use super::split::{Bounds, Method, Split};
use crate::not_computable::not_computable;
use pacman_events::{Error, Result};

/// The readings on one context at both ends of the interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextReading {
    /// The TSC at the first reading of this context's counters.
    pub begin: u64,
    /// The TSC at the last reading.
    pub end: u64,
    /// The largest error of `begin` and `end` together, in ticks. A reading takes time, and the
    /// counters had its values at an unknown moment of that time.
    pub slack: u64,
    /// Reference cycles between the readings, from the fixed counter (`REF_CYCLES`).
    pub reference: u64,
}

/// The readings on all contexts of one core, over nearly the same interval.
#[derive(Clone, Copy, Debug)]
pub struct CoreReading<'a> {
    /// One entry per context.
    pub contexts: &'a [ContextReading],
    /// The meaning of the counts.
    pub scale: Scale,
}

/// A reading that was found consistent.
struct Checked {
    elapsed: f64,
    reference: Vec<f64>,
    skew: f64,
    uncertainty: f64,
}

/// Computes the split from one core-wide count, taken on any of the contexts.
///
/// With two contexts every state is exact. With more, only [`idle`](Split::idle) is exact. The
/// others have bounds, and their values are one of the divisions that fit the counts.
///
/// # Errors
/// [`ErrorKind::NotComputable`](pacman_events::ErrorKind::NotComputable) if the readings contradict each
/// other by more than their steps and reading times explain. Examples are a wrapped counter, and
/// intervals that are empty, too short or different. Another is a core that was less active than a
/// context, or more than all contexts together.
///
/// ```
/// use pacman_metrics::smt::{Clocks, ContextReading, CoreReading, Scale, any_thread};
/// use pacman_events::CpuModel;
///
/// // One second on a Xeon E5-2680 (2.7 GHz): the siblings ran half of it each, together.
/// let scale = Scale::of(CpuModel::named("jkt").unwrap(), Clocks { base_hz: 2.7e9, crystal: None })?;
/// let half = ContextReading { begin: 0, end: 2_700_000_000, slack: 0, reference: 1_350_000_000 };
/// let split = any_thread(&CoreReading { contexts: &[half, half], scale }, 50_000_000)?;
/// assert_eq!((split.idle, split.shared), (1.35e9, 1.35e9));
/// assert_eq!(split.only, [0.0, 0.0]);
/// # Ok::<(), pacman_metrics::Error>(())
/// ```
pub fn any_thread(reading: &CoreReading<'_>, any: u64) -> Result<Split> {
    let checked = reading.check()?;
    checked.split(any as f64 * reading.scale.ticks, Method::AnyThread)
}

/// Computes the split from counts that the hardware divides among the active contexts
/// (`CPU_CLK_UNHALTED.REF_DISTRIBUTED`). There is one count per context, and their sum is the
/// core's.
///
/// # Errors
/// As for [`any_thread`], and if there is not one count per context.
pub fn distributed(reading: &CoreReading<'_>, counts: &[u64]) -> Result<Split> {
    if counts.len() != reading.contexts.len() {
        return Err(refused("there is not one distributed count for every context"));
    }
    let checked = reading.check()?;
    let any: f64 = counts.iter().map(|&count| count as f64 * reading.scale.ticks).sum();
    checked.split(any, Method::Distributed)
}

/// Computes the split from each context's count while the other is idle
/// (`CPU_CLK_UNHALTED.ONE_THREAD_ACTIVE`), for cores of two contexts.
///
/// One count would suffice. The function takes both, and they must agree on the time in which the
/// contexts ran together.
///
/// # Errors
/// As for [`any_thread`], and if there are not two contexts, or if the counts disagree.
pub fn one_thread_active(reading: &CoreReading<'_>, alone: [u64; 2]) -> Result<Split> {
    let checked = reading.check()?;
    let [first, second] = checked.reference[..] else {
        return Err(refused("a count of one active context decides cores of two contexts only"));
    };
    let [alone_first, alone_second] = alone.map(|count| count as f64 * reading.scale.ticks);
    let (one, other) = (first - alone_first, second - alone_second);
    if (one - other).abs() > 2.0 * checked.uncertainty {
        return Err(refused(format_args!(
            "one context ran {one:.0} ticks together with the other, which ran {other:.0} \
             together with it",
        )));
    }
    checked.split(first + second - f64::midpoint(one, other), Method::OneThreadActive)
}

impl CoreReading<'_> {
    fn check(&self) -> Result<Checked> {
        let contexts = self.contexts;
        if contexts.is_empty() {
            return Err(refused("no context was read"));
        }
        if contexts.iter().any(|context| context.end <= context.begin) {
            return Err(refused("no time passed between the two readings of a context"));
        }
        let spread = |edge: fn(&ContextReading) -> u64| {
            let edges = contexts.iter().map(edge);
            (edges.clone().max().unwrap_or(0) - edges.min().unwrap_or(0)) as f64
        };
        let slack: u64 = contexts.iter().map(|context| context.slack).sum();
        let skew = spread(|context| context.begin) + spread(|context| context.end) + slack as f64;
        // Each count is compared with its own interval, which is closer than any common one.
        let times = contexts.iter().map(|context| (context.end - context.begin) as f64);
        let elapsed = times.sum::<f64>() / contexts.len() as f64;
        if skew > elapsed * WIDEST_SKEW {
            return Err(refused(format_args!(
                "the contexts were read over intervals that differ by {skew:.0} of {elapsed:.0} ticks",
            )));
        }
        let steps = contexts.len() as f64 * (self.scale.step + self.scale.ticks);
        let uncertainty = skew + steps;
        if 2.0 * uncertainty > elapsed {
            return Err(refused(format_args!(
                "the interval of {elapsed:.0} ticks is too short: steps of the counters and \
                 reading times may move any state by {uncertainty:.0}; measure for longer",
            )));
        }
        let mut reference = Vec::with_capacity(contexts.len());
        for context in contexts {
            let counted = context.reference as f64;
            if counted > elapsed + uncertainty {
                return Err(refused(format_args!(
                    "a context counts {counted:.0} reference cycles in {elapsed:.0} ticks: the \
                     counter wrapped, or the readings are not of one interval",
                )));
            }
            reference.push(counted.min(elapsed));
        }
        Ok(Checked { elapsed, reference, skew, uncertainty })
    }
}

impl Checked {
    fn split(self, any: f64, method: Method) -> Result<Split> {
        let Checked { elapsed, reference, skew, uncertainty } = self;
        let most = reference.iter().copied().fold(0.0, f64::max);
        let sum: f64 = reference.iter().sum();
        if any > elapsed + uncertainty {
            return Err(refused(format_args!(
                "the core was active for {any:.0} of {elapsed:.0} ticks: the scale is another, or \
                 the counter wrapped",
            )));
        }
        if any > sum + uncertainty {
            return Err(refused(format_args!(
                "several contexts would have been active for {:.0} ticks, and the readings \
                 explain no more than {uncertainty:.0} below none",
                sum - any,
            )));
        }
        if any < most - uncertainty {
            return Err(refused(format_args!(
                "the core was active for {any:.0} ticks and one of its contexts for {most:.0}: the \
                 scale is another, or the counter was not there all the time",
            )));
        }
        let any = any.clamp(most, sum.min(elapsed));
        let excess = sum - any;
        let together = (reference.len() as f64 - 1.0).max(1.0);
        let only_bounds: Vec<Bounds> = (0..reference.len())
            .map(|context| {
                let others = || reference.iter().enumerate().filter(|other| other.0 != context);
                let busiest = others().map(|other| *other.1).fold(0.0, f64::max);
                let low = any - others().map(|other| other.1).sum::<f64>();
                Bounds { low: low.max(0.0), high: reference[context].min(any - busiest) }
            })
            .collect();
        // The time of the core is alone or together, so each limits the other.
        let least: f64 = only_bounds.iter().map(|bounds| bounds.low).sum();
        let most: f64 = only_bounds.iter().map(|bounds| bounds.high).sum();
        let low = (excess / together).max(any - most);
        let shared_bounds = Bounds { low, high: excess.min(any - least).max(low) };
        let (only, shared) = fit(any, &only_bounds, shared_bounds);
        Ok(Split {
            elapsed,
            idle: elapsed - any,
            only,
            shared,
            idle_bounds: Bounds::exactly(elapsed - any),
            only_bounds,
            shared_bounds,
            skew,
            uncertainty,
            method,
        })
    }
}

/// One division of `any` within the bounds. Each context's value is the same part of the way from
/// its minimum to its maximum; the rest is shared.
fn fit(any: f64, only: &[Bounds], shared: Bounds) -> (Vec<f64>, f64) {
    let low: f64 = only.iter().map(|bounds| bounds.low).sum();
    let room: f64 = only.iter().map(|bounds| bounds.high - bounds.low).sum();
    let wanted = any - shared.middle() - low;
    let part = if room > 0.0 { (wanted / room).clamp(0.0, 1.0) } else { 0.0 };
    let alone: Vec<f64> =
        only.iter().map(|bounds| bounds.low + part * (bounds.high - bounds.low)).collect();
    let rest = any - alone.iter().sum::<f64>();
    (alone, rest.max(0.0))
}

#[cold]
fn refused(because: impl std::fmt::Display) -> Error {
    not_computable("the activity of the core's contexts", because)
}

/// Contexts are not measured together if their intervals differ by more than a tenth.
const WIDEST_SKEW: f64 = 0.1;
