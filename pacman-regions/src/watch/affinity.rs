//! Masks of threads, by their numbers.
//!
//! Direct system calls, because the library interposes the C library's functions.

use libc::{c_long, pid_t};

/// The contexts of a thread: a bit for each number that the kernel gives them.
pub type Mask = [u64; WORDS];

/// Words of a mask.
pub const WORDS: usize = 16;

const BYTES: usize = WORDS * 8;

/// The mask of one context.
pub fn single(cpu: u32) -> Mask {
    let mut mask = [0; WORDS];
    if let Some(word) = mask.get_mut(cpu as usize / 64) {
        *word = 1 << (cpu % 64);
    }
    mask
}

/// Whether the mask has the context.
pub fn has(mask: &Mask, cpu: u32) -> bool {
    mask.get(cpu as usize / 64).is_some_and(|word| word & 1 << (cpu % 64) != 0)
}

/// The contexts of a mask.
pub fn contexts(mask: &Mask) -> impl Iterator<Item = u32> {
    (0..BYTES as u32 * 8).filter(|&cpu| has(mask, cpu))
}

/// The mask of `thread`, 0 for the calling one; `None` if the thread has ended, or on a larger machine.
pub fn of(thread: pid_t) -> Option<Mask> {
    let mut mask = [0; WORDS];
    let thread = c_long::from(thread);
    // SAFETY: a mask of the given size.
    let written =
        unsafe { libc::syscall(libc::SYS_sched_getaffinity, thread, BYTES, mask.as_mut_ptr()) };
    (written > 0).then_some(mask)
}

/// Sets the mask of `thread`; false if the kernel refuses.
pub fn set(thread: pid_t, mask: &Mask) -> bool {
    // SAFETY: a mask of the given size.
    let status = unsafe {
        let thread = c_long::from(thread);
        libc::syscall(libc::SYS_sched_setaffinity, thread, BYTES, mask.as_ptr())
    };
    status == 0
}

/// Gives `thread`, whose mask is `packed`, the mask `wide`, and has it begin on context `cpu`. Leaves a thread
/// with any other mask alone.
///
/// A wider mask alone moves no thread. So the thread is sent to a context of its own first.
pub fn widen(thread: pid_t, packed: &Mask, wide: &Mask, cpu: u32) {
    if thread <= 0 || of(thread).is_none_or(|now| now != *packed) {
        return;
    }
    if has(wide, cpu) && !has(packed, cpu) {
        set(thread, &single(cpu));
    }
    // A mask that was set does not grow when the process gets more processors later. The mask of all
    // processors is that of a thread that was never bound.
    set(thread, &[u64::MAX; WORDS]);
    if of(thread).is_none_or(|now| now != *wide) {
        set(thread, wide);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_thread_is_widened_and_another_one_is_not() {
        std::thread::spawn(|| {
            let wide = of(0).expect("a mask");
            let all: Vec<u32> = contexts(&wide).collect();
            // SAFETY: it only returns a number.
            let me = unsafe { libc::gettid() };
            let (first, last) = (single(all[0]), all[all.len() - 1]);
            assert!(set(me, &first));
            assert_eq!(of(0), Some(first));
            widen(me, &single(u32::MAX), &wide, last);
            assert_eq!(of(0), Some(first), "another program bound it");
            widen(me, &first, &wide, last);
            assert_eq!(of(0), Some(wide));
            // SAFETY: as above.
            let here = u32::try_from(unsafe { libc::sched_getcpu() }).ok();
            assert!(here.is_some_and(|cpu| has(&wide, cpu)));
        })
        .join()
        .expect("the thread ends");
    }
}
