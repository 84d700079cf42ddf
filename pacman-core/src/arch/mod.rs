//! The parts of this library that depend on the processor's architecture, one module for each.
//!
//! | item | meaning |
//! |---|---|
//! | `Register` | a hardware counter, in the words of the instruction that reads it |
//! | `RawCount` | that instruction's answer, and its extension from a counter's width |
//! | `read_counter`, `read_counters` | the instruction, and several one after the other |
//! | `WIDTH`, `OTHER_WIDTH` | the usual widths of counters, for which reads are compiled |
//! | `READS_AHEAD` | whether a read of counters keeps all that it knows in registers |
//! | `user_reads` | how a thread gets leave to read its counters, by `kernel.perf_user_access` |
//! | `shares_cycle_counter` | whether siblings share the counter on which that kernel counts cycles |
//! | `ticks`, `ticks_per_second` | the clock that user programs read, and its rate if the processor states it |
//! | `CLOCK_SOURCE` | what Linux calls that clock; `None` where [`ClockSource::Tsc`](crate::clock::ClockSource) is refused |
//! | `FloatingPoint` | the state of floating-point arithmetic, exchanged for the usual one |
//! | `PAGE` | the largest page of a kernel: bytes from one counter page to the next |
//! | `read_call` | `read(2)` without a cancellation point |
//! | `made` | keeps the compiler from delaying or repeating a computation |
//!
//! Nothing else in this library asks for the architecture, but for CPUID (`platform::cpuid`) and the
//! registers of x86 processors (`backend::msr`).

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "aarch64")]
use aarch64 as this;
#[cfg(not(any(target_arch = "aarch64", target_arch = "x86_64")))]
mod other;
#[cfg(not(any(target_arch = "aarch64", target_arch = "x86_64")))]
use other as this;
#[cfg(target_arch = "x86_64")]
mod x86_64;
#[cfg(target_arch = "x86_64")]
use x86_64 as this;
#[cfg(not(target_arch = "x86_64"))]
mod whole;

pub use this::{CLOCK_SOURCE, RawCount, Register};
pub(crate) use this::{
    FloatingPoint, OTHER_WIDTH, PAGE, READS_AHEAD, WIDTH, made, read_call, read_counter,
    read_counters, shares_cycle_counter, ticks, ticks_per_second, user_reads,
};

/// How a thread gets leave to read its counters without a system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UserReads {
    /// The library has no such reads for this processor or this kernel.
    Missing,
    /// The page of each counter has the leave, or has not (x86).
    ByPage,
    /// Each event asks for it (`attr.config1`), and the kernel gives it (AArch64).
    OnRequest,
    /// Events could ask for it, and the kernel would not give it: `kernel.perf_user_access` is 0.
    SwitchedOff,
}

/// As [`RawCount::extended`], at any width from 1 to 64 bits.
pub(crate) fn extend_to(width: u8, value: u64) -> u64 {
    let unused = 64 - u32::from(width);
    ((value << unused) as i64 >> unused) as u64
}
