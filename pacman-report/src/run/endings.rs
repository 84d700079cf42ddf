//! Words about the endings of processes.

use pacman_events::plural::number;
use pacman_regions::{Ending, Recording};

use crate::exit::named;

/// A note on how the process ended, where that affects the figures.
pub(super) fn note(recording: &Recording) -> Option<String> {
    let executions = recording.executions();
    let executions = number(executions, "execution");
    let after = format!("after {executions} of regions; those under way are not counted");
    Some(match recording.process.ending {
        Ending::Exit => return None,
        Ending::ExitInRegion => {
            "the process ended inside a region: executions under way are not counted".into()
        }
        Ending::Exec => {
            "the process became another program: what that one did is told apart".into()
        }
        Ending::Killed(signal) => format!("the process was ended by {} {after}", named(signal)),
        Ending::Unsaid => {
            format!("the process ended without saying how, as by a signal or quick_exit, {after}")
        }
        Ending::Running => format!("the process went on when this was written, {after}"),
    })
}
