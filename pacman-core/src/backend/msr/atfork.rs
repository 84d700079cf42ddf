//! Forks: a child gives up every register.

use std::sync::Once;

use super::signal::Handlers;
use super::{claims, undo};

/// Registers the handlers of forks, once.
pub(crate) fn install_atfork() {
    static HANDLERS: Once = Once::new();
    HANDLERS.call_once(|| {
        let (before, in_parent) = (claims::before_fork, claims::in_parent);
        // SAFETY: the functions live as long as the program. `in_child` makes no call that is
        // forbidden between fork and exec.
        unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
    });
}

extern "C" fn in_child() {
    undo::disown_all();
    claims::in_child(Handlers::disown);
}
