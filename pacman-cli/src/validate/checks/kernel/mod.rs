//! Kernels: small programs whose counts are known by construction, and the proofs.
//!
//! A kernel runs once with its *long* and once with its *short* work. Both runs pass through the
//! same code before and after the work, so the difference of their counts belongs to the work
//! alone. Below, *n* is that difference.
//!
//! **Loops** (`loops.rs`, x86-64 assembly). One round is written out instruction by instruction, and
//! every instruction executes once in a round. A register has the number of rounds and is counted
//! down to zero. The difference contains nothing else:
//! - `instructions`: `dec`, `jnz`. 2 instructions in a round.
//! - `branches`, `taken-branches`: `jc`, `dec`, `jnz`. The carry is cleared before the loop, and
//!   `dec` leaves it alone. Each round has 2 branches, of which the `jnz` is taken except in the last
//!   round. Long and short work share that exception.
//! - `loads`, `stores`: 8 `mov` from or to one line. 8 in a round.
//! - `floating-point`: 8 `addsd` of registers. 8 operations in a round.
//! - `dependent-adds`: 64 `add`, each of which needs the result of the one before. The operands are
//!   registers, because some processors fold constants away in renaming. No processor here adds
//!   faster than once in a cycle, except the first NetBurst models: these add twice in a cycle, and
//!   their count is a half. The loop may add at most a twentieth.
//! - `mispredictions`: *n* branches on bits that are drawn anew for every run. The bits are
//!   independent of each other and of everything that a predictor can have seen. So each prediction
//!   is wrong with probability 1/2, independently. Mispredictions are binomial: in all but one of
//!   10^6 runs they are within 5 standard deviations (√n/2) of n/2.
//!
//! **Pointers** (`chase.rs`). A random permutation that is one cycle of *m* places. No two places are
//! in the same 128 bytes, because prefetchers fetch pairs of lines. Each place has the address of the
//! next one, so a load can start only after the answer of the load before. One round visits each
//! place once and uses no fetched line twice. So the only possible hits are the *c* lines that a cache
//! has at the begin of the round. Misses are between n·(1 − c/m) and n, with any replacement policy.
//! Cache sizes are from sysfs. For pages the places are 64 KiB apart, so that no TLB joins neighbours.
//! There *c* is 4096, the entries of the largest known TLB (Zen 5).
//!
//! **Stream** (`stream.rs`): `b[i] = a[i] + s` over arrays of twice the last-level cache. *n* elements
//! are *n* additions. Each line of *a* is read. Each line of *b* is written, on some processors after
//! a fetch, and sent back later. So two or three requests leave the core for a pair of lines, less
//! the lines that the caches had. McCalpin validates floating-point events with this code, because
//! its operands come from memory.
//!
//! **Linux's own** (`scheduling.rs`, `pages.rs`, `waiting.rs`):
//! - `first-touches`: writes to *n* untouched pages of a mapping, one to each, with huge pages
//!   forbidden. Each page has no page-table entry until its own fault makes one.
//! - `hand-overs`: a ball goes to a partner thread on the same CPU and comes back *n* times. The
//!   partner can run only while this thread does not, so there are at least *n* switches. Further
//!   switches can only be preemption, and `getrusage` counts these.
//! - `migrations`: a thread that may run on one CPU only, and then only on another, has moved.
//! - `cpu-time`: a thread that waits busily. It uses at least the CPU time that the kernel's thread
//!   clock shows inside of the counted region. It uses at most the time that the monotonic clock
//!   shows around it.
//! - `time-stamps`: the same for reference cycles, with the time stamp counter inside and around.

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
/// `Unsupported` if this machine lacks something for the kernel, which the message names; else the
/// error of the system.
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
