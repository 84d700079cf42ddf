//! Installs a simulated machine, on which the whole process counts.

use once_cell::sync::OnceCell;

use pacman_core::platform;

use crate::fault::Fault;
use crate::kernel::Machine;
use pacman_events::{Error, ErrorKind, Result};

/// The environment variable that names a machine for programs without an option for it.
const VARIABLE: &str = "PACMAN_MACHINE";

/// A call of that machine that fails, and its `errno`.
const FAULT: &str = "PACMAN_MACHINE_FAULT";

/// Installs the live machine that the environment variable `PACMAN_MACHINE` names; without the
/// variable the process counts on the real machine.
///
/// Call this before any other function of the library:
/// [`Topology::detect`](pacman_topology::Topology::detect), event names and sessions then mean the
/// installed machine. The first call reads the variable. Further calls repeat its success, or try
/// again after an error.
///
/// # Errors
/// `UnknownMachine` if the variable names an unknown machine; `AlreadyCounting` if the process has
/// counted on another machine already; `InvalidFault` if the environment variable
/// `PACMAN_MACHINE_FAULT` is set, and not to a call and an `errno` such as `12:5`. That call of the
/// machine fails. `switch:3:16` names the fourth of the calls that enable or disable a group.
///
/// ```
/// pacman_sim::install()?;
/// # Ok::<(), pacman_sim::Error>(())
/// ```
pub fn install() -> Result<()> {
    static READ: OnceCell<()> = OnceCell::new();
    let read = || match std::env::var(VARIABLE) {
        Ok(name) if !name.is_empty() => simulate(&name).map_err(|error| {
            Error::new(error.kind(), format!("{error} ({VARIABLE} in the environment)"))
        }),
        _ => Ok(()),
    };
    READ.get_or_try_init(read).copied()
}

/// Installs the live machine `name`. Call this before the process counts anything. Later calls for
/// the same name do nothing.
///
/// # Errors
/// As for [`install`].
pub fn simulate(name: &str) -> Result<()> {
    static INSTALLED: OnceCell<Machine> = OnceCell::new();
    let installed = INSTALLED.get_or_try_init(|| {
        let machine = Machine::live(name)?;
        if let Ok(fault) = std::env::var(FAULT) {
            let (is_switch, call, errno) = fault_of(&fault)?;
            let fault = Fault::Errno(errno);
            match is_switch {
                true => machine.inject_fault_at_switch(call, fault),
                false => machine.inject_fault(call, fault),
            }
        }
        count_on(&machine)?;
        Ok::<_, Error>(machine)
    })?;
    if installed.name().eq_ignore_ascii_case(name) {
        return Ok(());
    }
    // The process may count on another machine by now. That is an error with both names.
    count_on(&Machine::live(name)?)
}

/// The call and the error of a text such as `12:5`, or `switch:3:16` for one of the calls that enable or
/// disable a group.
fn fault_of(text: &str) -> Result<(bool, u64, i32)> {
    let (is_switch, numbers) = match text.strip_prefix("switch:") {
        Some(numbers) => (true, numbers),
        None => (false, text),
    };
    let parts = numbers.split_once(':').and_then(|(call, errno)| {
        let errno = errno.parse().ok().filter(|errno| (1..4096).contains(errno))?;
        Some((is_switch, call.parse().ok()?, errno))
    });
    parts.ok_or_else(|| {
        let why = format!(
            "{text:?} is no call and errno of a fault, such as 12:5 or switch:3:16 ({FAULT} in the environment)"
        );
        Error::new(ErrorKind::InvalidInput, why)
    })
}

fn count_on(machine: &Machine) -> Result<()> {
    platform::install(machine.into())
        .map_err(|error| Error::new(ErrorKind::Conflict, error.to_string()))
}
