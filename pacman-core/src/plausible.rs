//! Limits of the values that a processor can have counted; sums hold no value beyond them.
//!
//! An execution is judged only if it is the longest or the shortest so far, or counts the most or
//! the least. A value between those of two plausible executions is plausible. So most executions
//! need no judgement. A wrong value within the limits stays undetected.

use std::fmt;
use std::ops::Range;

use crate::event::Event;

/// The limits of an execution on one thread.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// Ticks when the thread attached.
    since: u64,
    /// Whether ticks limit counts; a simulated machine's ticks do not measure its time.
    timed: bool,
    columns: Vec<Kind>,
    /// The columns of instructions and cycles of the same modes.
    pair: Option<(usize, usize)>,
}

/// The kind of count in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Cycles,
    Instructions,
    /// Another event of the hardware.
    Hardware,
    /// Nanoseconds of a clock, or events of the kernel, in 64 bits of memory. Ticks do not limit them: a clock runs on while
    /// a hypervisor has the processor, and it may take that between the reading of a count and the reading of the ticks.
    Kernel,
}

/// The most of each kind in one tick, which lasts a tenth of a nanosecond to ten: the fastest
/// core clock and the slowest time stamp counter are less than ten times apart.
const CYCLES_A_TICK: u64 = 10;
/// Instructions that a cycle may retire: twice what the widest cores do, fused pairs counted.
const WIDTH: u64 = 16;
/// Occurrences of any event in a cycle: occupancies add up a whole queue.
const OCCURRENCES_A_CYCLE: u64 = 1000;
/// Ticks that the edges of an execution may take beyond its own.
const EDGES: u64 = 1_000_000;
/// Cycles in which some instruction retires: less may be a single fault.
const MANY: u64 = 10_000_000;

/// Why an execution is set aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Doubt {
    /// The column, or `None` for the time.
    pub(crate) column: Option<usize>,
    pub(crate) why: Why,
    /// The count. For a count that went backwards, the decrease.
    pub(crate) value: u64,
    /// The limit, or the value that the count is compared with.
    pub(crate) limit: u64,
}

/// The kinds of impossible values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    Backwards,
    /// More than its time allows.
    TooMany,
    /// More than its cycles allow.
    TooFast,
    /// Nothing, while cycles went on.
    Still,
    /// It began before the thread did.
    BeforeLife,
}

const WHYS: [Why; 5] = [Why::Backwards, Why::TooMany, Why::TooFast, Why::Still, Why::BeforeLife];

impl Limits {
    /// The limits for `events`, each with its name, its unit and whether the hardware counts it.
    pub(crate) fn of<'a>(
        events: impl Iterator<Item = (&'a str, &'a str, bool)>,
        since: u64,
        timed: bool,
    ) -> Limits {
        let mut columns = Vec::new();
        let (mut instructions, mut cycles) = (Vec::new(), Vec::new());
        for (at, (name, _, hardware)) in events.enumerate() {
            let (base, modes) = name.split_once(':').unwrap_or((name, ""));
            columns.push(match base {
                _ if !hardware => Kind::Kernel,
                "CYCLES" => {
                    cycles.push((at, modes.to_owned()));
                    Kind::Cycles
                }
                "INSTRUCTIONS" => {
                    instructions.push((at, modes.to_owned()));
                    Kind::Instructions
                }
                _ => Kind::Hardware,
            });
        }
        let beside = |(at, modes): &(usize, String)| {
            let cycles = cycles.iter().find(|(_, of)| of == modes)?;
            Some((*at, cycles.0))
        };
        let pair = instructions.iter().find_map(beside);
        Limits { since, timed, columns, pair }
    }

    /// The limits for a session's events on a thread that attached at `since`.
    pub(crate) fn of_events<'a>(
        events: impl Iterator<Item = &'a Event>,
        since: u64,
        timed: bool,
    ) -> Limits {
        let described = events.map(|event| (event.name(), event.unit(), event.is_hardware()));
        Limits::of(described, since, timed)
    }

    /// The first impossible value of an execution over `ticks` that counted `counts`.
    pub(crate) fn judge(&self, ticks: Range<u64>, counts: &[u64]) -> Option<Doubt> {
        let time = ticks.end.wrapping_sub(ticks.start);
        let doubt = |column, why, value, limit| Some(Doubt { column, why, value, limit });
        if is_negative(time) {
            return doubt(None, Why::Backwards, time.wrapping_neg(), 0);
        }
        let age = ticks.start.wrapping_sub(self.since);
        if is_negative(age) {
            return doubt(None, Why::BeforeLife, time, age.wrapping_neg());
        }
        for (at, (kind, count)) in self.columns.iter().zip(counts).enumerate() {
            if is_negative(*count) {
                return doubt(Some(at), Why::Backwards, count.wrapping_neg(), 0);
            }
            let most = kind.most_in(time).filter(|most| self.timed && count > most);
            if let Some(most) = most {
                return doubt(Some(at), Why::TooMany, *count, most);
            }
        }
        let (retired, running) = self.pair?;
        let (instructions, cycles) = (*counts.get(retired)?, *counts.get(running)?);
        if instructions > cycles.saturating_add(EDGES).saturating_mul(WIDTH) {
            return doubt(Some(retired), Why::TooFast, instructions, cycles);
        }
        if instructions == 0 && cycles >= MANY {
            return doubt(Some(retired), Why::Still, 0, cycles);
        }
        None
    }
}

impl Kind {
    /// The limit of a count in so many ticks, if they are one.
    fn most_in(self, ticks: u64) -> Option<u64> {
        let cycles = ticks.saturating_add(EDGES).saturating_mul(CYCLES_A_TICK);
        match self {
            Kind::Cycles => Some(cycles),
            Kind::Instructions => Some(cycles.saturating_mul(WIDTH)),
            Kind::Hardware => Some(cycles.saturating_mul(OCCURRENCES_A_CYCLE)),
            Kind::Kernel => None,
        }
    }
}

/// A difference of two readings whose second is the lower one: no counter runs for 2^63.
fn is_negative(difference: u64) -> bool {
    difference > i64::MAX as u64
}

impl Doubt {
    /// As words that others may read.
    pub(crate) fn to_words(self) -> [u64; 3] {
        let why = WHYS.iter().position(|why| *why == self.why).unwrap_or(0) as u64;
        [self.column.map_or(0, |column| column as u64 + 1) << 8 | why, self.value, self.limit]
    }

    /// The inverse of [`to_words`](Self::to_words).
    pub(crate) fn from_words([what, value, limit]: [u64; 3]) -> Doubt {
        let column = (what >> 8).checked_sub(1).map(|column| column as usize);
        let why = WHYS[(what & 0xff) as usize % WHYS.len()];
        Doubt { column, why, value, limit }
    }

    /// In words, of the event `name`, with ticks as nanoseconds.
    pub(crate) fn says<'a>(
        &'a self,
        name: &'a str,
        nanos: impl Fn(u64) -> u64 + 'a,
    ) -> impl fmt::Display + 'a {
        struct Says<F>(F);
        impl<F: Fn(&mut fmt::Formatter<'_>) -> fmt::Result> fmt::Display for Says<F> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (self.0)(f)
            }
        }
        let Doubt { column, why, value, limit } = *self;
        Says(move |f: &mut fmt::Formatter<'_>| match (column, why) {
            (None, Why::Backwards) => write!(f, "its time went backwards by {} ns", nanos(value)),
            (None, _) => write!(f, "it began {} ns before its thread attached", nanos(limit)),
            (_, Why::Backwards) => write!(f, "{name} went backwards by {value}"),
            (_, Why::TooFast) => {
                write!(f, "{name} came to {value} in {limit} CYCLES, which cannot retire so many")
            }
            (_, Why::Still) => write!(f, "{name} stood still over {limit} CYCLES"),
            (_, _) => write!(f, "{name} came to {value}, and its time allows {limit} at most"),
        })
    }
}

/// Why counts of `events` (name, unit, whether the hardware counts it) over `nanoseconds` cannot
/// be right, in words; `None` if they can.
///
/// Reports of sessions judge each execution so, and name what they set aside
/// ([`PhaseReport::implausible`](crate::report::PhaseReport::implausible)). The bounds are
/// generous: ten cycles a nanosecond, sixteen instructions a cycle.
///
/// ```
/// use pacman_core::report::implausible;
/// let cycles = [("CYCLES", "cycles", true)];
/// assert_eq!(implausible(&cycles, 1_000_000, &[3_000_000]), None);
/// let garbage = implausible(&cycles, 66_000_000, &[2_200_000_000_000]).unwrap();
/// assert!(garbage.starts_with("CYCLES came to 2200000000000, and its time allows "));
/// ```
pub fn implausible(
    events: &[(&str, &str, bool)],
    nanoseconds: u64,
    counts: &[u64],
) -> Option<String> {
    let doubt = Limits::of(events.iter().copied(), 0, true).judge(0..nanoseconds, counts)?;
    let name = doubt.column.and_then(|column| events.get(column)).map_or("", |event| event.0);
    Some(doubt.says(name, |ticks| ticks).to_string())
}

/// Whether a thread's clock counted more than `time`, both in nanoseconds.
///
/// Counters are read outside of the interval that the wall clock measures, so a clock's count
/// contains a part of the reading. Two clocks may also differ by up to one percent.
pub(crate) fn exceeds(count: u128, time: u128) -> bool {
    count.saturating_mul(100) > time.saturating_mul(101)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const EVENTS: [(&str, &str, bool); 4] = [
        ("INSTRUCTIONS", "instructions", true),
        ("CYCLES", "cycles", true),
        ("CACHE_MISSES", "accesses", true),
        ("task-clock", "ns", false),
    ];

    #[test]
    fn each_kind_of_impossible_value_is_told_apart() {
        let limits = Limits::of(EVENTS.iter().copied(), 1_000, true);
        let judged =
            |ticks, counts: [u64; 4]| limits.judge(ticks, &counts).map(|d| (d.column, d.why));
        let hour = 5_000..10_000_000_000_000;
        assert_eq!(judged(hour.clone(), [40 << 40, 30 << 40, 1 << 40, 3_600_000_000_000]), None);
        assert_eq!(judged(5_000..5_000, [0, 0, 0, 0]), None, "a coarse clock");
        for (ticks, counts, expected) in [
            (Range { start: 9_000, end: 8_999 }, [1, 1, 0, 0], (None, Why::Backwards)),
            (999..8_999, [1, 1, 0, 0], (None, Why::BeforeLife)),
            (5_000..6_000, [5, 1_046_036u64.wrapping_neg(), 0, 0], (Some(1), Why::Backwards)),
            (5_000..6_000, [5, 1 << 40, 0, 0], (Some(1), Why::TooMany)),
            (5_000..6_000, [5, 9, 1 << 39, 0], (Some(2), Why::TooMany)),
            (5_000..6_000, [5, 9, 0, 7u64.wrapping_neg()], (Some(3), Why::Backwards)),
            (hour.clone(), [1 << 40, 1 << 30, 0, 0], (Some(0), Why::TooFast)),
            (hour.clone(), [0, 1 << 30, 0, 0], (Some(0), Why::Still)),
        ] {
            assert_eq!(judged(ticks.clone(), counts), Some(expected), "{ticks:?} {counts:?}");
        }
    }

    /// The hypervisor had the processor for 22 ms between the reading of the clock and that of the ticks.
    #[test]
    fn a_clock_runs_on_while_a_hypervisor_has_the_processor() {
        let limits = Limits::of(EVENTS.iter().copied(), 1_000, true);
        for taken in [21_979_101, 1_000_000_000, 60_000_000_000] {
            assert_eq!(limits.judge(5_000..6_274, &[0, 0, 0, taken]), None);
        }
        assert!(
            limits.judge(5_000..6_274, &[0, 21_979_101, 0, 0]).is_some(),
            "cycles stand still then"
        );
    }

    #[test]
    fn a_doubt_comes_back_from_its_words() {
        for why in WHYS {
            for column in [None, Some(0), Some(23)] {
                let doubt = Doubt { column, why, value: u64::MAX, limit: 7 };
                assert_eq!(Doubt::from_words(doubt.to_words()), doubt);
            }
        }
    }

    #[test]
    fn modes_that_differ_are_no_pair() {
        let events = [("INSTRUCTIONS:k", "", true), ("CYCLES", "", true)];
        assert_eq!(implausible(&events, 1_000_000_000, &[1 << 30, 0]), None);
        let events = [("INSTRUCTIONS:k", "", true), ("CYCLES:k", "", true)];
        assert!(
            implausible(&events, 1_000_000_000, &[1 << 30, 0]).unwrap().contains("in 0 CYCLES")
        );
    }
}
