//! The error of every metric: a kind to branch on and one line to read.

use std::fmt;

use pacman_events::shown;

/// A failure, as one line for a person and an [`ErrorKind`] for a program.
///
/// ```
/// use pacman_metrics::{ErrorKind, language::Expression};
/// let error = "2 +".parse::<Expression>().unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::InvalidInput);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

/// Shorthand for a [`std::result::Result`] with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kinds of errors, by what a caller would do about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The text of a metric is malformed.
    InvalidInput,
    /// A metric cannot be computed from these counts, or not on this model; the text has the
    /// reason.
    NotComputable,
    /// A metric names an event that the model lacks; the text lists the nearest names.
    UnknownEvent,
}

impl Error {
    #[cold]
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        // The message may contain foreign names: escape them, so that it stays one line of text.
        Error { kind, message: shown::line(&message.into()).into_owned() }
    }

    /// The class of the failure.
    pub fn kind(&self) -> ErrorKind {
        self.kind
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

/// "… is not computable because …".
#[cold]
pub(crate) fn not_computable(what: &str, because: impl fmt::Display) -> Error {
    Error::new(ErrorKind::NotComputable, format!("{what} is not computable because {because}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_line_of_text_whatever_it_is_made_of() {
        let error = Error::new(ErrorKind::InvalidInput, "no \x1b[2J\nname");
        assert_eq!(error.to_string(), r"no \e[2J\nname");
        assert_eq!(format!("{error:?}"), r"InvalidInput: no \e[2J\nname");
    }
}
