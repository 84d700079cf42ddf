//! The one error of all crates of this library: a kind for programs and one line of text for people.
//!
//! The line has the request, its object, the system's error and the remedy.
//! Absent, conflicting and forbidden are different kinds, because the remedy differs.

use std::fmt;

use crate::shown;

/// A failure, as one line for a person and an [`ErrorKind`] for a program.
///
/// ```
/// use pacman_events::{Error, ErrorKind};
/// let error = Error::from_errno(ErrorKind::System, 28, "cannot write it\n");
/// assert_eq!((error.kind(), error.errno()), (ErrorKind::System, Some(28)));
/// assert_eq!(error.to_string(), r"cannot write it\n");
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

/// The kinds of errors, by what a caller would do about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The calling thread is attached to this session already.
    AlreadyAttached,
    /// The events exist, but conflict with each other or with counters in use.
    Conflict,
    /// The calling thread is not attached to the session.
    NotAttached,
    /// A session of this name is open in this process.
    DuplicateSession,
    /// Nothing was given: no event, place, phase, configuration or sample.
    Empty,
    /// The topology describes another machine than the one that runs.
    ForeignTopology,
    /// The handle belongs to a process that forked; the child must open its own.
    Forked,
    /// A malformed argument: grammar, range or size.
    InvalidInput,
    /// The process or the system is out of file descriptors.
    NoDescriptors,
    /// The place is not a hardware context of the topology.
    NoSuchPlace,
    /// The machine offers no hardware counters (no PMU, or a VM without one).
    NoPmu,
    /// A metric cannot be computed from these counts, or not on this model; the text has the
    /// reason.
    NotComputable,
    /// The kernel took the counters away, or never gave them.
    NotScheduled,
    /// Known, but on other processor models; the text names them.
    OtherModel,
    /// Access is refused: paranoid level, capability, seccomp or cpuset.
    Permission,
    /// A phase was ended that was not begun, or not begun last.
    PhaseOrder,
    /// The place exists, but this process may not run there.
    PlaceNotAllowed,
    /// A signal handler begins or ends a phase inside a begin or an end that it interrupted.
    Reentered,
    /// The session was closed.
    Closed,
    /// The operating system refused for a reason of its own.
    System,
    /// More events than one group can hold.
    TooManyEvents,
    /// No event of that name; the text lists the nearest ones.
    UnknownEvent,
    /// Known, but this machine, model or kernel cannot do it.
    Unsupported,
}

impl Error {
    /// The class of the failure.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The `errno` of the kernel, if it caused the failure.
    pub fn errno(&self) -> Option<i32> {
        self.0.errno
    }

    /// A failure of that kind.
    ///
    /// The text is one line: the request, its object, the system's error and the remedy.
    #[cold]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        // The message may contain foreign names: escape them, so that it stays one line of text.
        let message = shown::line(&message.into()).into_owned();
        Error(Box::new(Inner { kind, message, errno: None }))
    }

    /// The same, with the `errno` of the kernel.
    #[cold]
    pub fn from_errno(kind: ErrorKind, errno: i32, message: impl Into<String>) -> Self {
        let mut error = Error::new(kind, message);
        error.0.errno = Some(errno);
        error
    }

    /// The same failure with additional text.
    #[cold]
    #[must_use]
    pub fn followed_by(mut self, more: &str) -> Self {
        self.0.message.push_str(&shown::line(more));
        self
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
        let error = Error::new(ErrorKind::InvalidInput, "no \x1b[2J\n\u{202e}name")
            .followed_by("; \u{9b}\n");
        let text = r"no \e[2J\n\u202ename; \u009b\n";
        assert_eq!(error.to_string(), text);
        assert_eq!(format!("{error:?}"), format!("InvalidInput: {text}"));
    }
}
