//! What was not tested here.

use std::fmt::Display;
use std::io::Write;

/// Says that the calling test leaves something out, and why.
///
/// Past the capture of a test's output: who sees the test pass sees this, too.
pub fn skipped(why: impl Display) {
    let thread = std::thread::current();
    let test = thread.name().map_or(String::new(), |name| format!("{name}: "));
    // A closed standard error is no reason to fail.
    let _ = std::io::stderr().write_all(format!("skipped: {test}{why}\n").as_bytes());
}
