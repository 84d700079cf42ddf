//! Counters that are not there: too many events, and counters that others hold.

use pacman_core::{Result, Session};

/// Prints what each of the two is told.
pub(crate) fn run() -> Result<()> {
    for (name, placed) in [("too-many", too_many()), ("taken", taken())] {
        let told = placed
            .map_or_else(|error| format!("{:?}: {error}", error.kind()), |()| "placed".into());
        println!("{name} {told}");
    }
    Ok(())
}

/// As many events as there are general counters: four, on Arm six.
const ALL: &str = match cfg!(target_arch = "aarch64") {
    true => "r412e,r4f2e,r00c4,r00c5,r0149,r0151",
    false => "r412e,r4f2e,r00c4,r00c5",
};

/// One event more than there are counters.
fn too_many() -> Result<()> {
    Session::builder("too-many").events(format!("{ALL},r0108")).start()?;
    Ok(())
}

/// A second session when the first one holds every general counter.
fn taken() -> Result<()> {
    let first = Session::builder("first").events(ALL).start()?;
    let _held = first.attach()?;
    let second = Session::builder("second").events("r00c4,r00c5").start()?;
    let _thread = second.attach()?;
    Ok(())
}
