//! The one line that says how a long run goes, on a terminal.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use pacman_report::words::grouped;

/// A line on standard error that is drawn over, and wiped in the end.
pub(super) struct Progress {
    next: Instant,
    drawn: bool,
}

impl Progress {
    pub(super) fn new(began: Instant) -> Progress {
        Progress { next: began + FIRST, drawn: false }
    }

    /// When the line is to be drawn next.
    pub(super) fn next(&self) -> Instant {
        self.next
    }

    /// Draws the line: the time, the running threads, and the total of the first event.
    pub(super) fn draw(&mut self, elapsed: Duration, running: &str, total: Option<(u64, &str)>) {
        let total = total.map(|(count, event)| format!(", {} {event}", grouped(count)));
        let line = format!(
            "\r\x1b[K{:.1} s, {running}{}",
            elapsed.as_secs_f64(),
            total.unwrap_or_default()
        );
        self.show(&line);
        (self.drawn, self.next) = (true, Instant::now() + EACH);
    }

    /// Wipes the line.
    pub(super) fn wipe(&mut self) {
        if std::mem::take(&mut self.drawn) {
            self.show("\r\x1b[K");
        }
    }

    /// A closed terminal must not stop the counting.
    fn show(&self, text: &str) {
        let mut terminal = io::stderr();
        let _ = terminal.write_all(text.as_bytes()).and_then(|()| terminal.flush());
    }
}

/// Short runs show nothing.
const FIRST: Duration = Duration::from_secs(1);
const EACH: Duration = Duration::from_millis(500);
