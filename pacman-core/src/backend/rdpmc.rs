//! The instruction that reads a hardware counter in user mode.

/// The lower and the upper 32 bits of a hardware counter of the executing context, each in a word
/// with an upper half of zero.
///
/// # Safety
/// The kernel must allow user RDPMC now, and the counter must exist on this
/// context; the thread gets SIGSEGV otherwise.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) unsafe fn rdpmc(index: u32) -> (u64, u64) {
    let (low, high);
    // In 64-bit mode RDPMC clears the upper halves of RAX and RDX (SDM vol. 2, RDPMC). So the whole
    // registers are taken without a mask.
    // SAFETY: the caller's promise. Not `pure`: the counter changes by itself.
    unsafe {
        std::arch::asm!("rdpmc", in("ecx") index, out("rax") low, out("rdx") high,
            options(nomem, nostack, preserves_flags));
    }
    (low, high)
}

/// Never called: on other architectures this library does not read counters in user mode.
///
/// # Safety
/// None is needed.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) unsafe fn rdpmc(_index: u32) -> (u64, u64) {
    unreachable!("user-mode counter reads are offered on x86-64 only")
}
