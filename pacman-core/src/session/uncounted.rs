//! The value of a program's work whose counters failed.

use std::error;
use std::fmt;

use pacman_events::{Error, ErrorKind};

/// The result of an execution that was not counted.
pub struct Uncounted<R> {
    /// The work's value.
    pub value: R,
    /// Why it was not counted.
    pub error: Error,
}

impl<R> Uncounted<R> {
    /// The work's value, for a program that goes on without counts.
    pub fn into_value(self) -> R {
        self.value
    }

    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.error.kind()
    }
}

impl<R> From<Uncounted<R>> for Error {
    fn from(uncounted: Uncounted<R>) -> Error {
        uncounted.error
    }
}

impl<R> fmt::Debug for Uncounted<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Uncounted").field("error", &self.error).finish_non_exhaustive()
    }
}

impl<R> fmt::Display for Uncounted<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<R> error::Error for Uncounted<R> {}
