//! The kernel's figures of the calling thread.
//!
//! These call the kernel without the C library, whose functions set `errno` if a filter of system calls
//! refuses them.

use std::ffi::{c_int, c_long};
use std::mem::MaybeUninit;

use pacman_core::system_calls;

use crate::arch::system_call;

/// The nanoseconds that the calling thread was on a processor.
#[inline]
pub(super) fn thread_clock() -> Option<u64> {
    // SAFETY: the call takes the number of a clock and fills a `timespec`.
    let time = unsafe {
        filled::<libc::timespec>(libc::SYS_clock_gettime, libc::CLOCK_THREAD_CPUTIME_ID)?
    };
    u64::try_from(time.tv_sec).ok()?.checked_mul(1_000_000_000)?.checked_add(time.tv_nsec as u64)
}

/// How often the calling thread left a processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Switches {
    /// It slept: for a lock, a barrier, input, or a page from a disk.
    pub(super) voluntary: u64,
    /// Another thread took the processor, or the thread yielded it.
    pub(super) involuntary: u64,
}

/// The switches of the calling thread since its start.
#[inline]
pub(super) fn switches() -> Option<Switches> {
    // SAFETY: the call takes whose usage is asked for and fills an `rusage`.
    let usage = unsafe { filled::<libc::rusage>(libc::SYS_getrusage, libc::RUSAGE_THREAD)? };
    Some(Switches {
        voluntary: u64::try_from(usage.ru_nvcsw).ok()?,
        involuntary: u64::try_from(usage.ru_nivcsw).ok()?,
    })
}

/// The `T` that a system call fills; `None` if the kernel refuses the call.
///
/// # Safety
/// The call must take a number and the address of a `T`. It must fill all of the `T` if it returns 0, and access no
/// other memory.
unsafe fn filled<T>(call: c_long, number: c_int) -> Option<T> {
    if system_calls::are_forbidden() {
        return None;
    }
    let mut answer = MaybeUninit::<T>::uninit();
    // SAFETY: the call accesses the `T` at most, as the caller guarantees.
    let result = unsafe { system_call(call, c_long::from(number), answer.as_mut_ptr().cast()) };
    // SAFETY: the call has filled it, as the caller guarantees.
    (result == 0).then(|| unsafe { answer.assume_init() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_that_of_the_thread() {
        let begun = thread_clock().expect("Linux has it");
        std::thread::sleep(std::time::Duration::from_millis(20));
        let slept = thread_clock().expect("Linux has it") - begun;
        assert!(slept < 10_000_000, "{slept} ns on a processor while it slept for 20 ms");
        let begun = std::time::Instant::now();
        let from = thread_clock().expect("Linux has it");
        while thread_clock().expect("Linux has it") < from + 2_000_000 {}
        assert!(begun.elapsed().as_micros() >= 1_900, "{:?}", begun.elapsed());
    }

    #[test]
    fn a_sleep_is_a_voluntary_switch() {
        let begun = switches().expect("Linux has it");
        (0..3).for_each(|_| std::thread::sleep(std::time::Duration::from_millis(1)));
        let slept = switches().expect("Linux has it").voluntary - begun.voluntary;
        assert!(slept >= 3, "{slept} voluntary switches");
    }

    #[test]
    fn a_refused_call_has_no_answer() {
        // SAFETY: as in `switches`.
        assert!(unsafe { filled::<libc::rusage>(libc::SYS_getrusage, 77) }.is_none());
    }
}
