//! The reasons why a machine cannot be simulated.

use std::fmt;

use pacman_events::shown;

/// A failure, as one line for a person and an [`ErrorKind`] for a program.
///
/// ```
/// use pacman_sim::{ErrorKind, Machine};
/// let error = Machine::scripted("z80").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::UnknownMachine);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

/// Shorthand for a [`std::result::Result`] with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The class of a failure, by the remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The process counts on another machine already.
    AlreadyCounting,
    /// A planned fault is not a call and an `errno`.
    InvalidFault,
    /// No machine with that name is simulated; the text lists the names.
    UnknownMachine,
}

impl Error {
    #[cold]
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        // The message contains names from other sources. Their control characters are escaped, so
        // that it is one line of text.
        Error { kind, message: shown::line(&message.into()).into_owned() }
    }

    /// The class of the failure.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl From<Error> for pacman_core::Error {
    fn from(error: Error) -> pacman_core::Error {
        pacman_core::Error::new(pacman_core::ErrorKind::InvalidInput, error.message)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.kind, self.message)
    }
}

impl std::error::Error for Error {}
