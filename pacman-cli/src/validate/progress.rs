//! The progress of the validation, on one line of a terminal.

use std::io::{self, Write};

use crate::terminal::Terminal;
use crate::validate::checks::Check;

/// A line on standard error, which is removed in the end. It shows nothing if standard error is not
/// a terminal.
#[derive(Debug)]
pub(super) struct Progress {
    shown: bool,
    checks: usize,
    repeats: usize,
    begun: usize,
    what: String,
}

impl Progress {
    pub(super) fn on_stderr(checks: usize, repeats: usize) -> Progress {
        let shown = Terminal::stderr().redraws;
        Progress { shown, checks, repeats, begun: 0, what: String::new() }
    }

    pub(super) fn begin(&mut self, check: &Check) {
        self.begun += 1;
        self.what = format!("{} on {}", check.name, check.kernel);
        self.repeat(0);
    }

    pub(super) fn repeat(&self, done: usize) {
        self.show(&format!(
            "{} of {}: {}, repeat {done} of {}",
            self.begun, self.checks, self.what, self.repeats
        ));
    }

    fn show(&self, line: &str) {
        if self.shown {
            // A line that cannot be shown is not worth stopping for.
            let _ = write!(io::stderr(), "\r\x1b[K{line}");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.show("");
    }
}
