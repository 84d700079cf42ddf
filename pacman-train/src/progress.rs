//! The progress of long work.

use indicatif::{ProgressBar, ProgressStyle};
use pacman_events::shown::shown;

/// A bar on standard error where that is a terminal, nothing elsewhere; gone when dropped.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    pub(crate) fn new(steps: usize, what: &str) -> Progress {
        let bar = ProgressBar::new(steps as u64).with_message(shown(what).to_string());
        if let Ok(style) = ProgressStyle::with_template("{msg} {bar:30} {pos}/{len} {eta}") {
            bar.set_style(style);
        }
        // Shows the bar before the first step is done. A steady tick would need a thread, and
        // indicatif panics where the system refuses one.
        bar.tick();
        Progress(bar)
    }

    pub(crate) fn step(&self) {
        self.0.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
