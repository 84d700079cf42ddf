//! Look-ups of functions by name, which keep no module loaded.
//!
//! A program unloads its plugins, and runtimes with them. So a handle is open during a look-up only: a caller
//! looks up what code of that module calls right now, and so the module has another holder.

use std::ffi::{CStr, c_int, c_void};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::function::Function;
use crate::module::File;
use crate::stub;

/// The modules among which functions are looked up.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scope {
    /// Those after this library in the global scope.
    Next,
    /// A loaded module and its own dependencies. This library is not among them.
    Module(&'static File),
}

/// Keeps a module loaded until it is closed.
#[derive(Debug)]
pub(crate) struct Handle(NonNull<c_void>);

// SAFETY: the loader's functions take handles on any thread.
unsafe impl Send for Handle {}

/// A scope during look-ups.
#[derive(Clone, Copy)]
pub(crate) struct OpenScope(*mut c_void);

impl Scope {
    /// The scope of that file's module; the global one if the loader does not find the module.
    pub(crate) fn of(file: &'static File) -> Scope {
        match Scope::Module(file).within(|_| ()) {
            Some(()) => Scope::Module(file),
            None => Scope::Next,
        }
    }

    /// The function, if there is one; `None` if the module is not loaded.
    ///
    /// A thread that runs a plugin's constructor holds the lock of the loader's functions, and may wait for the
    /// caller, a member of its team. So they are called only if the tables of the module have no such function.
    pub(crate) fn function(self, function: Function) -> Option<Option<*mut c_void>> {
        if let Scope::Module(file) = self {
            let found = stub::in_file(&file.name, function.symbol());
            if !found.is_null() {
                return Some(Some(found));
            }
        }
        self.within(|scope| scope.look_up(function))
    }

    /// Calls `act` with the scope; `None` if its module is not loaded.
    pub(crate) fn within<R>(self, act: impl FnOnce(OpenScope) -> R) -> Option<R> {
        let Scope::Module(file) = self else { return Some(act(OpenScope(libc::RTLD_NEXT))) };
        let handle = Handle::of(file)?;
        let answer = act(OpenScope(handle.0.as_ptr()));
        handle.close();
        Some(answer)
    }
}

impl Handle {
    /// A handle of that file's module; `None` if it is not loaded.
    pub(crate) fn of(file: &File) -> Option<Handle> {
        if file.name.is_empty() {
            return None;
        }
        // SAFETY: finds the module again, and loads nothing.
        let handle =
            unsafe { libc::dlopen(file.name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        NonNull::new(handle).map(Handle)
    }

    /// Closes it by the C library's own function, whose name this library has, too.
    pub(crate) fn close(self) {
        static REAL: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
        let mut real = REAL.load(Ordering::Relaxed);
        if real.is_null() {
            let Some(found) = next(Function::dlclose) else { return };
            real = found;
            REAL.store(real, Ordering::Relaxed);
        }
        // SAFETY: the C library's function of that name, which is never unloaded, with an open handle.
        unsafe {
            let real: unsafe extern "C" fn(*mut c_void) -> c_int = std::mem::transmute(real);
            real(self.0.as_ptr());
        }
    }
}

impl OpenScope {
    /// The function of that name.
    ///
    /// Never finds this library's own: the library is not after itself, and not among another module's
    /// dependencies.
    pub(crate) fn look_up(self, function: Function) -> Option<*mut c_void> {
        let real = self.by_name(function.symbol());
        (!real.is_null()).then_some(real)
    }

    /// Whether there is a function of that name.
    pub(crate) fn has(self, name: &CStr) -> bool {
        !self.by_name(name).is_null()
    }

    /// The symbol of that name; null if there is none.
    fn by_name(self, name: &CStr) -> *mut c_void {
        if self.0 == libc::RTLD_NEXT {
            return stub::next(name);
        }
        // SAFETY: an open handle.
        unsafe { libc::dlsym(self.0, name.as_ptr()) }
    }
}

/// The function after this library in the global scope.
pub(crate) fn next(function: Function) -> Option<*mut c_void> {
    OpenScope(libc::RTLD_NEXT).look_up(function)
}
