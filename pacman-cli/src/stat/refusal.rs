//! Why nothing is counted.

use std::io;

use pacman_core::{Error, ErrorKind};

use crate::error::BAD_INPUT;

/// Why nothing is counted: a line, and the exit status that says so.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) problem: String,
    pub(crate) status: u8,
}

/// The exit status when the machine does not let the command be counted.
pub(super) const REFUSED: u8 = 1;

impl From<&Error> for Refusal {
    /// What was asked for wrongly differs from what this machine refuses.
    fn from(error: &Error) -> Refusal {
        let bad_input = matches!(
            error.kind(),
            ErrorKind::NoEvents
                | ErrorKind::InvalidInput
                | ErrorKind::NoSuchPlace
                | ErrorKind::OtherModel
                | ErrorKind::TooManyEvents
                | ErrorKind::UnknownEvent
        );
        let status = if bad_input { BAD_INPUT } else { REFUSED };
        Refusal { problem: error.to_string(), status }
    }
}

pub(super) fn system(error: &io::Error) -> Refusal {
    Refusal { problem: format!("cannot count: the system says {error}"), status: REFUSED }
}
