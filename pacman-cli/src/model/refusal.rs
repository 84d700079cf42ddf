//! Bad input as an error.

use std::io;

/// The error for input that cannot be used: a line for the user.
pub(super) fn refuse(problem: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, problem)
}
