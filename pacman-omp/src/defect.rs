//! A panic of the library ends observing with one line, and never the program.
//!
//! All work that may panic runs in [`contained`]: in [`isolated`](crate::isolation::isolated) and
//! [`floating::isolated`](crate::floating::isolated). After a panic such work has the result that stands for
//! "nothing is known", and no region is observed any more. The program's own code never runs in there, so no
//! exception of the program is caught. Code outside computes with numbers that wrap or saturate.

use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook};

use try_lock::TryLock;

use crate::process;

/// The line about the first panic.
static LINE: TryLock<Option<String>> = TryLock::new(None);

/// The result of work that panicked.
pub(crate) trait Unknown {
    fn unknown() -> Self;
}

macro_rules! unknown {
    ($($value:expr => $type:ty;)+) => {$(
        impl Unknown for $type {
            #[inline]
            fn unknown() -> $type {
                $value
            }
        }
    )+};
}

unknown! {
    () => ();
    false => bool;
    0 => i32;
    0 => u32;
    0 => u64;
    0 => usize;
    (0, 0) => (u64, u64);
}

impl<T> Unknown for Option<T> {
    #[inline]
    fn unknown() -> Option<T> {
        None
    }
}

impl<T> Unknown for Vec<T> {
    #[inline]
    fn unknown() -> Vec<T> {
        Vec::new()
    }
}

/// Has a panic say one line in place of Rust's own lines.
pub(crate) fn install_hook() {
    set_hook(Box::new(said));
}

fn said(panic: &PanicHookInfo<'_>) {
    let at = panic.location().map(ToString::to_string).unwrap_or_default();
    let text = panic.payload().downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.payload().downcast_ref::<String>().map(String::as_str));
    let why = text.unwrap_or("an unknown reason");
    let line = format!(
        "pacman-pmu: observing ends, and the program goes on: an error in libpacman_omp.so at {at}: {why}; \
         please report this line"
    );
    let Some(mut first) = LINE.try_lock().filter(|first| first.is_none()) else { return };
    let text = format!("{line}\n");
    // SAFETY: the bytes of a string. Standard error may be closed, and then nobody reads the line.
    unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len()) };
    *first = Some(line);
}

/// The line about a panic, if there was one.
pub(crate) fn line() -> Option<String> {
    LINE.try_lock()?.clone()
}

/// Does `work`. After a panic in it observing ends.
pub(crate) fn contained(work: &mut dyn FnMut()) {
    let work = || {
        injected();
        work();
    };
    // A half-done change of the library's state is never read: nothing is observed any more.
    if catch_unwind(AssertUnwindSafe(work)).is_err() {
        process::end_observing();
    }
}

/// Panics in the work that `PACMAN_LIBRARY_FAULT` numbers, in builds with debug assertions: for tests.
#[inline]
fn injected() {
    #[cfg(debug_assertions)]
    {
        use std::sync::OnceLock;
        use std::sync::atomic::{AtomicU64, Ordering};

        static CHOSEN: OnceLock<Option<u64>> = OnceLock::new();
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = || std::env::var("PACMAN_LIBRARY_FAULT").ok()?.parse().ok();
        if let Some(chosen) = *CHOSEN.get_or_init(number) {
            assert!(COUNT.fetch_add(1, Ordering::Relaxed) != chosen, "injected");
        }
    }
}
