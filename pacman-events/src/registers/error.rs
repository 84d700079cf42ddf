//! The reason why there is no register program.

use std::fmt;

use crate::shown;

/// The reason why there is no register program: one line of text and a [`RegisterErrorKind`].
#[derive(Clone, PartialEq, Eq)]
pub struct RegisterError {
    kind: RegisterErrorKind,
    message: String,
}

pub(super) type Result<T, E = RegisterError> = std::result::Result<T, E>;

/// The kinds of errors. Each kind has its own remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RegisterErrorKind {
    /// The encodings are not those of the plan.
    InvalidInput,
    /// The assignment has no event.
    NoEvents,
    /// No register counts the event, or the registers of the family are not known.
    Unsupported,
}

impl RegisterError {
    #[cold]
    pub(super) fn new(kind: RegisterErrorKind, message: impl Into<String>) -> RegisterError {
        RegisterError { kind, message: shown::line(&message.into()).into_owned() }
    }

    /// The kind of the error.
    pub fn kind(&self) -> RegisterErrorKind {
        self.kind
    }
}

impl fmt::Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.kind, self.message)
    }
}

impl std::error::Error for RegisterError {}
