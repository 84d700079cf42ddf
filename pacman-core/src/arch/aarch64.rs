//! AArch64: `MRS` of the PMU's counters, the generic timer, FPCR and FPSR.

use std::arch::asm;
use std::sync::atomic::{AtomicU64, Ordering};

use super::UserReads;
pub use super::whole::RawCount;

/// The address of the two instructions that read a counter and jump to what follows.
///
/// An instruction names its system register by its own bits, so there is one reading instruction for
/// each counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register(usize);

impl Register {
    /// The counter that a page names by `index`, less 1; `None` for a number that no counter has.
    pub fn of(index: u32) -> Option<Register> {
        (index < COUNTERS).then(|| Register::simulated(index))
    }

    /// As [`of`](Self::of), on a simulated machine, whose processor may have other counters.
    pub fn simulated(index: u32) -> Register {
        Register(table().wrapping_add(index as usize * ENTRY))
    }

    /// The index that it was made of.
    pub fn index(self) -> u32 {
        (self.0.wrapping_sub(table()) / ENTRY) as u32
    }

    /// The counter of [`of`](Self::of), where [`read_counters`] reads `others` more after it, up to 7.
    pub(crate) fn followed_by(self, others: usize) -> Register {
        Register(self.0 + others * COUNTERS as usize * ENTRY)
    }
}

/// 31 event counters, and the cycle counter behind them.
const COUNTERS: u32 = 32;

/// Bytes of an entry of [`table`]: `MRS` and `BR`.
const ENTRY: usize = 8;

/// The entries of all counters, which read into a register and jump to the address in another one.
macro_rules! entries {
    ($($value:literal to $next:literal)+) => {
        concat!($(
            ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, \
             22, 23, 24, 25, 26, 27, 28, 29, 30\n",
            "mrs ", $value, ", pmevcntr\\n\\()_el0\n",
            "br ", $next, "\n",
            ".endr\n",
            "mrs ", $value, ", pmccntr_el0\n",
            "br ", $next, "\n",
        )+)
    };
}

/// The table of reading instructions: all counters with none after them, then all with one more, and so on.
/// Linux names `PMEVCNTRn_EL0` by n and `PMCCNTR_EL0` by 31 (`armv8pmu_user_event_idx`, one more each).
#[inline(never)]
fn table() -> usize {
    let table: usize;
    // SAFETY: takes an address, and jumps over the entries.
    unsafe {
        asm!(
            "adr {table}, 3f",
            "b 2f",
            ".p2align 6",
            "3:",
            entries!(
                "x8" to "x16" "x9" to "x8" "x10" to "x9" "x11" to "x10"
                "x12" to "x11" "x13" to "x12" "x14" to "x13" "x15" to "x14"
            ),
            "2:",
            table = out(reg) table,
            options(nomem, nostack, preserves_flags),
        );
    }
    table
}

/// 64 bits from PMUv3 of Armv8.5 on; before, event counters have 32.
pub(crate) const WIDTH: u32 = 64;
pub(crate) const OTHER_WIDTH: u32 = 32;

/// 31 registers hold the locations of the usual groups.
pub(crate) const READS_AHEAD: bool = true;

/// Without the setting the kernel is older than Linux 5.17, which gives no leave.
pub(crate) fn user_reads(setting: &str) -> UserReads {
    match setting {
        "" => UserReads::Missing,
        "0" => UserReads::SwitchedOff,
        _ => UserReads::OnRequest,
    }
}

/// Reads a hardware counter of the executing context.
///
/// No ISB precedes it. The page's sequence lock does not need one: its writer is the kernel on this
/// very CPU, and taking an interrupt undoes instructions that ran ahead of it. Neither does the
/// order of two reads of one counter. An ISB would only complete the instructions before the read,
/// as a fence would before RDPMC. Linux asks for none (`Documentation/arch/arm64/perf.rst`), its
/// driver (`drivers/perf/arm_pmuv3.c`) and its library (`tools/lib/perf/mmap.c`) have none.
///
/// # Safety
/// The kernel must allow user reads of the counter now; the thread gets SIGILL otherwise.
#[inline(always)]
pub(crate) unsafe fn read_counter(register: Register) -> RawCount {
    // SAFETY: the caller's promise. No other follows.
    let [count] = unsafe { read_counters([register]) };
    count
}

/// As [`read_counter`], of up to 8 counters. Each must be [followed by](Register::followed_by) those after it.
///
/// An entry jumps to the next one. A call and a return would take an instruction more for each
/// counter, and the caller's return address would have to be kept.
///
/// # Safety
/// As for [`read_counter`].
#[inline(always)]
pub(crate) unsafe fn read_counters<const N: usize>(registers: [Register; N]) -> [RawCount; N] {
    let mut counts = [RawCount(0); N];
    macro_rules! read {
        ($first:literal, $($at:literal $value:tt)+) => {
            // SAFETY: the caller's promise, and the entries change these registers alone. Not `pure`: counters
            // change by themselves.
            unsafe {
                asm!("adr x16, 2f", concat!("br ", $first), "2:",
                    $(inlateout($value) registers[$at].0 => counts[$at].0,)+
                    out("x16") _, options(nomem, nostack, preserves_flags));
            }
        };
    }
    match N {
        1 => read!("x8", 0 "x8"),
        2 => read!("x9", 0 "x9" 1 "x8"),
        3 => read!("x10", 0 "x10" 1 "x9" 2 "x8"),
        4 => read!("x11", 0 "x11" 1 "x10" 2 "x9" 3 "x8"),
        5 => read!("x12", 0 "x12" 1 "x11" 2 "x10" 3 "x9" 4 "x8"),
        6 => read!("x13", 0 "x13" 1 "x12" 2 "x11" 3 "x10" 4 "x9" 5 "x8"),
        7 => read!("x14", 0 "x14" 1 "x13" 2 "x12" 3 "x11" 4 "x10" 5 "x9" 6 "x8"),
        8 => read!("x15", 0 "x15" 1 "x14" 2 "x13" 3 "x12" 4 "x11" 5 "x10" 6 "x9" 7 "x8"),
        _ => unreachable!("the table has entries for 8"),
    }
    counts
}

/// `PMCCNTR_EL0` counts the clock of the core, not of the context, where contexts share a core. Linux
/// stopped using it there in 6.19 (c3d78c34ad00). A release that is not understood counts as older.
pub(crate) fn shares_cycle_counter(release: &str) -> bool {
    let mut numbers = release.split(['.', '-']).map_while(|number| number.parse::<u32>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    version < (6, 19)
}

/// Kernels have pages of 4, 16 or 64 KiB.
pub(crate) const PAGE: usize = 1 << 16;

/// The generic timer.
pub const CLOCK_SOURCE: Option<&str> = Some("arch_sys_counter");

/// The generic timer's count in [`ticks_per_count`], without order against other instructions, as the
/// counter reads beside it. Linux's own clock has an ISB here, because it compares times of several
/// CPUs.
#[inline(always)]
pub(crate) fn ticks() -> u64 {
    let count: u64;
    // SAFETY: every AArch64 processor has the register; Linux allows it, or answers in its place
    // where it has an erratum. Not `pure`: time passes.
    unsafe { asm!("mrs {}, cntvct_el0", out(reg) count, options(nomem, nostack, preserves_flags)) };
    count.wrapping_mul(match SCALE.load(Ordering::Relaxed) {
        0 => scale(),
        scale => scale,
    })
}

/// Ticks of a count, and 0 before the first reading.
static SCALE: AtomicU64 = AtomicU64::new(0);

#[cold]
fn scale() -> u64 {
    let scale = ticks_per_count(counts_per_second());
    SCALE.store(scale, Ordering::Relaxed);
    scale
}

/// The least number that makes a tick half a nanosecond or less, as a tick of the TSC is: times in
/// ticks are compared with constants. The timer counts every 10 to 40 ns before Armv8.6.
/// `ticks_now` of `pacman-omp/stub/arch/aarch64.h` has the same rule.
fn ticks_per_count(counts_per_second: u64) -> u64 {
    match counts_per_second {
        0 => 1,
        rate => 2_000_000_000u64.div_ceil(rate),
    }
}

/// The timer's rate, as the firmware stated it; 0 if it stated none.
fn counts_per_second() -> u64 {
    let rate;
    // SAFETY: as in `ticks`.
    unsafe { asm!("mrs {}, cntfrq_el0", out(reg) rate, options(nomem, nostack, preserves_flags)) };
    rate
}

/// `None` if the firmware stated no rate.
pub(crate) fn ticks_per_second() -> Option<u64> {
    let rate = counts_per_second();
    Some(rate * ticks_per_count(rate)).filter(|rate| *rate > 0)
}

/// A program's FPCR (rounding, traps, flushing) and FPSR (flags).
#[cfg_attr(test, derive(Clone, Copy, Debug, PartialEq))]
pub(crate) struct FloatingPoint {
    control: u64,
    status: u64,
}

impl FloatingPoint {
    /// Sets the usual state: no traps, no flags, rounding to nearest. Returns the program's.
    #[inline(always)]
    pub(crate) fn exchange() -> FloatingPoint {
        let (control, status);
        // SAFETY: every AArch64 processor that runs Rust's standard library has the registers, and 0
        // is their usual state. Not `nomem`, so that computations stay on their side.
        unsafe {
            asm!("mrs {control}, fpcr", "mrs {status}, fpsr", "msr fpcr, xzr", "msr fpsr, xzr",
                control = out(reg) control, status = out(reg) status,
                options(nostack, preserves_flags));
        }
        FloatingPoint { control, status }
    }

    /// Sets the program's state again.
    #[inline(always)]
    pub(crate) fn restore(self) {
        // SAFETY: the registers held the values.
        unsafe {
            asm!("msr fpcr, {control}", "msr fpsr, {status}", control = in(reg) self.control,
                status = in(reg) self.status, options(nostack, preserves_flags));
        }
    }
}

/// `read(2)` as a bare system call. Returns minus the `errno` if it fails.
#[inline(always)]
pub(crate) fn read_call(fd: i32, into: &mut [u64]) -> isize {
    let answer;
    // SAFETY: the buffer is valid for its whole length in bytes. The call changes X0 alone.
    unsafe {
        asm!("svc 0", in("x8") libc::SYS_read, inlateout("x0") fd as isize => answer,
            in("x1") into.as_mut_ptr(), in("x2") size_of_val(into), options(nostack));
    }
    answer
}

#[inline(always)]
pub(crate) fn made(value: u64) -> u64 {
    let made;
    // SAFETY: no instruction. Not `pure`, or the compiler would delay it as well.
    unsafe {
        asm!("/* {0} */", inout(reg) value => made, options(nomem, nostack, preserves_flags));
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    impl FloatingPoint {
        /// Rounding upwards; flushing as well; all flags.
        pub(crate) const TRIED: [FloatingPoint; 3] = [
            FloatingPoint { control: 1 << 22, status: 0 },
            FloatingPoint { control: 1 << 22 | 1 << 24, status: 0 },
            FloatingPoint { control: 1 << 22, status: 0x1f },
        ];

        pub(crate) fn is_now(&self) -> bool {
            let now = FloatingPoint::exchange();
            now.restore();
            *self == now
        }
    }

    /// Decodes the instructions, and executes none: Arm ARM, C6.2 (MRS, BR) and D24.5 (the registers).
    #[test]
    fn each_entry_reads_its_counter_and_jumps_to_the_next() {
        for (index, others) in (0..COUNTERS).flat_map(|index| (0..8).map(move |n| (index, n))) {
            let register = Register::of(index).unwrap();
            assert_eq!(register.index(), index);
            // SAFETY: the entry is two words of this program's code.
            let [mrs, br] = unsafe { (register.followed_by(others).0 as *const [u32; 2]).read() };
            let others = others as u32;
            let next = if others == 0 { 16 } else { 8 + others - 1 };
            assert_eq!(br, 0xd61f_0000 | next << 5, "BR of {index}, {others} others");
            assert_eq!(mrs >> 20, 0xd53, "MRS of {index}");
            let field = |low: u32, bits: u32| mrs >> low & ((1 << bits) - 1);
            let (op0, op1) = (2 + field(19, 1), field(16, 3));
            let (crn, crm, op2, rt) = (field(12, 4), field(8, 4), field(5, 3), field(0, 5));
            let named = match index {
                31 => (3, 3, 9, 13, 0),
                n => (3, 3, 14, 8 + n / 8, n % 8),
            };
            assert_eq!((op0, op1, crn, crm, op2), named, "entry {index}: {mrs:#x}");
            assert_eq!(rt, 8 + others, "register of {index}, {others} others");
        }
        assert_eq!(Register::of(COUNTERS), None);
        assert_eq!(Register::simulated(1 << 30).index(), 1 << 30);
    }

    #[test]
    fn the_kernel_s_setting_gives_leave() {
        let settings = ["", "0", "1"].map(user_reads);
        let expected = [UserReads::Missing, UserReads::SwitchedOff, UserReads::OnRequest];
        assert_eq!(settings, expected);
    }

    #[test]
    fn kernels_before_6_19_count_cycles_on_the_core_s_counter() {
        for (release, shared) in [
            ("6.1.0-44-arm64", true),
            ("6.18.9", true),
            ("6.19.0-rc1", false),
            ("7.0", false),
            ("5.20", true),
            ("", true),
        ] {
            assert_eq!(shares_cycle_counter(release), shared, "{release:?}");
        }
    }

    #[test]
    fn a_tick_is_half_a_nanosecond_at_most_at_any_rate() {
        for (rate, ticks) in [
            (19_200_000, 105),
            (24_000_000, 84),
            (25_000_000, 80),
            (62_500_000, 32),
            (100_000_000, 20),
            (1_000_000_000, 2),
            (3_000_000_000, 1),
        ] {
            assert_eq!(ticks_per_count(rate), ticks, "{rate} Hz");
            assert!((2_000_000_000..=3_000_000_000).contains(&(rate * ticks)), "{rate} Hz");
        }
        assert_eq!(ticks_per_count(0), 1);
        let rate = ticks_per_second().expect("the emulator and Linux state the rate");
        assert!(rate >= 2_000_000_000, "{rate}");
        assert_eq!(ticks() % ticks_per_count(counts_per_second()), 0);
    }

    #[test]
    fn counters_are_extended_from_their_width() {
        assert_eq!(RawCount(0x1234_5678_ffff_ffff).extended::<32>(), u64::MAX);
        assert_eq!(RawCount(0x1234_5678_7fff_ffff).extended::<32>(), 0x7fff_ffff);
        assert_eq!(RawCount(0x8000_0000_0000_0001).extended::<64>(), 0x8000_0000_0000_0001);
    }
}
