//! Measures the core's speed by a chain of dependent additions.

/// Additions in one chain; they take some microseconds.
pub(super) const ADDITIONS: u64 = 4_096;

/// The speed of the core while a section was timed, in ticks per dependent addition.
///
/// On most processors an addition takes one core cycle, so this is the TSC's rate over the core's
/// frequency. On NetBurst it takes half a cycle. Only changes of the pace matter here.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Pace {
    /// Ticks per addition when the core was fastest.
    pub fastest: f64,
    /// Ticks per addition when it was slowest.
    pub slowest: f64,
}

impl Pace {
    /// The pace from the ticks of the shortest and of the longest chain.
    pub(super) fn of_chains((shortest, longest): (u64, u64)) -> Pace {
        let each = |ticks: u64| ticks as f64 / ADDITIONS as f64;
        Pace { fastest: each(shortest), slowest: each(longest) }
    }

    /// The slowest pace over the fastest, less 1; 0 for a constant frequency.
    pub fn drift(&self) -> f64 {
        self.slowest / self.fastest - 1.0
    }
}

/// Whether two timings of a chain have different frequencies. Frequencies change in steps of 100
/// MHz or 25 MHz. A step of 100 MHz is 2 % up to 5 GHz, and repeated chains differ by less.
pub(super) fn differ(one: u64, other: u64) -> bool {
    let (short, long) = (one.min(other) as f64, one.max(other) as f64);
    long > short * (1.0 + TOLERANCE)
}

/// The part by which a constant frequency may appear to change.
pub(super) const TOLERANCE: f64 = 0.02;

/// Ticks of a chain: the minimum of three, because an interruption only adds ticks.
#[cfg(target_arch = "x86_64")]
pub(super) fn ticks(now: impl Fn() -> u64) -> u64 {
    let chain = || {
        let start = now();
        add();
        now().saturating_sub(start)
    };
    (0..3).map(|_| chain()).min().expect("three chains").max(1)
}

/// Adds registers, not a constant: some processors add constants before they execute.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn add() {
    // SAFETY: changes the named registers and the flags, and nothing else.
    unsafe {
        std::arch::asm!(
            "2:",
            ".rept 64",
            "add {sum}, {step}",
            ".endr",
            "dec {left}",
            "jnz 2b",
            sum = inout(reg) 0u64 => _,
            step = in(reg) 1u64,
            left = inout(reg) ADDITIONS / 64 => _,
            options(nomem, nostack),
        );
    }
}
