//! Kernels: small programs whose counts are known by construction, and the proofs.
//!
//! A kernel runs with its *long* and with its *short* work; both pass through the same
//! code on their way in and out, so that the difference of their counts is that of the
//! work alone. Below, *n* is that difference.
//!
//! **Loops** (`loops.rs`, x86-64 assembly). One round is written out instruction by
//! instruction, every instruction of it executes once a round, and the number of rounds
//! is a register that is counted down to zero. Nothing else is in the difference:
//! - `instructions`: `dec`, `jnz`. 2 instructions a round.
//! - `branches`, `taken-branches`: `jc`, `dec`, `jnz` with the carry cleared before the loop
//!   and `dec` leaving it alone. 2 branches a round, of which the `jnz` is taken, but for
//!   its last time, which long and short work share.
//! - `loads`, `stores`: 8 `mov` from or to one line. 8 a round.
//! - `floating-point`: 8 `addsd` of registers. 8 operations a round.
//! - `dependent-adds`: 64 `add`, each of which needs the result of the one before. No
//!   processor here adds faster than one a cycle (the operands are registers, because some
//!   fold constants away in renaming) but the first NetBurst models, which add twice a
//!   cycle and come out at a half. At most a twentieth more is allowed for the loop.
//! - `mispredictions`: *n* branches on bits that are drawn afresh for every run, independent
//!   of each other and of everything a predictor can have seen. Whatever it predicts, it is
//!   wrong with probability 1/2 each time, independently: mispredictions are binomial,
//!   and within 5 standard deviations (√n/2) of n/2 in all but one of 10^6 runs.
//!
//! **Pointers** (`chase.rs`). A random permutation that is one cycle of *m* places, no two
//! in the same 128 bytes (prefetchers fetch pairs of lines), each holding the place of the
//! next: no load can start before the one before has answered, and nothing but the answer
//! tells where it goes. In one round through the cycle every place is visited once; what
//! is fetched in a round is not used again in it; so at most what a cache of *c* lines
//! holds at the round's begin can hit: misses are between n·(1 − c/m) and n, whatever the
//! replacement policy. Sizes are sysfs's. For pages the places are 64 KiB apart, so that no
//! TLB joins neighbours, and *c* is 4096, the entries of the largest TLB known (Zen 5).
//!
//! **Stream** (`stream.rs`): `b[i] = a[i] + s` over arrays of twice the last-level cache. *n*
//! elements are *n* additions. Each line of *a* is read and each of *b* fetched before it is
//! written or written without, and sent back at some time: two or three requests leave
//! the core for a pair of lines, less what the caches held. This is the code that McCalpin
//! validates floating-point events with: their operands come from memory.
//!
//! **Linux's own** (`scheduling.rs`, `pages.rs`, `waiting.rs`):
//! - `first-touches`: *n* pages of a mapping that nobody has touched, written once each, with
//!   huge pages forbidden. Each has no page-table entry until its own fault made one.
//! - `hand-overs`: a ball is sent to a partner thread on the same CPU and comes back *n*
//!   times. The partner can run only while this thread does not: at least *n* switches. One
//!   more can only be preemption, and `getrusage` tells how often that was.
//! - `migrations`: a thread that may run on one CPU only, and then only on another, has moved.
//! - `cpu-time`: a thread that waits busily uses at least the CPU time that the kernel's thread
//!   clock shows inside the counted region, and at most the time that the monotonic
//!   clock shows around it.
//! - `time-stamps`: the same for reference cycles, with the time stamp counter inside and
//!   around.

mod caches;
mod chase;
#[cfg(target_arch = "x86_64")]
mod loops;
mod pages;
mod random;
mod region;
mod scheduling;
#[cfg(all(test, target_arch = "x86_64"))]
mod stepped;
#[cfg(target_arch = "x86_64")]
mod stream;
mod waiting;
mod work;

use super::catalogue::KernelId;
use pacman_core::Result;
#[cfg(not(target_arch = "x86_64"))]
use pacman_core::{Error, ErrorKind};

pub(super) use work::{Ground, Kernel, Work};

/// Makes the kernel `id`.
///
/// # Errors
/// `Unsupported` with what this machine lacks for it; what the system says.
pub(super) fn make(id: KernelId, ground: &Ground) -> Result<Box<dyn Kernel>> {
    use KernelId as K;
    Ok(match id {
        K::FirstLevelMisses => Box::new(chase::Chase::of_cache(1, ground)?),
        K::SecondLevelMisses => Box::new(chase::Chase::of_cache(2, ground)?),
        K::LastLevelMisses => Box::new(chase::Chase::of_last_cache(ground)?),
        K::PageWalks => Box::new(chase::Chase::of_pages()?),
        K::CpuTime => Box::new(waiting::CpuTime::default()),
        K::FirstTouches => Box::new(pages::FirstTouches::default()),
        K::HandOvers => Box::new(scheduling::HandOvers::new(ground)?),
        K::Migrations => Box::new(scheduling::Migrations::new(ground)?),
        assembly => return in_assembly(assembly, ground),
    })
}

#[cfg(target_arch = "x86_64")]
fn in_assembly(id: KernelId, ground: &Ground) -> Result<Box<dyn Kernel>> {
    use KernelId as K;
    Ok(match id {
        K::Mispredictions => Box::new(loops::Mispredictions::new()),
        K::SwitchedInstructions => Box::new(scheduling::Switched::new(ground)?),
        K::TimeStamps => Box::new(waiting::TimeStamps::default()),
        K::Stream => Box::new(stream::Stream::traffic(ground)?),
        K::StreamFloatingPoint => Box::new(stream::Stream::operations(ground)?),
        plain => Box::new(loops::Loop::of(plain)),
    })
}

#[cfg(not(target_arch = "x86_64"))]
fn in_assembly(id: KernelId, _: &Ground) -> Result<Box<dyn Kernel>> {
    Err(Error::new(
        ErrorKind::Unsupported,
        format!("cannot run the kernel {id}: it is x86-64 assembly, and this processor is another"),
    ))
}

/// Waits until all instructions before this one have completed: RDPMC is not ordered
/// against them, and would read hundreds of them too early.
#[inline(always)]
pub(super) fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has LFENCE.
    unsafe {
        std::arch::x86_64::_mm_lfence();
    }
    #[cfg(not(target_arch = "x86_64"))]
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
}
