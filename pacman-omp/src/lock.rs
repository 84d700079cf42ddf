//! Locks that are held over a fork.
//!
//! A handler of a signal may fork while its own thread holds a lock. The fork handlers would wait for that thread, for
//! ever. So the signals of a thread wait while it holds one. To ask callers for a proof that they are in
//! [`isolated`](crate::isolation::isolated) would cost nothing at run time, but the proof would pass through most
//! functions of the library. None of them takes a lock in an execution that has been met before, so two system calls
//! for a lock outside of `isolated` cost little.

use std::ops::{Deref, DerefMut};

use pacman_core::fork;

use crate::isolation::Quiet;

/// A lock that fork handlers take.
#[derive(Debug)]
pub(crate) struct Lock<T>(fork::Lock<T>);

/// The lock, held until it is dropped. Guards of one thread are dropped in the reverse order.
#[derive(Debug)]
pub(crate) struct Locked<'l, T> {
    // Dropped in this order.
    value: fork::Locked<'l, T>,
    _quiet: Quiet,
}

impl<T> Lock<T> {
    /// A lock that no thread holds.
    pub(crate) const fn new(value: T) -> Lock<T> {
        Lock(fork::Lock::new(value))
    }

    /// Waits for the lock.
    pub(crate) fn lock(&self) -> Locked<'_, T> {
        let quiet = Quiet::begin();
        Locked { value: self.0.lock(), _quiet: quiet }
    }

    /// Takes the lock if it is free.
    pub(crate) fn try_lock(&self) -> Option<Locked<'_, T>> {
        let quiet = Quiet::begin();
        Some(Locked { value: self.0.try_lock()?, _quiet: quiet })
    }

    /// As [`lock`](Lock::lock), for a thread that keeps its signals waiting until it has dropped the lock.
    pub(crate) fn lock_in(&self, _quiet: &Quiet) -> fork::Locked<'_, T> {
        self.0.lock()
    }
}

impl<T> Deref for Locked<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Locked<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

#[cfg(test)]
mod tests {
    use std::mem::zeroed;
    use std::ptr::null;

    use super::Lock;
    use crate::isolation::{Quiet, isolated};

    /// Whether a signal of the calling thread waits.
    fn waits(signal: i32) -> bool {
        // SAFETY: asks for the mask.
        unsafe {
            let mut mask = zeroed();
            libc::pthread_sigmask(libc::SIG_BLOCK, null(), &raw mut mask);
            libc::sigismember(&raw const mask, signal) == 1
        }
    }

    #[test]
    fn signals_wait_while_a_lock_is_held_but_faults_do_not() {
        static OUTER: Lock<u32> = Lock::new(1);
        static INNER: Lock<u32> = Lock::new(2);
        assert!(!waits(libc::SIGALRM));
        let outer = OUTER.lock();
        assert!(waits(libc::SIGALRM) && !waits(libc::SIGSEGV));
        {
            let inner = INNER.lock();
            assert!(waits(libc::SIGALRM) && *outer + *inner == 3);
        }
        assert!(waits(libc::SIGALRM), "the outer one is held");
        drop(outer);
        assert!(!waits(libc::SIGALRM));
        isolated(|| {
            drop(OUTER.lock());
            assert!(waits(libc::SIGALRM), "isolated work goes on");
        });
        assert!(!waits(libc::SIGALRM));
        let quiet = Quiet::begin();
        drop(OUTER.lock_in(&quiet));
        assert!(waits(libc::SIGALRM));
        drop(quiet);
        assert!(!waits(libc::SIGALRM));
    }
}
