//! Known work, and the lab's doorbell: events that happen as often as the program says.

#[cfg(target_arch = "x86_64")]
pub(crate) fn tsc() -> u64 {
    // SAFETY: every x86-64 processor has a time stamp counter, and Linux lets it be read.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// Executes exactly `2 * iterations` instructions, and one to set up.
#[inline(always)]
pub(crate) fn known_loop(iterations: u64) {
    // SAFETY: counts a register down and touches nothing else.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        core::arch::asm!("2:", "dec {n}", "jnz 2b", n = inout(reg) iterations => _,
            options(nomem, nostack));
    }
    // SAFETY: as above.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        core::arch::asm!("2:", "subs {n}, {n}, #1", "b.ne 2b", n = inout(reg) iterations => _,
            options(nomem, nostack));
    }
}

/// The event happens `times` times now.
#[cfg(target_arch = "x86_64")]
pub(crate) fn ring(selector: u64, times: u64) {
    call(0x4c50_4d01, selector, times);
}

/// The event happens `times` times now: on Arm, one write of a register that the lab has.
#[cfg(target_arch = "aarch64")]
pub(crate) fn ring(event: u64, times: u64) {
    // SAFETY: changes counters alone, of an emulator that has the register.
    unsafe {
        core::arch::asm!("msr s3_3_c15_c0_1, {}", in(reg) event << 48 | times,
            options(nomem, nostack));
    }
}

/// User and kernel instructions retired by this hardware context since it started.
#[cfg(target_arch = "x86_64")]
pub(crate) fn retired() -> (u64, u64) {
    call(0x4c50_4d02, 0, 0)
}

/// As above, by two registers that the lab has.
#[cfg(target_arch = "aarch64")]
pub(crate) fn retired() -> (u64, u64) {
    let (user, kernel);
    // SAFETY: reads registers of an emulator that has them.
    unsafe {
        core::arch::asm!("mrs {user}, s3_3_c15_c0_2", "mrs {kernel}, s3_3_c15_c0_6",
            user = out(reg) user, kernel = out(reg) kernel, options(nomem, nostack));
    }
    (user, kernel)
}

/// The whole of the slots in [`use_slots`].
#[cfg(target_arch = "x86_64")]
pub(crate) const TEN_THOUSAND: u64 = 10_000;

/// From now on this hardware context's slots are in these categories, in ten thousandths: four of the
/// first level, four of the second.
#[cfg(target_arch = "x86_64")]
pub(crate) fn use_slots(shares: [u64; 8]) {
    let packed = |level: &[u64]| level.iter().rev().fold(0, |word, share| word << 16 | share);
    let (first, second): (u64, u64) = (packed(&shares[..4]), packed(&shares[4..]));
    let refused: u64;
    // SAFETY: CPUID changes only the registers named; RBX is saved around it.
    unsafe {
        core::arch::asm!(
            "xchg {first}, rbx",
            "cpuid",
            "xchg {first}, rbx",
            first = inout(reg) first => _,
            inout("rax") 0x4c50_4d06u64 => refused,
            inout("rcx") second => _,
            out("rdx") _,
            options(nostack, nomem),
        );
    }
    assert_eq!(refused, 0, "the lab has no slots here");
}

/// The lab's CPUID leaves: 64-bit arguments and answers, which the intrinsic cuts off.
#[cfg(target_arch = "x86_64")]
fn call(leaf: u32, selector: u64, number: u64) -> (u64, u64) {
    let (low, high): (u64, u64);
    // SAFETY: CPUID changes only the registers named; RBX, which LLVM keeps for itself,
    // is saved around it.
    unsafe {
        core::arch::asm!(
            "xchg {number}, rbx",
            "cpuid",
            "xchg {number}, rbx",
            number = inout(reg) number => high,
            inout("rax") u64::from(leaf) => low,
            inout("rcx") selector & 0xffff_ffff => _,
            inout("rdx") selector >> 32 => _,
            options(nostack, nomem),
        );
    }
    (low, high)
}
