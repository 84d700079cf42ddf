//! One error type for the whole library: a kind for programs and one line of text for people.
//!
//! The line says what was asked, on what, what the system said and what to do.
//! Absent, conflicting and forbidden are different kinds, because the remedy differs.

use std::fmt;

use pacman_events::registers::{RegisterError, RegisterErrorKind};
use pacman_events::shown;

/// A failure, as one line for a person and an [`ErrorKind`] for a program.
///
/// ```
/// use pacman_core::{ErrorKind, Event};
/// let error = "page-fault".parse::<Event>().unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::UnknownEvent);
/// ```
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
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
    /// No event, place or phase was given.
    NoEvents,
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

    /// A failure of an implementation of [`Platform`](crate::platform::Platform) or of a backend.
    ///
    /// The text says in one line what was asked, on what, what the system said and what to do.
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
    pub(crate) fn followed_by(mut self, more: &str) -> Self {
        self.0.message.push_str(&shown::line(more));
        self
    }
}

impl From<pacman_topology::Error> for Error {
    fn from(error: pacman_topology::Error) -> Error {
        use pacman_topology::ErrorKind as Topology;
        let kind = match error.kind() {
            Topology::ForeignTopology => ErrorKind::ForeignTopology,
            Topology::InvalidInput => ErrorKind::InvalidInput,
            Topology::NoPlaces => ErrorKind::NoEvents,
            Topology::NoSuchPlace => ErrorKind::NoSuchPlace,
            Topology::Permission => ErrorKind::Permission,
            Topology::PlaceNotAllowed => ErrorKind::PlaceNotAllowed,
            Topology::Unsupported => ErrorKind::Unsupported,
            // The kind may grow; other failures are refusals by the system.
            _ => ErrorKind::System,
        };
        match error.errno() {
            Some(errno) => Error::from_errno(kind, errno, error.to_string()),
            None => Error::new(kind, error.to_string()),
        }
    }
}

impl From<RegisterError> for Error {
    fn from(error: RegisterError) -> Error {
        let kind = match error.kind() {
            RegisterErrorKind::InvalidInput => ErrorKind::InvalidInput,
            RegisterErrorKind::NoEvents => ErrorKind::NoEvents,
            // The kind may grow; other failures mean that there are no registers.
            _ => ErrorKind::Unsupported,
        };
        Error::new(kind, error.to_string())
    }
}

#[cfg(feature = "adapt")]
impl From<pacman_adapt::Error> for Error {
    fn from(error: pacman_adapt::Error) -> Error {
        use pacman_adapt::ErrorKind as Adapt;
        let kind = match error.kind() {
            Adapt::ForeignTopology => ErrorKind::ForeignTopology,
            Adapt::InvalidInput => ErrorKind::InvalidInput,
            Adapt::NoSuchPlace => ErrorKind::NoSuchPlace,
            Adapt::NothingToChoose => ErrorKind::NoEvents,
            Adapt::Permission => ErrorKind::Permission,
            Adapt::PlaceNotAllowed => ErrorKind::PlaceNotAllowed,
            Adapt::Unsupported => ErrorKind::Unsupported,
            // The kind may grow; other failures are refusals by the system.
            _ => ErrorKind::System,
        };
        match error.errno() {
            Some(errno) => Error::from_errno(kind, errno, error.to_string()),
            None => Error::new(kind, error.to_string()),
        }
    }
}

#[cfg(feature = "metrics")]
impl From<pacman_metrics::Error> for Error {
    fn from(error: pacman_metrics::Error) -> Error {
        let kind = match error.kind() {
            pacman_metrics::ErrorKind::InvalidInput => ErrorKind::InvalidInput,
            pacman_metrics::ErrorKind::UnknownEvent => ErrorKind::UnknownEvent,
            // The kind may grow; other failures of metrics mean that they cannot be computed.
            _ => ErrorKind::NotComputable,
        };
        Error::new(kind, error.to_string())
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

    #[cfg(feature = "metrics")]
    #[test]
    fn an_error_of_a_metric_keeps_its_kind_and_its_line() {
        let expression = "2 +".parse::<pacman_metrics::language::Expression>().unwrap_err();
        let none = pacman_metrics::smt::idle_times(0.0, &[], 0.1).unwrap_err();
        for (of_metrics, kind) in
            [(expression, ErrorKind::InvalidInput), (none, ErrorKind::NotComputable)]
        {
            let error = Error::from(of_metrics.clone());
            assert_eq!((error.kind(), error.to_string()), (kind, of_metrics.to_string()));
        }
    }
}
