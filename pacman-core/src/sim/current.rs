//! The machine that a whole process counts on, where that is a simulated one.

use once_cell::sync::OnceCell;

use super::Machine;
use crate::error::{Error, ErrorKind, Result};

/// The environment variable that names a machine for programs that have no option for it.
const VARIABLE: &str = "PACMAN_MACHINE";

static CURRENT: OnceCell<Option<Machine>> = OnceCell::new();

/// The live machine that this process counts on by default, if `PACMAN_MACHINE` names one or
/// [`simulate`] chose one: [`Topology::detect`](crate::Topology::detect), event names and
/// sessions then mean that machine.
///
/// # Errors
/// `InvalidInput` if `PACMAN_MACHINE` names no machine.
pub fn current() -> Result<Option<&'static Machine>> {
    let machine = CURRENT.get_or_try_init(|| match std::env::var(VARIABLE) {
        Ok(name) if !name.is_empty() => Machine::live(&name).map(Some).map_err(|error| {
            Error::new(ErrorKind::InvalidInput, format!("{error} ({VARIABLE} in the environment)"))
        }),
        _ => Ok(None),
    })?;
    Ok(machine.as_ref())
}

/// Makes the machine `name` the one that this process counts on, before anything was counted.
///
/// # Errors
/// `InvalidInput` for an unknown name, or if the process has counted on another machine already.
pub fn simulate(name: &str) -> Result<()> {
    let wanted = Machine::live(name)?;
    let now = CURRENT.get_or_init(|| Some(wanted));
    if now.as_ref().is_some_and(|machine| machine.name().eq_ignore_ascii_case(name)) {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::InvalidInput,
        format!(
            "cannot simulate {name:?} now: this process has counted on another machine already"
        ),
    ))
}
