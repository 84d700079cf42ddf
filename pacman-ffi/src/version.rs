//! The library's version, and the check that header and library fit together.

use std::ffi::{c_char, c_int};

use crate::error::{Failure, Result, Status, answer_isolated};

/// The ABI of this library: major in the upper half, minor in the lower.
///
/// A new function, field, flag or code raises the minor. A change that an old program would notice
/// raises the major and the soname.
const ABI: u32 = 4;

/// Refuses a program whose header this library cannot serve.
pub(crate) fn shake_hands(theirs: u32) -> Result<()> {
    let (major, minor) = (theirs >> 16, theirs & 0xffff);
    let (our_major, our_minor) = (ABI >> 16, ABI & 0xffff);
    if major == our_major && (1..=our_minor).contains(&minor) {
        return Ok(());
    }
    let remedy = if theirs == 0 {
        "begin with PACMAN_OPTIONS_INIT"
    } else if (major, minor) > (our_major, our_minor) {
        "install the library that the header came with"
    } else {
        "compile the program with this library's header"
    };
    Err(Failure::new(
        Status::Abi,
        format!(
            "cannot serve a program for ABI {major}.{minor}: this libpacman {} has \
             {our_major}.{our_minor}; {remedy}",
            env!("CARGO_PKG_VERSION")
        ),
    ))
}

/// Returns the library's version.
#[unsafe(no_mangle)]
pub extern "C" fn pacman_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Whether this library serves programs compiled for the given ABI.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn pacman_abi_check(abi: u32) -> c_int {
    answer_isolated(|| {
        shake_hands(abi)?;
        Ok(Status::Ok)
    })
}

#[cfg(test)]
mod tests {
    use pacman_core::backend::MAX_EVENTS;
    use pacman_core::session::MAX_ROTATED_EVENTS;

    use super::*;

    #[test]
    fn the_header_states_this_version() {
        let header = include_str!("../include/pacman.h");
        for (name, value) in [
            ("PACMAN_VERSION_MAJOR", env!("CARGO_PKG_VERSION_MAJOR").to_string()),
            ("PACMAN_VERSION_MINOR", env!("CARGO_PKG_VERSION_MINOR").to_string()),
            ("PACMAN_VERSION_PATCH", env!("CARGO_PKG_VERSION_PATCH").to_string()),
            ("PACMAN_VERSION", format!("{:?}", env!("CARGO_PKG_VERSION"))),
            ("PACMAN_ABI_MAJOR", format!("{}u", ABI >> 16)),
            ("PACMAN_ABI_MINOR", format!("{}u", ABI & 0xffff)),
            ("PACMAN_EVENTS_MAX", MAX_ROTATED_EVENTS.to_string()),
            ("PACMAN_EVENTS_AT_ONCE", MAX_EVENTS.to_string()),
        ] {
            let line = header
                .lines()
                .find(|line| line.split_whitespace().nth(1) == Some(name))
                .unwrap_or_else(|| panic!("no {name}"));
            assert_eq!(line.split_whitespace().nth(2), Some(value.as_str()), "{name}");
        }
    }

    #[test]
    fn only_a_header_that_is_not_newer_is_served() {
        assert!(shake_hands(ABI).is_ok());
        for wrong in [0, ABI + 1, ABI + (1 << 16), u32::MAX] {
            assert!(shake_hands(wrong).is_err(), "{wrong:#x}");
        }
    }
}
