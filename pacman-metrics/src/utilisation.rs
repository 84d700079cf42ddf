//! Utilisation and frequency of a context, and the kernel's part of its time.
//!
//! From John McCalpin, *Comments on timing short code sections on Intel processors*, 2018. The
//! article recommends four values for every section: TSC, instructions, core cycles and reference
//! cycles. If counters can be programmed, it adds instructions and cycles in kernel mode. It also
//! has rules to discard a measurement.

use crate::definition::Definition;
use crate::error::{Error, Result, not_computable};

/// The definitions of these metrics.
pub const DEFINITIONS: &[Definition] = &[
    Definition {
        name: "core-utilisation",
        unit: "1",
        formula: "REF_CYCLES / TSC",
        needs: &["REF_CYCLES", "TSC"],
        source: SOURCE,
    },
    Definition {
        name: "frequency-unhalted",
        unit: "Hz",
        formula: "CYCLES / REF_CYCLES * base frequency",
        needs: &["CYCLES", "REF_CYCLES", "the base frequency"],
        source: SOURCE,
    },
    Definition {
        name: "frequency-net",
        unit: "Hz",
        formula: "CYCLES / TSC * base frequency",
        needs: &["CYCLES", "TSC", "the base frequency"],
        source: SOURCE,
    },
    Definition {
        name: "instructions-of-expected",
        unit: "1",
        formula: "INSTRUCTIONS / instructions expected",
        needs: &["INSTRUCTIONS", "the number expected"],
        source: SOURCE,
    },
    Definition {
        name: "kernel-instructions",
        unit: "1",
        formula: "INSTRUCTIONS:k / INSTRUCTIONS",
        needs: &["INSTRUCTIONS:k", "INSTRUCTIONS"],
        source: SOURCE,
    },
    Definition {
        name: "kernel-cycles",
        unit: "1",
        formula: "CYCLES:k / CYCLES",
        needs: &["CYCLES:k", "CYCLES"],
        source: SOURCE,
    },
];

const SOURCE: &str = "McCalpin 2018 (timing short code sections), list of metrics at the end";

/// The counts of one context while a section of code ran.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Section {
    /// Ticks of the TSC, which runs at the base frequency.
    pub tsc: u64,
    /// Instructions, in both modes.
    pub instructions: u64,
    /// Core cycles while not halted, in both modes.
    pub cycles: u64,
    /// Reference cycles while not halted.
    pub reference: u64,
    /// The kernel's part, if it was counted.
    pub kernel: Option<KernelPart>,
    /// The number of instructions that the section should execute, if it is known.
    pub expected: Option<u64>,
}

/// The kernel's part of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelPart {
    /// Instructions in kernel mode.
    pub instructions: u64,
    /// Core cycles in kernel mode.
    pub cycles: u64,
}

/// The figures of a section.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Utilisation {
    /// The part of the time that the context was not halted.
    pub core: f64,
    /// The average frequency while the context was not halted, in Hz.
    pub unhalted_hz: f64,
    /// Cycles per second of the whole time, including halted time, in Hz.
    pub net_hz: f64,
    /// Executed instructions over expected ones.
    pub of_expected: Option<f64>,
    /// The kernel's part of the instructions.
    pub kernel_instructions: Option<f64>,
    /// The kernel's part of the cycles.
    pub kernel_cycles: Option<f64>,
    /// The length of the section in seconds.
    pub seconds: f64,
    /// The reasons to doubt the measurement.
    pub flags: Vec<Flag>,
}

/// A reason to doubt a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Flag {
    /// The context was halted for a part of the section. It changed its frequency, switched on
    /// parts of the pipeline, or waited.
    Halted,
    /// The kernel ran inside a section shorter than a millisecond: discard it.
    KernelInShortSection,
    /// The kernel did at least a hundredth of the work of a section that should not call it.
    KernelShare,
    /// More instructions than expected: an interrupt, or another thread on this context.
    MoreInstructions,
}

impl Flag {
    /// Whether the article's rules discard the measurement.
    pub fn discards(self) -> bool {
        self == Flag::KernelInShortSection
    }

    /// The flag in words.
    pub fn text(self) -> &'static str {
        match self {
            Flag::Halted => "the context was halted for a part of the time",
            Flag::KernelInShortSection => "the kernel ran inside a section below a millisecond",
            Flag::KernelShare => "the kernel did a hundredth or more of the work",
            Flag::MoreInstructions => "more instructions than expected",
        }
    }
}

impl Utilisation {
    /// Computes the figures of `section` on a processor with that base frequency.
    ///
    /// # Errors
    /// [`ErrorKind::NotComputable`](crate::ErrorKind::NotComputable) without time, instructions,
    /// cycles or base frequency; if the context ran longer than the time; or if the kernel has more
    /// counts than both modes together.
    ///
    /// ```
    /// use pacman_metrics::utilisation::{Section, Utilisation};
    /// // 100 µs at a base of 2.7 GHz: halted for 4 of them, at 3.1 GHz in the others.
    /// let section = Section {
    ///     tsc: 270_000,
    ///     instructions: 500_000,
    ///     cycles: 297_600,
    ///     reference: 259_200,
    ///     kernel: None,
    ///     expected: None,
    /// };
    /// let found = Utilisation::of(&section, 2.7e9)?;
    /// assert_eq!(found.core, 0.96);
    /// assert_eq!((found.unhalted_hz / 1e6).round(), 3100.0);
    /// assert_eq!((found.net_hz / 1e6).round(), 2976.0);
    /// # Ok::<(), pacman_metrics::Error>(())
    /// ```
    pub fn of(section: &Section, base_hz: f64) -> Result<Utilisation> {
        let Section { tsc, instructions, cycles, reference, kernel, expected } = *section;
        if !(base_hz.is_finite() && base_hz > 0.0) {
            return Err(refused("the base frequency is not known"));
        }
        for (count, why) in [
            (tsc, "no time passed on the TSC"),
            (instructions, "no instruction was counted"),
            (cycles, "no cycle was counted"),
            (reference, "no reference cycle was counted"),
        ] {
            if count == 0 {
                return Err(refused(why));
            }
        }
        // The fixed counter grows in steps, and one step may lie just outside of the section.
        let core = reference as f64 / tsc as f64;
        if reference > tsc.saturating_add(LONGEST_STEP) {
            return Err(refused(format_args!(
                "{reference} reference cycles do not fit {tsc} ticks of the TSC",
            )));
        }
        if let Some(kernel) = kernel {
            if kernel.instructions > instructions || kernel.cycles > cycles {
                return Err(refused("the kernel counts more than both modes together"));
            }
        }
        let seconds = tsc as f64 / base_hz;
        let part = |own: u64, all: u64| own as f64 / all as f64;
        let mut found = Utilisation {
            core,
            unhalted_hz: part(cycles, reference) * base_hz,
            net_hz: part(cycles, tsc) * base_hz,
            of_expected: expected.filter(|&count| count > 0).map(|count| part(instructions, count)),
            kernel_instructions: kernel.map(|kernel| part(kernel.instructions, instructions)),
            kernel_cycles: kernel.map(|kernel| part(kernel.cycles, cycles)),
            seconds,
            flags: Vec::new(),
        };
        found.flags = found.flagged(reference.saturating_add(LONGEST_STEP) < tsc);
        Ok(found)
    }

    /// Whether the article's rules discard the measurement.
    pub fn is_discarded(&self) -> bool {
        self.flags.iter().any(|flag| flag.discards())
    }

    fn flagged(&self, beyond_a_step: bool) -> Vec<Flag> {
        let kernel = [self.kernel_instructions, self.kernel_cycles];
        let most = kernel.into_iter().flatten().fold(0.0, f64::max);
        let short = self.seconds < SHORT;
        let mut flags = Vec::new();
        let mut flag = |raised: bool, flag: Flag| {
            if raised {
                flags.push(flag);
            }
        };
        flag(self.core < FULL && beyond_a_step, Flag::Halted);
        flag(short && most > 0.0, Flag::KernelInShortSection);
        flag(!short && most >= LARGE, Flag::KernelShare);
        flag(self.of_expected.is_some_and(|times| times > 1.0 + LARGE), Flag::MoreInstructions);
        flags
    }
}

#[cold]
fn refused(because: impl std::fmt::Display) -> Error {
    not_computable("the utilisation of the section", because)
}

/// Seconds. The kernel should not run in a shorter section.
pub(super) const SHORT: f64 = 1e-3;

/// "Very close to 1": a halt of 6 µs, the shortest that the article saw, in a millisecond.
const FULL: f64 = 0.994;

/// "Well below a hundredth" is fine.
const LARGE: f64 = 0.01;

/// More ticks than a step of the fixed counter on any processor: 40 ns at 5 GHz are 200.
pub(super) const LONGEST_STEP: u64 = 200;
