//! The users of runtimes that the program opened for all modules (`RTLD_GLOBAL`).
//!
//! The loader keeps such a runtime loaded for as long as a module is loaded whose calls it has bound to it, even if
//! the program closes its handle. With this library the calls are bound to the library, so that the loader
//! does not know of the user. So the library has a handle of the runtime for each user, until the user is unloaded.

use std::ops::Range;

use crate::lock::Lock;
use crate::module::{File, Module};
use crate::scope::Handle;

/// A module that uses a runtime.
#[derive(Debug)]
pub(crate) struct User {
    file: &'static File,
    /// An address in the module.
    at: u64,
    runtime: &'static File,
    handle: Option<Handle>,
}

pub(crate) static USERS: Lock<Vec<User>> = Lock::new(Vec::new());

/// Code at `at` in the module `user` calls a function of `runtime`.
pub(crate) fn uses(user: &Module, at: u64, runtime: &Module) {
    let (file, runtime) = (user.file, runtime.file);
    if std::ptr::eq(file, runtime) {
        return;
    }
    let is_known =
        |known: &User| std::ptr::eq(known.file, file) && std::ptr::eq(known.runtime, runtime);
    if USERS.lock().iter().any(is_known) {
        return;
    }
    // The loader has a lock of its own.
    let handle = Handle::of(runtime);
    USERS.lock().push(User { file, at, runtime, handle });
}

/// Closes the handles of users at `addresses`, which are not there any more. Answers whether there were any.
pub(crate) fn release(addresses: &Range<u64>) -> bool {
    let mut users = USERS.lock();
    let all = std::mem::take(&mut *users);
    let (gone, kept): (Vec<User>, Vec<User>) =
        all.into_iter().partition(|user| addresses.contains(&user.at));
    *users = kept;
    drop(users);
    let handles: Vec<Handle> = gone.into_iter().filter_map(|user| user.handle).collect();
    let any = !handles.is_empty();
    handles.into_iter().for_each(Handle::close);
    any
}
