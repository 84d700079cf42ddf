//! Locks for a process that forks.
//!
//! `fork(3)` copies one thread, and memory as it was at that instant. A lock that another thread
//! held or waited for remains so in the child for ever. So the forking thread locks the lists that
//! a child still needs during the fork, and unlocks them on both sides.
//!
//! The locks are the standard library's. `parking_lot`'s cannot be unlocked in the child: their
//! waiting threads stand in a queue outside of the lock, which the child inherits. Sometimes
//! `parking_lot` hands the lock to the first of them, which does not exist in the child.

use std::cell::{Cell, UnsafeCell};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{
    Mutex, MutexGuard, Once, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
};

/// A fork waits while a thread holds it for reading.
static FENCE: RwLock<()> = RwLock::new(());
/// The fence, held for writing while its thread forks.
static FORKING: ForkGuard<RwLockWriteGuard<'static, ()>> = ForkGuard::new();

/// Registers the handlers below, once.
pub(crate) fn watch_fence() {
    static HANDLERS: Once = Once::new();
    HANDLERS.call_once(|| {
        // SAFETY: the handlers live as long as the program, and open and close one lock.
        unsafe { libc::pthread_atfork(Some(before), Some(after), Some(after)) };
    });
}

extern "C" fn before() {
    // SAFETY: this one lock.
    unsafe { FORKING.put(FENCE.write().unwrap_or_else(PoisonError::into_inner)) };
}

extern "C" fn after() {
    // SAFETY: put there by `before` on this thread, or on the parent's thread that this one copies.
    drop(unsafe { FORKING.take() });
}

thread_local! {
    /// The number of [`Fenced`] values that this thread holds. It has no destructor.
    static FENCED: Cell<u32> = const { Cell::new(0) };
}

/// A value behind a lock that no thread holds, or waits for, when the process forks.
///
/// For many small locks, which are not locked one by one during the fork. A thread holds one for a
/// few instructions, opens no counters meanwhile, and does not fork. If it holds several, it
/// releases the first one last.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct Fenced<T>(parking_lot::Mutex<T>);

/// Access to a [`Fenced`] value until it is dropped.
#[doc(hidden)]
#[derive(Debug)]
pub struct FencedGuard<'l, T> {
    // Dropped in this order.
    value: parking_lot::MutexGuard<'l, T>,
    _part: Part,
}

/// A part of the fence. A thread with a part takes no second one. A forking thread may already wait
/// for the whole fence, and further requests for a part wait for that thread.
#[derive(Debug)]
struct Part(#[allow(dead_code)] Option<RwLockReadGuard<'static, ()>>);

impl Part {
    fn take() -> Part {
        watch_fence();
        let held = FENCED.get();
        let part = (held == 0).then(|| FENCE.read().unwrap_or_else(PoisonError::into_inner));
        FENCED.set(held + 1);
        Part(part)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        FENCED.set(FENCED.get() - 1);
    }
}

/// The value in `cell`, which `make` fills at the first use. No other thread forks meanwhile: the child would wait for
/// the thread that makes the value. `make` does not fork, and takes no lock that a fork handler takes before the fence.
/// So `pacman-omp`, whose handlers run first, has a lock of its own for this.
#[inline]
pub(crate) fn once<T>(cell: &OnceLock<T>, make: impl FnOnce() -> T) -> &T {
    cell.get().unwrap_or_else(|| {
        let _part = Part::take();
        cell.get_or_init(make)
    })
}

impl<T> Fenced<T> {
    /// A value that no thread holds.
    pub const fn new(value: T) -> Fenced<T> {
        Fenced(parking_lot::Mutex::new(value))
    }

    /// Waits for the value.
    pub fn lock(&self) -> FencedGuard<'_, T> {
        let _part = Part::take();
        FencedGuard { value: self.0.lock(), _part }
    }

    /// Takes the value if it is free.
    pub fn try_lock(&self) -> Option<FencedGuard<'_, T>> {
        let _part = Part::take();
        Some(FencedGuard { value: self.0.try_lock()?, _part })
    }
}

impl<T> Deref for FencedGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for FencedGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

/// A lock that can be held over a fork.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct Lock<T>(Mutex<T>);

/// The lock, held until it is dropped.
#[doc(hidden)]
pub type Locked<'l, T> = MutexGuard<'l, T>;

impl<T> Lock<T> {
    /// A lock that no thread holds.
    pub const fn new(value: T) -> Lock<T> {
        Lock(Mutex::new(value))
    }

    /// Waits for the lock. After a panic of its holder, the value is as the holder left it.
    #[inline]
    pub fn lock(&self) -> Locked<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the lock if it is free.
    #[inline]
    pub fn try_lock(&self) -> Option<Locked<'_, T>> {
        match self.0.try_lock() {
            Ok(locked) => Some(locked),
            Err(std::sync::TryLockError::Poisoned(locked)) => Some(locked.into_inner()),
            Err(std::sync::TryLockError::WouldBlock) => None,
        }
    }
}

/// The place where the forking thread keeps its locks during the fork.
#[doc(hidden)]
pub struct ForkGuard<L>(UnsafeCell<Option<L>>);

// SAFETY: `put` and `take` are for the thread that holds all locks of `L`; only one thread does.
unsafe impl<L> Sync for ForkGuard<L> {}

impl<L> ForkGuard<L> {
    /// Nothing is held.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> ForkGuard<L> {
        ForkGuard(UnsafeCell::new(None))
    }

    /// Stores the locks before the fork.
    ///
    /// # Safety
    /// `locked` must have the same locks at every call, so that no other thread is here.
    pub unsafe fn put(&self, locked: L) {
        // SAFETY: as the caller says.
        unsafe { *self.0.get() = Some(locked) };
    }

    /// Takes the locks after the fork, in the parent and in the child.
    ///
    /// # Safety
    /// The calling thread must have put them there, or must be the child's copy of that thread.
    pub unsafe fn take(&self) -> L {
        // SAFETY: as the caller says.
        let held = unsafe { (*self.0.get()).take() };
        held.expect("the C library calls both handlers, or none")
    }
}

impl<L> fmt::Debug for ForkGuard<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ForkGuard")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI32, Ordering};
    use std::thread;

    use super::{Fenced, ForkGuard, Lock, Locked};

    static LOCK: Lock<u32> = Lock::new(0);
    static HELD: ForkGuard<Locked<'static, u32>> = ForkGuard::new();

    /// Whether the thread with that number sleeps.
    fn sleeps(thread: i32) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/self/task/{thread}/stat")).unwrap();
        stat.rsplit(") ").next().unwrap().starts_with('S')
    }

    #[test]
    fn fenced_values_nest_while_others_fork() {
        static OUTER: Fenced<u32> = Fenced::new(0);
        static INNER: Fenced<u32> = Fenced::new(0);
        thread::scope(|scope| {
            let locker = scope.spawn(|| {
                for _ in 0..2_000 {
                    let mut outer = OUTER.lock();
                    *outer += 1;
                    assert!(INNER.try_lock().is_some());
                    *INNER.lock() += 1;
                }
            });
            while !locker.is_finished() {
                // SAFETY: the child takes locks, and ends without anything that could wait.
                let child = unsafe { libc::fork() };
                if child == 0 {
                    let free = OUTER.try_lock().is_some() && INNER.try_lock().is_some();
                    // SAFETY: ends the child.
                    unsafe { libc::_exit(i32::from(!free)) };
                }
                let mut status = 0;
                // SAFETY: the child is this thread's.
                assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
                assert_eq!(status, 0);
            }
        });
        assert_eq!((*OUTER.lock(), *INNER.lock()), (2_000, 2_000));
    }

    #[test]
    fn a_child_can_take_a_lock_that_others_waited_for() {
        for round in 0..20 {
            // SAFETY: this lock, here alone.
            unsafe { HELD.put(LOCK.lock()) };
            let waiting = AtomicI32::new(0);
            thread::scope(|scope| {
                let other = scope.spawn(|| {
                    // SAFETY: asks for a number.
                    waiting.store(unsafe { libc::gettid() }, Ordering::Release);
                    *LOCK.lock() += 1;
                });
                let thread = loop {
                    match waiting.load(Ordering::Acquire) {
                        0 => thread::yield_now(),
                        thread => break thread,
                    }
                };
                while !sleeps(thread) {
                    thread::yield_now();
                }
                // SAFETY: the child takes locks, and ends without anything that could wait.
                let child = unsafe { libc::fork() };
                if child == 0 {
                    // SAFETY: put there by the thread that this one is a copy of.
                    drop(unsafe { HELD.take() });
                    let free = LOCK.try_lock().is_some_and(|value| *value == round);
                    // SAFETY: ends the child.
                    unsafe { libc::_exit(i32::from(!free)) };
                }
                // SAFETY: put there above.
                drop(unsafe { HELD.take() });
                let mut status = 0;
                // SAFETY: the child is this thread's.
                assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
                assert_eq!(status, 0, "the child found the lock taken in round {round}");
                other.join().unwrap();
            });
        }
        assert_eq!(*LOCK.lock(), 20);
    }
}
