//! Binding the members of a smaller team: one to each core before any two share a core.
//!
//! Threads are bound only on machines with SMT, and only if neither the user nor the runtime binds
//! threads. libgomp does not bind a worker again that was bound here. New threads inherit the mask
//! of the thread that starts them. So the primary thread gets its own mask back after every
//! execution, and workers get theirs in the next team without places.
//!
//! A program may read its mask, set it, or start a thread or process that inherits it. It finds its
//! own mask: the thread gets it back first, and no thread of that process is bound again. Only system
//! calls that bypass the C library, and `/proc`, show the single context.

use crate::adapted::has_bound;
use crate::worker::Worker;

/// The next call of the calling thread reads its mask, sets it, or hands it on.
pub(crate) fn mask_matters() {
    if !has_bound() {
        return;
    }
    if let Some(worker) = Worker::known() {
        worker.binding.end_all();
    }
}

#[cfg(test)]
mod tests {
    use pacman_regions::watch::affinity;

    use super::*;
    use crate::adapted::{bind_from_now_on, may_bind};

    fn libc_count() -> u32 {
        // SAFETY: a plain set of bits.
        let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        let size = std::mem::size_of_val(&set);
        // SAFETY: a set of the given size.
        assert_eq!(unsafe { libc::sched_getaffinity(0, size, &raw mut set) }, 0);
        // SAFETY: a set.
        unsafe { libc::CPU_COUNT(&set) as u32 }
    }

    /// One test for all, because the flags belong to the process.
    #[test]
    fn a_program_that_reads_its_mask_gets_its_own() {
        let own = libc_count();
        assert!(may_bind() && own > 0);
        bind_from_now_on();
        mask_matters();
        assert!(may_bind(), "a thread that is not bound may read its mask");
        let worker = Worker::here();
        // SAFETY: it only returns a number.
        let here = unsafe { libc::sched_getcpu() };
        worker.binding.bind_to(u32::try_from(here).ok());
        let truly = || affinity::of(0).map(|mask| affinity::contexts(&mask).count());
        assert_eq!(truly(), Some(1));
        mask_matters();
        assert_eq!(libc_count(), own, "as the entry of that function does first");
        assert_eq!(truly(), Some(own as usize));
        assert!(!may_bind(), "the program reads its mask");

        // A thread that a bound thread starts inherits the own mask, too.
        worker.binding.bind_to(u32::try_from(here).ok());
        mask_matters();
        assert_eq!(std::thread::spawn(libc_count).join().expect("a thread"), own);
    }
}
