//! The error of every call: a kind to branch on and one line to read.

use std::fmt;

use pacman_events::shown;

/// A failure, as one line for a person and an [`ErrorKind`] for a program.
///
/// ```
/// use pacman_topology::{ErrorKind, Topology};
/// let error = Topology::synthetic("2 sockets").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::InvalidInput);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    kind: ErrorKind,
    message: String,
    errno: Option<i32>,
}

/// Shorthand for a [`std::result::Result`] with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The class of a failure. Each class has its own remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The topology describes another machine than this one.
    ForeignTopology,
    /// A malformed argument: grammar, range or size.
    InvalidInput,
    /// A list of places or of threads is empty.
    NoPlaces,
    /// The place is not a hardware context of the topology.
    NoSuchPlace,
    /// Access is refused by a seccomp filter or a security module.
    Permission,
    /// The place exists, but this process may not run there.
    PlaceNotAllowed,
    /// The operating system refused for a reason of its own.
    System,
    /// This build or this machine cannot do it.
    Unsupported,
}

impl Error {
    /// A failure of an implementation of [`Processors`](crate::processors::Processors).
    ///
    /// The text says in one line what was asked, on what, what the system said and what to do.
    #[cold]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        // The message may contain foreign names: escape them, so that it stays one line of text.
        let message = shown::line(&message.into()).into_owned();
        Error(Box::new(Inner { kind, message, errno: None }))
    }

    /// The same, with the `errno` of the kernel.
    #[cold]
    pub fn from_errno(kind: ErrorKind, errno: i32, message: impl Into<String>) -> Error {
        let mut error = Error::new(kind, message);
        error.0.errno = Some(errno);
        error
    }

    /// The class of the failure.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The `errno` of the kernel, if it caused the failure.
    pub fn errno(&self) -> Option<i32> {
        self.0.errno
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.0.kind, self.0.message)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_line_of_text_whatever_it_is_made_of() {
        let error = Error::new(ErrorKind::InvalidInput, "no \x1b[2J\n\u{202e}name");
        let text = r"no \e[2J\n\u202ename";
        assert_eq!(error.to_string(), text);
        assert_eq!(format!("{error:?}"), format!("InvalidInput: {text}"));
    }
}
