//! Counters that are not there: too many events, and counters that others hold.

use pacman_core::{Result, Session};

/// Five events for four general counters.
pub(crate) fn too_many() -> Result<()> {
    Session::builder("too-many").events("r412e,r4f2e,r00c4,r00c5,r0108")?.start()?;
    println!("placed");
    Ok(())
}

/// A second session when the first one holds every general counter.
pub(crate) fn taken() -> Result<()> {
    let first = Session::builder("first").events("r412e,r4f2e,r00c4,r00c5")?.start()?;
    let _held = first.attach()?;
    let second = Session::builder("second").events("r00c4,r00c5")?.start()?;
    let _thread = second.attach()?;
    println!("placed");
    Ok(())
}
