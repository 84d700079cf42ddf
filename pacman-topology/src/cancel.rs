//! Keeps `pthread_cancel(3)` out of this library's calls.
//!
//! Nearly every system call of the C library is a cancellation point, where the C library unwinds a
//! cancelled thread. Rust's frames do not support that, and the process ends. So a call that makes
//! system calls puts cancellation off. The thread is then cancelled at the program's next own
//! cancellation point.

use std::ffi::c_int;

// Not in the libc crate for every target.
unsafe extern "C-unwind" {
    fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
    fn pthread_setcanceltype(kind: c_int, before: *mut c_int) -> c_int;
}

const DISABLE: c_int = 1;
const DEFERRED: c_int = 0;

/// The cancellation state of a thread, as it was before.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Before {
    state: c_int,
    kind: c_int,
}

/// Puts the cancellation of the calling thread off, until [`allow`] gets the returned state.
#[doc(hidden)]
#[inline]
pub fn put_off() -> Before {
    let mut before = Before { state: DISABLE, kind: DEFERRED };
    // Sets type and state, because glibc's cancellation ends an asynchronous thread even if the
    // thread has disabled cancellation before. That was seen with glibc 2.36. The race is smaller
    // here, but not closed.
    // SAFETY: the calls take constants of both glibc and musl, and live places for the old values.
    unsafe {
        pthread_setcanceltype(DEFERRED, &raw mut before.kind);
        pthread_setcancelstate(DISABLE, &raw mut before.state);
    }
    before
}

/// Undoes [`put_off`]. With asynchronous cancellation, a pending one takes effect here. The frames
/// above unwind, so they must have nothing to drop.
#[doc(hidden)]
#[inline]
pub fn allow(before: Before) {
    let mut now = 0;
    // SAFETY: the calls take values that they returned before, and a live place for another.
    unsafe {
        pthread_setcancelstate(before.state, &raw mut now);
        pthread_setcanceltype(before.kind, &raw mut now);
    }
}

/// Calls `act`, during which the calling thread is not cancelled.
///
/// Makes no system call. Calls may be nested.
///
/// ```
/// let text = pacman_topology::cancel::put_off_during(|| std::fs::read_to_string("/proc/self/comm"));
/// assert!(text.is_ok());
/// ```
#[inline]
pub fn put_off_during<R>(act: impl FnOnce() -> R) -> R {
    struct Undo(Before);
    impl Drop for Undo {
        fn drop(&mut self) {
            allow(self.0);
        }
    }
    let _undo = Undo(put_off());
    act()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn state() -> c_int {
        let before = put_off();
        allow(before);
        before.state
    }

    #[test]
    fn the_state_is_as_before_after_nested_calls_and_panics() {
        assert_eq!(state(), 0, "threads can be cancelled from the start");
        put_off_during(|| {
            assert_eq!(state(), DISABLE);
            put_off_during(|| assert_eq!(state(), DISABLE));
            assert_eq!(state(), DISABLE);
        });
        assert_eq!(state(), 0);
        let panicked =
            std::panic::catch_unwind(|| put_off_during(|| std::panic::resume_unwind(Box::new(()))));
        assert!(panicked.is_err());
        assert_eq!(state(), 0);
    }
}
