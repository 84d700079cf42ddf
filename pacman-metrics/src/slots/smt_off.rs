//! Would a core be faster without its SMT?
//!
//! With SMT on, both threads of a core run at once. With SMT off, they run one after the other, each
//! `s` times as fast as beside the other. So the core is `1 / (1/s₀ + 1/s₁)` times as fast. The counts
//! of one run bound `s`, because some of the slots that a thread did not get would be its own:
//!
//! - *Contention.* With SMT off, slots for which the other thread was chosen are free, and the thread
//!   uses them as it used the others. So `s` is at least `1 / (1 − c)`, where `c` is their part. If no
//!   event counts them, the model assumes that each thread is ready at random, in a part `p` of the
//!   slots. It loses half of the slots in which both are ready, and so used `p₀ − p₀p₁/2`. Then `c` is
//!   at least 0, and at most twice the part of its ready slots that it lost.
//! - *Interference.* Threads evict each other's cache lines and fill common queues. Counts of one run
//!   do not distinguish these stalls from a thread's own. So the model assumes that the other thread
//!   causes none to three quarters of the backend-bound slots, `e`: `s` is at most `1 / (1 − c − ¾e)`.
//!
//! The model leaves out the effects of half as many threads between cores: barriers, locks, balance.

use std::fmt;

use super::shares::SlotShares;
use crate::not_computable::not_computable;
use crate::smt::Bounds;
use pacman_events::Result;

/// The slots of one thread of a core.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SiblingSlots {
    /// The categories, as parts of the thread's slots.
    pub shares: SlotShares,
    /// The thread's slots, as a part of those of the core: 1 where each thread counts all of them
    /// (Zen), about a half where the siblings divide them (Intel).
    pub part: f64,
}

/// Whether SMT off would pay on a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Verdict {
    /// It is at least as fast, within the tolerance of 3 %.
    Pays,
    /// It is slower, or at best as fast within the tolerance.
    Costs,
    /// The bounds allow both.
    Undecided,
}

/// The answer for one core.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SmtOff {
    /// The answer.
    pub verdict: Verdict,
    /// Speed with SMT off over speed with SMT on.
    pub speed: Bounds,
    /// The middle of the bounds.
    pub estimate: f64,
    /// The reason, in one sentence.
    pub reason: String,
}

/// Bounds the speed of a core with SMT off, from the slots of its two threads over one region.
///
/// Both threads must have run all the time.
///
/// ```
/// use pacman_metrics::slots::{SiblingSlots, SlotShares, Verdict, smt_off};
///
/// // Both retire 2 of 10 slots and hardly stall: each gets the slots that it needs.
/// let shares = SlotShares {
///     retiring: 0.2,
///     bad_speculation: 0.0,
///     frontend_bound: 0.6,
///     backend_bound: 0.1,
///     smt_contention: Some(0.1),
/// };
/// let thread = SiblingSlots { shares, part: 1.0 };
/// let off = smt_off(&[thread, thread])?;
/// assert_eq!(off.verdict, Verdict::Costs);
/// # Ok::<(), pacman_metrics::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::NotComputable`](pacman_events::ErrorKind::NotComputable) for other than two threads, and if
/// a thread dispatched nothing.
pub fn smt_off(threads: &[SiblingSlots]) -> Result<SmtOff> {
    let what = "the speed with SMT off";
    let &[first, second] = threads else {
        let because =
            format!("the model has two threads a core, and this one ran {}", threads.len());
        return Err(not_computable(what, because));
    };
    let used = [first.used(), second.used()];
    if used.iter().any(|used| *used <= 0.0) {
        return Err(not_computable(what, "a thread dispatched no operation"));
    }
    let ready = ready(used);
    let sped = [(first, used[0], ready[0]), (second, used[1], ready[1])]
        .map(|(thread, used, ready)| thread.speed_alone(used, ready));
    let together =
        |of: fn(&Bounds) -> f64| 1.0 / sped.iter().map(|speed| 1.0 / of(speed)).sum::<f64>();
    let speed = Bounds { low: together(|speed| speed.low), high: together(|speed| speed.high) };
    let verdict = Verdict::of(speed);
    let stalled = threads.iter().any(|thread| {
        let SlotShares { retiring, backend_bound, .. } = thread.shares;
        backend_bound > retiring
    });
    let reason = match (verdict, stalled) {
        (Verdict::Pays, _) => "one thread alone fills the slots of the core that both fill",
        (Verdict::Costs, _) => "each thread leaves slots that the other one fills",
        (Verdict::Undecided, true) => {
            "stalls of the back end prevail, and one run does not tell whether the sibling causes them"
        }
        (Verdict::Undecided, false) => {
            "the threads fill most slots, and one run does not tell whether one alone would, too"
        }
    };
    Ok(SmtOff { verdict, speed, estimate: speed.middle(), reason: reason.to_owned() })
}

impl SmtOff {
    /// The answer for several cores that share the work of a region evenly; `None` without cores.
    pub fn of_cores(cores: &[SmtOff]) -> Option<SmtOff> {
        let together = |of: fn(&Bounds) -> f64| {
            cores.len() as f64 / cores.iter().map(|core| 1.0 / of(&core.speed)).sum::<f64>()
        };
        let speed = Bounds { low: together(|speed| speed.low), high: together(|speed| speed.high) };
        let verdict = Verdict::of(speed);
        let same = cores.iter().find(|core| core.verdict == verdict).or(cores.first())?;
        let reason = same.reason.clone();
        Some(SmtOff { verdict, speed, estimate: speed.middle(), reason })
    }
}

impl SiblingSlots {
    /// Slots with an operation of this thread, as a part of the core's.
    fn used(&self) -> f64 {
        (self.shares.retiring + self.shares.bad_speculation) * self.part
    }

    /// The bounds of the speed without the other thread over that beside it.
    fn speed_alone(&self, used: f64, ready: f64) -> Bounds {
        let stalls = INTERFERENCE * self.shares.backend_bound;
        let (least, most) = match self.shares.smt_contention {
            Some(denied) => (denied, denied + stalls),
            None => {
                let denied = (2.0 * (1.0 - used / ready)).clamp(0.0, 0.5);
                (0.0, 1.0 - (1.0 - denied) * (1.0 - stalls))
            }
        };
        // No thread fills more slots than there are.
        let speed = |freed: f64| 1.0 / (1.0 - freed).clamp(used.min(1.0), 1.0);
        Bounds { low: speed(least), high: speed(most) }
    }
}

/// The parts of the slots in which two threads were ready, if readiness is random. `used` has the parts
/// that they used.
fn ready(used: [f64; 2]) -> [f64; 2] {
    let of = |own: f64, other: f64| {
        // own = p − p(p − d)/2, where d is the difference of both.
        let middle = 1.0 + (own - other) / 2.0;
        middle - (middle * middle - 2.0 * own).max(0.0).sqrt()
    };
    [of(used[0], used[1]), of(used[1], used[0])]
}

impl Verdict {
    fn of(speed: Bounds) -> Verdict {
        match speed {
            Bounds { low, .. } if low >= 1.0 - TOLERANCE => Verdict::Pays,
            Bounds { high, .. } if high <= 1.0 + TOLERANCE => Verdict::Costs,
            _ => Verdict::Undecided,
        }
    }

    /// The word of the verdict: `pays`, `costs` or `undecided`.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Pays => "pays",
            Verdict::Costs => "costs",
            Verdict::Undecided => "undecided",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// The largest part of a thread's backend-bound slots that the sibling may cause.
///
/// No counter measures it. With 0.75, at most 0.35 % of the verdicts on simulated phases are wrong
/// (docs/stalls-and-smt.md).
const INTERFERENCE: f64 = 0.75;

/// A change of speed that is not worth a change.
const TOLERANCE: f64 = 0.03;
