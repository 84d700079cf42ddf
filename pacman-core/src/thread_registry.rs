//! Values that a thread keeps until it ends.
//!
//! A thread that cannot hold its attachment as a value (a pool's worker, an OpenMP thread, a thread of
//! a C program) keeps it here. Sessions and the C library each keep values of a type of their own.

use std::cell::{Cell, RefCell};
use std::ptr;
use std::thread::LocalKey;

/// A value that threads keep, by key.
pub trait Keep: Sized + 'static {
    /// The key; a thread keeps at most one value of it.
    fn key(&self) -> u64;

    /// Called when the thread has ended.
    fn exited(self);

    /// The thread's values.
    fn kept() -> &'static LocalKey<Kept<Self>>;

    /// The value that was used last.
    fn last() -> &'static LocalKey<Last<Self>>;
}

/// The values of a thread.
#[derive(Debug)]
pub struct Kept<T: Keep> {
    /// Boxed, because [`Last`] points at them.
    #[allow(clippy::vec_box)]
    list: RefCell<Vec<Box<T>>>,
}

/// The key of the value that was used last, and the value: most threads have one. It has no
/// destructor, so that reading it is one load from the thread's block.
pub type Last<T> = Cell<(u64, *const T)>;

impl<T: Keep> Kept<T> {
    /// No values.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Kept<T> {
        Kept { list: RefCell::new(Vec::new()) }
    }
}

/// No value was used.
pub const fn none<T>() -> Last<T> {
    Cell::new((0, ptr::null()))
}

impl<T: Keep> Drop for Kept<T> {
    fn drop(&mut self) {
        forget_last::<T>();
        self.list.get_mut().drain(..).for_each(|value| value.exited());
    }
}

fn forget_last<T: Keep>() {
    T::last().set((0, ptr::null()));
}

/// Whether the thread can keep a value. It cannot once its thread-locals are gone.
pub fn can_keep<T: Keep>() -> bool {
    T::kept().try_with(|_| ()).is_ok()
}

/// Keeps a value in the thread. Returns false and drops it if the thread [cannot keep](can_keep)
/// it.
pub fn keep<T: Keep>(value: T) -> bool {
    T::kept().try_with(|kept| kept.list.borrow_mut().push(Box::new(value))).is_ok()
}

/// Takes a value back from the thread. Returns `None` if there is none, or if [`with`] uses one
/// further up this thread's stack.
pub fn take<T: Keep>(key: u64) -> Option<T> {
    let taken = T::kept().try_with(|kept| {
        let mut list = kept.list.try_borrow_mut().ok()?;
        let position = list.iter().position(|value| value.key() == key)?;
        forget_last::<T>();
        Some(*list.swap_remove(position))
    });
    taken.ok().flatten()
}

/// Drops the thread's values for which `stays` is false.
pub fn retain<T: Keep>(stays: impl Fn(&T) -> bool) {
    // A thread that is past its end has no values left.
    let _ = T::kept().try_with(|kept| {
        forget_last::<T>();
        kept.list.borrow_mut().retain(|value| stays(value));
    });
}

/// Runs `act` with the thread's value of a key.
pub fn with<T: Keep, R>(key: u64, act: impl FnOnce(&T) -> R) -> Option<R> {
    let done = T::kept().try_with(|kept| {
        // The borrow lasts while `act` runs: `take` then finds the list in use.
        let list = kept.list.borrow();
        Some(act(list.iter().find(|value| value.key() == key)?))
    });
    done.ok().flatten()
}

/// Like [`with`], but skips the list if the value was the last one used.
///
/// # Safety
/// The key must not be 0, which stands for no value. `act` must not take a value of this type from
/// the thread.
#[inline(always)]
pub unsafe fn quickly<T: Keep, R>(key: u64, act: impl FnOnce(&T) -> R) -> Option<R> {
    let (of, mut last) = T::last().get();
    if of != key {
        last = look_up(key)?;
    }
    // SAFETY: the key is not 0, so `last` points at a boxed value of this thread's list. It is cleared
    // before a value leaves the list, and `act` takes none.
    Some(act(unsafe { &*last }))
}

/// Finds the value of a key and notes it as the one used last.
#[cold]
fn look_up<T: Keep>(key: u64) -> Option<*const T> {
    let found = T::kept().try_with(|kept| {
        let list = kept.list.borrow();
        let value = list.iter().find(|value| value.key() == key)?;
        T::last().set((key, &raw const **value));
        Some(&raw const **value)
    });
    found.ok().flatten()
}
