//! How far long work is.

use std::time::Duration;

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
        // So that it shows that something happens before the first step is done.
        bar.enable_steady_tick(Duration::from_millis(200));
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
