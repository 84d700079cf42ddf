//! The clocks of this machine.

use pacman_core::clock::Clock;
use pacman_core::topology::current_cpu;
use pacman_metrics::quality::Reading;

use crate::section::Instrument;

/// Additions in the chain of [`pace`](Instrument::pace), each of which waits for the one before.
pub(crate) const ADDITIONS: u64 = 4_096;

/// The system's clock. It has steps of 1 ns, each reading costs tens, and nothing orders it against the section.
pub(crate) struct Monotonic(pub(crate) Clock);

impl Instrument for Monotonic {
    fn cpu(&mut self) -> u32 {
        asked_cpu()
    }

    #[inline(always)]
    fn begin(&mut self) -> u64 {
        self.0.now()
    }

    #[inline(always)]
    fn end(&mut self) -> (u64, u32) {
        (self.0.now(), asked_cpu())
    }

    fn kernel(&mut self) -> Reading {
        kernel(self.0.now())
    }

    /// Steps of a nanosecond and a cost of tens are too coarse for such a short chain.
    fn pace(&mut self) -> Option<u64> {
        None
    }
}

/// The time stamp counter, read in order with the instructions around it.
///
/// None of the blocks is `nomem`, so that the compiler keeps loads and stores on their side.
#[cfg(target_arch = "x86_64")]
pub(crate) struct Tsc {
    has_rdtscp: bool,
}

#[cfg(target_arch = "x86_64")]
impl Tsc {
    /// `None` if the processor does not promise that the counter ticks at one rate: by CPUID, or because the kernel
    /// keeps time by it, as old processors announce nothing.
    pub(crate) fn constant(kernel_keeps_time: bool) -> Option<Tsc> {
        (kernel_keeps_time || extended(0x8000_0007) >> 8 & 1 == 1)
            .then(|| Tsc { has_rdtscp: extended(0x8000_0001) >> 27 & 1 == 1 })
    }
}

/// EDX of an extended leaf of CPUID; 0 if the processor has no such leaf.
#[cfg(target_arch = "x86_64")]
fn extended(leaf: u32) -> u32 {
    use std::arch::x86_64::__cpuid;
    // SAFETY: all processors of this architecture have CPUID. With newer versions of Rust the call is safe.
    #[allow(unused_unsafe)]
    unsafe {
        if __cpuid(0x8000_0000).eax >= leaf { __cpuid(leaf).edx } else { 0 }
    }
}

#[cfg(target_arch = "x86_64")]
impl Instrument for Tsc {
    #[inline(always)]
    fn cpu(&mut self) -> u32 {
        self.end().1
    }

    #[inline(always)]
    fn begin(&mut self) -> u64 {
        let ticks;
        // SAFETY: LFENCE and RDTSC exist on every x86-64 processor; Linux allows RDTSC unless the
        // process asked for PR_TSC_SIGSEGV.
        unsafe {
            std::arch::asm!("lfence", "rdtsc", "lfence", "shl rdx, 32", "or rax, rdx",
                out("rax") ticks, out("rdx") _, options(nostack));
        }
        ticks
    }

    #[inline(always)]
    fn end(&mut self) -> (u64, u32) {
        if !self.has_rdtscp {
            // A begin between two fences can also serve as an end.
            return (self.begin(), asked_cpu());
        }
        let ticks;
        let aux: u32;
        // RDTSCP waits for earlier instructions, but only the fence holds back later ones.
        // SAFETY: the processor has RDTSCP.
        unsafe {
            std::arch::asm!("rdtscp", "lfence", "shl rdx, 32", "or rax, rdx",
                out("rax") ticks, out("rdx") _, out("ecx") aux, options(nostack));
        }
        // Linux keeps the CPU's number in the low 12 bits of TSC_AUX, the node's above.
        (ticks, aux & 0xfff)
    }

    fn kernel(&mut self) -> Reading {
        kernel(self.begin())
    }

    /// The minimum of three chains, because an interruption only adds ticks.
    fn pace(&mut self) -> Option<u64> {
        let mut chain = || {
            let start = self.begin();
            add();
            self.begin().saturating_sub(start)
        };
        Some(chain().min(chain()).min(chain()).max(1))
    }
}

/// A chain of additions of registers, not of a constant: some processors add constants before they execute.
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

fn asked_cpu() -> u32 {
    current_cpu().unwrap_or(u32::MAX)
}

/// The kernel's work for this thread until now.
fn kernel(tsc: u64) -> Reading {
    // SAFETY: an all-zero rusage is a valid value; the call fills it.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // It fails only for a bad pointer or selector.
    // SAFETY: the pointer is to a live rusage.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, &mut usage) };
    Reading {
        tsc,
        switches: Some(usage.ru_nvcsw as u64 + usage.ru_nivcsw as u64),
        faults: Some(usage.ru_minflt as u64 + usage.ru_majflt as u64),
        ..Reading::default()
    }
}
