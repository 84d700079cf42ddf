//! Look-ups of functions by name, which keep no module loaded.
//!
//! A program unloads its plugins, and runtimes with them. So a look-up takes no handle: a caller looks up what code
//! of that module calls right now, and so the module has another holder.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

use crate::listed;
use crate::module::File;
use crate::stub;
use crate::symbols;

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

impl Scope {
    /// The scope of that file's module; the global one if the loader does not find the module.
    pub(crate) fn of(file: &'static File) -> Scope {
        if !file.is_program && !file.name.is_empty() && listed::is_there(&file.name) {
            Scope::Module(file)
        } else {
            Scope::Next
        }
    }

    /// The function of that name, if there is one; `None` if the module is not loaded.
    ///
    /// Never finds this library's own: the library is not after itself, and not among another module's
    /// dependencies.
    pub(crate) fn function(self, name: &CStr) -> Option<Option<*mut c_void>> {
        match self {
            Scope::Next => Some(next(name)),
            Scope::Module(file) => listed::function_in(&file.name, name),
        }
    }

    /// Whether there is a function of that name.
    pub(crate) fn has(self, name: &CStr) -> bool {
        self.function(name).flatten().is_some()
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

    pub(crate) fn close(self) {
        // SAFETY: an open handle.
        unsafe { libc::dlclose(self.0.as_ptr()) };
    }
}

/// The function after this library in the global scope. A file of the start has it without the loader's lock.
pub(crate) fn next(name: &CStr) -> Option<*mut c_void> {
    listed::after_stub(name).or_else(|| {
        let found = stub::next(symbols::real()?, name);
        (!found.is_null()).then_some(found)
    })
}
