//! The main job on this machine's real software events: attach, phases, reports.

mod attach;
mod errors;
mod interrupted;
mod phases;
mod rotation;
mod scale;
mod sharing;
mod small_stack;

use pacman_core::Session;

/// A session of its own name: tests run side by side in one process.
fn session(name: &str, events: &str) -> Session {
    Session::builder(name).events(events).start().unwrap()
}
