//! The error of a metric without a value.

use std::fmt;

use pacman_events::{Error, ErrorKind};

/// "… is not computable because …".
#[cold]
pub(crate) fn not_computable(what: &str, because: impl fmt::Display) -> Error {
    Error::new(ErrorKind::NotComputable, format!("{what} is not computable because {because}"))
}
