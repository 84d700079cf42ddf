//! Rules to discard disturbed measurements of short sections.
//!
//! Readings before and after a section show what disturbed it. The rules are those of John
//! McCalpin, *Comments on timing short code sections on Intel processors*, 2018. The figures of a section
//! are metrics of the [`language`](crate::language), such as `core-utilisation`; these rules are no
//! formula, because they answer with reasons. Each rule that cannot be checked, because a value was not
//! read, is listed.

use crate::language::named;
use crate::not_computable::not_computable;
use pacman_events::{Error, Result};

/// The totals at one end of a section. They only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Ticks of the TSC.
    pub tsc: u64,
    /// Nanoseconds of the system's clock.
    pub nanos: Option<u64>,
    /// The logical CPU.
    pub cpu: Option<u32>,
    /// The counters, if there are any.
    pub counts: Option<Counts>,
    /// Switches of the thread, voluntary or not.
    pub switches: Option<u64>,
    /// Page faults of the thread.
    pub faults: Option<u64>,
    /// Interrupts of the CPU.
    pub interrupts: Option<u64>,
}

/// The counters at one end of a section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Instructions, in both modes.
    pub instructions: u64,
    /// Core cycles while not halted, in both modes.
    pub cycles: u64,
    /// Reference cycles while not halted.
    pub reference: u64,
    /// The kernel's part, if it was counted.
    pub kernel: Option<KernelPart>,
}

/// The kernel's part of the counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelPart {
    /// Instructions in kernel mode.
    pub instructions: u64,
    /// Core cycles in kernel mode.
    pub cycles: u64,
}

/// A reason to doubt a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Flag {
    /// A total is smaller at the end than at the begin: a counter was reset or wrapped, or the two
    /// readings are of different CPUs. Then no other check is made.
    NonMonotonic,
    /// The section ended on another CPU.
    Migrated,
    /// Another thread ran, or this one waited.
    Switched,
    /// The kernel handled page faults.
    Faulted,
    /// The CPU took an interrupt.
    Interrupted,
    /// The TSC and the system's clock disagree about the length of the section.
    ClocksDisagree,
    /// More reference cycles than ticks: the counter and the TSC belong to different sections.
    MoreThanTime,
    /// The kernel counts more than both modes together.
    KernelBeyondAll,
    /// The context was halted for a part of the section. It changed its frequency, switched on
    /// parts of the pipeline, or waited.
    Halted,
    /// The kernel ran inside a section shorter than a millisecond: discard it.
    KernelInShortSection,
    /// The kernel did at least a hundredth of the work of a section that should not call it.
    KernelShare,
}

/// A rule that could not be applied, by the value that was not read at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Unchecked {
    /// The system's clock.
    Clock,
    /// The CPU.
    Cpu,
    /// The counters.
    Counts,
    /// The kernel's part of the counts.
    Kernel,
    /// Switches.
    Switches,
    /// Faults.
    Faults,
    /// Interrupts.
    Interrupts,
}

/// The quality of the section between two readings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Quality {
    /// The reasons to doubt the section, in order, without duplicates.
    pub flags: Vec<Flag>,
    /// The checks that could not be made.
    pub unchecked: Vec<Unchecked>,
    /// Whether the section took less than a millisecond. The kernel should not run in so short a
    /// time.
    pub short: bool,
}

impl Flag {
    /// Whether this flag discards a short section, or a longer one.
    fn discards(self, short: bool) -> bool {
        match self {
            // They are to be explained.
            Flag::Halted | Flag::KernelShare => false,
            // In a longer section the timer interrupts, so the kernel's part of the counts decides.
            Flag::Faulted | Flag::Interrupted => short,
            _ => true,
        }
    }

    /// The flag in words.
    pub fn text(self) -> &'static str {
        match self {
            Flag::NonMonotonic => "a total went back",
            Flag::Migrated => "the thread moved to another CPU",
            Flag::Switched => "the thread waited, or another one ran",
            Flag::Faulted => "the kernel handled a page fault",
            Flag::Interrupted => "the CPU took an interrupt",
            Flag::ClocksDisagree => "the TSC and the system's clock disagree",
            Flag::MoreThanTime => "more reference cycles than time",
            Flag::KernelBeyondAll => "the kernel counts more than both modes together",
            Flag::Halted => "the context was halted for a part of the time",
            Flag::KernelInShortSection => "the kernel ran inside a section below a millisecond",
            Flag::KernelShare => "the kernel did a hundredth or more of the work",
        }
    }
}

impl Quality {
    /// Whether to discard the measurement.
    pub fn discards(&self) -> bool {
        self.flags.iter().any(|flag| flag.discards(self.short))
    }
}

/// Returns the reasons to doubt the section between two readings, on a processor whose TSC ticks at
/// `base_hz`.
///
/// # Errors
/// [`ErrorKind::NotComputable`](pacman_events::ErrorKind::NotComputable) without a base frequency, and if
/// no tick passed.
///
/// ```
/// use pacman_metrics::quality::{Flag, Reading, check};
/// let begin = Reading { tsc: 1_000, nanos: Some(500), cpu: Some(3), ..Reading::default() };
/// let end = Reading { tsc: 3_000, nanos: Some(1_500), cpu: Some(4), ..Reading::default() };
/// let quality = check(&begin, &end, 2e9)?;
/// assert_eq!(quality.flags, [Flag::Migrated]);
/// assert!(quality.discards());
/// # Ok::<(), pacman_metrics::Error>(())
/// ```
pub fn check(begin: &Reading, end: &Reading, base_hz: f64) -> Result<Quality> {
    if !(base_hz.is_finite() && base_hz > 0.0) {
        return Err(refused("the base frequency is not known"));
    }
    if begin.tsc == end.tsc {
        return Err(refused("no time passed on the TSC"));
    }
    let Some(passed) = Passed::between(begin, end) else {
        return Ok(Quality { flags: vec![Flag::NonMonotonic], ..Quality::default() });
    };
    let short = passed.tsc as f64 / base_hz < SHORT;
    let mut quality = Quality { short, ..Quality::default() };
    quality.thread(begin, end, &passed);
    quality.clocks(&passed, base_hz);
    quality.counts(&passed)?;
    quality.flags.sort_unstable();
    quality.unchecked.sort_unstable();
    Ok(quality)
}

/// Differences of two readings, if both have the value.
struct Passed {
    tsc: u64,
    nanos: Option<u64>,
    counts: Option<Counts>,
    switches: Option<u64>,
    faults: Option<u64>,
    interrupts: Option<u64>,
}

impl Passed {
    /// `None` if any total decreased.
    fn between(begin: &Reading, end: &Reading) -> Option<Passed> {
        Some(Passed {
            tsc: end.tsc.checked_sub(begin.tsc)?,
            nanos: grown(begin.nanos, end.nanos)?,
            counts: match (begin.counts, end.counts) {
                (Some(begin), Some(end)) => Some(Counts::between(&begin, &end)?),
                _ => None,
            },
            switches: grown(begin.switches, end.switches)?,
            faults: grown(begin.faults, end.faults)?,
            interrupts: grown(begin.interrupts, end.interrupts)?,
        })
    }
}

impl Counts {
    fn between(begin: &Counts, end: &Counts) -> Option<Counts> {
        Some(Counts {
            instructions: end.instructions.checked_sub(begin.instructions)?,
            cycles: end.cycles.checked_sub(begin.cycles)?,
            reference: end.reference.checked_sub(begin.reference)?,
            kernel: match (begin.kernel, end.kernel) {
                (Some(begin), Some(end)) => Some(KernelPart {
                    instructions: end.instructions.checked_sub(begin.instructions)?,
                    cycles: end.cycles.checked_sub(begin.cycles)?,
                }),
                _ => None,
            },
        })
    }
}

/// The growth of a total, if both ends have it. The outer `None` means that it decreased.
fn grown(begin: Option<u64>, end: Option<u64>) -> Option<Option<u64>> {
    match (begin, end) {
        (Some(begin), Some(end)) => end.checked_sub(begin).map(Some),
        _ => Some(None),
    }
}

impl Quality {
    fn thread(&mut self, begin: &Reading, end: &Reading, passed: &Passed) {
        let moved = begin.cpu.zip(end.cpu).map(|(begin, end)| u64::from(begin != end));
        for (happened, flag, rule) in [
            (moved, Flag::Migrated, Unchecked::Cpu),
            (passed.switches, Flag::Switched, Unchecked::Switches),
            (passed.faults, Flag::Faulted, Unchecked::Faults),
            (passed.interrupts, Flag::Interrupted, Unchecked::Interrupts),
        ] {
            match happened {
                Some(0) => {}
                Some(_) => self.flags.push(flag),
                None => self.unchecked.push(rule),
            }
        }
    }

    fn clocks(&mut self, passed: &Passed, base_hz: f64) {
        let Some(nanos) = passed.nanos else {
            self.unchecked.push(Unchecked::Clock);
            return;
        };
        let (wall, by_tsc) = (nanos as f64, passed.tsc as f64 / base_hz * 1e9);
        if (wall - by_tsc).abs() > APART_NANOS + DISAGREEMENT * wall.max(by_tsc) {
            self.flags.push(Flag::ClocksDisagree);
        }
    }

    fn counts(&mut self, passed: &Passed) -> Result<()> {
        let Some(counts) = passed.counts else {
            self.unchecked.push(Unchecked::Counts);
            self.unchecked.push(Unchecked::Kernel);
            return Ok(());
        };
        for (count, why) in [
            (counts.instructions, "no instruction was counted"),
            (counts.cycles, "no cycle was counted"),
            (counts.reference, "no reference cycle was counted"),
        ] {
            if count == 0 {
                return Err(refused(why));
            }
        }
        if counts.kernel.is_none() {
            self.unchecked.push(Unchecked::Kernel);
        }
        let value = |name: &str| {
            let metric = named(name).expect("it is built in");
            metric.value(|event| match event {
                "TSC" => Some(passed.tsc),
                "REF_CYCLES:uk" => Some(counts.reference),
                "INSTRUCTIONS:uk" => Some(counts.instructions),
                "CYCLES:uk" => Some(counts.cycles),
                "INSTRUCTIONS:k" => counts.kernel.map(|kernel| kernel.instructions),
                "CYCLES:k" => counts.kernel.map(|kernel| kernel.cycles),
                _ => None,
            })
        };
        // The fixed counter grows in steps, and one step may lie just outside of the section.
        if counts.reference > passed.tsc.saturating_add(LONGEST_STEP) {
            self.flags.push(Flag::MoreThanTime);
        } else if counts.reference.saturating_add(LONGEST_STEP) < passed.tsc
            && value("core-utilisation")? < FULL
        {
            self.flags.push(Flag::Halted);
        }
        if counts.kernel.is_none() {
            return Ok(());
        }
        match [value("kernel-instructions"), value("kernel-cycles")] {
            [Ok(instructions), Ok(cycles)] => match instructions.max(cycles) {
                most if self.short && most > 0.0 => self.flags.push(Flag::KernelInShortSection),
                most if !self.short && most >= LARGE => self.flags.push(Flag::KernelShare),
                _ => {}
            },
            // A part is at most the whole.
            _ => self.flags.push(Flag::KernelBeyondAll),
        }
        Ok(())
    }
}

#[cold]
fn refused(because: &str) -> Error {
    not_computable("whether to discard the section", because)
}

/// Nanoseconds by which the two clocks may differ, because they are read one after the other at both
/// ends.
const APART_NANOS: f64 = 200.0;

/// The relative difference that a slewed clock and a rounded base frequency may cause.
const DISAGREEMENT: f64 = 0.01;

/// Seconds. The kernel should not run in a shorter section.
const SHORT: f64 = 1e-3;

/// "Very close to 1": a halt of 6 µs, the shortest that the article saw, in a millisecond.
const FULL: f64 = 0.994;

/// "Well below a hundredth" is fine.
const LARGE: f64 = 0.01;

/// More ticks than a step of the fixed counter on any processor: 40 ns at 5 GHz are 200.
const LONGEST_STEP: u64 = 200;
