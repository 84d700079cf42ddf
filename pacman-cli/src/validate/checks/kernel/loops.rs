//! Counted loops in assembly.

use std::arch::asm;

use super::random::SplitMix;
use super::work::{Kernel, Work};
use crate::validate::checks::around::Around;
use crate::validate::checks::catalogue::KernelId;
use crate::validate::checks::verdict::Truth;
use pacman_core::Result;

/// A loop of which one round does a known number of things.
#[derive(Debug)]
pub(super) struct Loop {
    body: fn(u64),
    rounds: u64,
    each: Truth,
}

impl Loop {
    /// The loop of this name.
    pub(super) fn of(id: KernelId) -> Loop {
        let exactly =
            |body: fn(u64), rounds, each| Loop { body, rounds, each: Truth::exactly(each) };
        match id {
            KernelId::Branches => exactly(two_branches, 200_000, 2),
            KernelId::TakenBranches => exactly(two_branches, 200_000, 1),
            KernelId::Loads => exactly(eight_loads, 50_000, 8),
            KernelId::Stores => exactly(eight_stores, 50_000, 8),
            KernelId::FloatingPoint => exactly(eight_additions, 50_000, 8),
            KernelId::DependentAdds => {
                // Every sum waits for the one before; the loop's own two instructions
                // run beside them, or cost the few cycles that are allowed.
                Loop { body: chained_adds, rounds: 10_000, each: Truth { low: 64, high: 67 } }
            }
            _ => exactly(two_instructions, 500_000, 2),
        }
    }

    /// The same with a few rounds, so that a test can step through each instruction.
    #[cfg(test)]
    pub(super) fn shortened(self, rounds: u64) -> Loop {
        Loop { rounds, ..self }
    }
}

impl Kernel for Loop {
    fn run(&mut self, work: Work) -> Result<()> {
        // Never no round, which a loop that counts down would take for 2^64.
        (self.body)(1 + work.of(self.rounds));
        Ok(())
    }

    fn truth(&self, _: &Around) -> Truth {
        Truth { low: self.rounds * self.each.low, high: self.rounds * self.each.high }
    }
}

/// Two instructions a round.
#[inline(never)]
pub(super) fn two_instructions(rounds: u64) {
    // SAFETY: counts a register down and touches nothing else.
    unsafe {
        asm!("2:", "dec {n}", "jnz 2b", n = inout(reg) rounds => _, options(nomem, nostack));
    }
}

/// A branch that is not taken and one that is.
#[inline(never)]
fn two_branches(rounds: u64) {
    // SAFETY: counts a register down and touches nothing else.
    unsafe {
        asm!("clc", "2:", "jc 3f", "dec {n}", "jnz 2b", "3:",
            n = inout(reg) rounds => _, options(nomem, nostack));
    }
}

/// The target of loads and stores: one line.
#[repr(align(64))]
struct Line([u64; 8]);

#[inline(never)]
fn eight_loads(rounds: u64) {
    let line = Line([0; 8]);
    // SAFETY: reads the eight words of a live line, and counts a register down.
    unsafe {
        asm!("2:",
            "mov {to}, [{line}]", "mov {to}, [{line} + 8]",
            "mov {to}, [{line} + 16]", "mov {to}, [{line} + 24]",
            "mov {to}, [{line} + 32]", "mov {to}, [{line} + 40]",
            "mov {to}, [{line} + 48]", "mov {to}, [{line} + 56]",
            "dec {n}", "jnz 2b",
            n = inout(reg) rounds => _, to = out(reg) _, line = in(reg) line.0.as_ptr(),
            options(nostack, readonly));
    }
}

#[inline(never)]
fn eight_stores(rounds: u64) {
    let mut line = Line([0; 8]);
    // SAFETY: writes the eight words of a live line, and counts a register down.
    unsafe {
        asm!("2:",
            "mov [{line}], {n}", "mov [{line} + 8], {n}",
            "mov [{line} + 16], {n}", "mov [{line} + 24], {n}",
            "mov [{line} + 32], {n}", "mov [{line} + 40], {n}",
            "mov [{line} + 48], {n}", "mov [{line} + 56], {n}",
            "dec {n}", "jnz 2b",
            n = inout(reg) rounds => _, line = in(reg) line.0.as_mut_ptr(),
            options(nostack));
    }
}

#[inline(never)]
fn eight_additions(rounds: u64) {
    // SAFETY: adds zeros in registers, which is exact and raises no exception, and
    // counts a register down.
    unsafe {
        asm!("2:",
            "addsd {a}, {z}", "addsd {b}, {z}", "addsd {c}, {z}", "addsd {d}, {z}",
            "addsd {a}, {z}", "addsd {b}, {z}", "addsd {c}, {z}", "addsd {d}, {z}",
            "dec {n}", "jnz 2b",
            n = inout(reg) rounds => _,
            a = inout(xmm_reg) 0.0f64 => _, b = inout(xmm_reg) 0.0f64 => _,
            c = inout(xmm_reg) 0.0f64 => _, d = inout(xmm_reg) 0.0f64 => _,
            z = in(xmm_reg) 0.0f64, options(nomem, nostack));
    }
}

/// Sixty-four sums a round, each of the one before.
#[inline(never)]
fn chained_adds(rounds: u64) {
    // SAFETY: adds in registers, and counts one down.
    unsafe {
        asm!("2:", ".rept 64", "add {sum}, {step}", ".endr", "dec {n}", "jnz 2b",
            n = inout(reg) rounds => _, sum = inout(reg) 0u64 => _, step = in(reg) 3u64,
            options(nomem, nostack));
    }
}

/// Coin tosses of one run.
const TOSSES: usize = 1 << 16;

/// Unpredictable branches.
#[derive(Debug)]
pub(super) struct Mispredictions {
    random: SplitMix,
    tosses: Vec<u8>,
}

impl Mispredictions {
    pub(super) fn new() -> Mispredictions {
        // One more than is counted: the short work's.
        Mispredictions { random: SplitMix::fresh(), tosses: vec![0; TOSSES + 1] }
    }
}

impl Kernel for Mispredictions {
    fn prepare(&mut self) -> Result<()> {
        for eight in self.tosses.chunks_mut(8) {
            let bits = self.random.next();
            for (number, toss) in eight.iter_mut().enumerate() {
                *toss = (bits >> (8 * number)) as u8 & 1;
            }
        }
        Ok(())
    }

    fn run(&mut self, work: Work) -> Result<()> {
        let tosses = &self.tosses[..=work.of(TOSSES as u64) as usize];
        // SAFETY: reads as many bytes as the slice has.
        unsafe {
            asm!("2:", "cmp byte ptr [{at}], 0", "je 3f", "nop", "3:", "inc {at}",
                "dec {n}", "jnz 2b",
                n = inout(reg) tosses.len() => _, at = inout(reg) tosses.as_ptr() => _,
                options(nostack, readonly));
        }
        Ok(())
    }

    fn truth(&self, _: &Around) -> Truth {
        let (mean, deviation) = (TOSSES as u64 / 2, (TOSSES as f64).sqrt() / 2.0);
        let five = (5.0 * deviation) as u64;
        Truth { low: mean - five, high: mean + five }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tosses_are_fair_and_fresh() {
        let mut kernel = Mispredictions::new();
        kernel.prepare().unwrap();
        let before = kernel.tosses.clone();
        kernel.prepare().unwrap();
        let heads: u64 = kernel.tosses.iter().map(|toss| u64::from(*toss)).sum();
        // The same bound as for mispredictions, and for the same reason.
        assert!((32_768 - 640..=32_768 + 641).contains(&heads), "{heads}");
        let same = kernel.tosses.iter().zip(&before).filter(|(a, b)| a == b).count() as u64;
        assert!((32_768 - 640..=32_768 + 641).contains(&same), "{same} as the run before");
    }
}
