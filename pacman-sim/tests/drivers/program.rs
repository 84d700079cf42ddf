//! What the tests' threads do: known amounts of three kinds of things.

use pacman_events::{Encoding, Resolved, resolve};
use pacman_sim::Machine;

/// An event that a program can make happen, beside instructions and cycles.
pub(crate) const EVENT: &str = "BRANCHES";

/// The session's events, in order.
pub(crate) const EVENTS: &str = "CYCLES,INSTRUCTIONS,BRANCHES";

/// A program on one machine.
#[derive(Clone)]
pub(crate) struct Program {
    pub(crate) machine: Machine,
    event: Encoding,
}

impl Program {
    pub(crate) fn on(name: &str) -> Program {
        let machine = Machine::scripted(name).unwrap();
        let event = only(&resolve(machine.cpu(), EVENT).unwrap());
        Program { machine, event }
    }

    /// Retires `instructions`, with `times` of [`EVENT`] among them, in two pieces: other
    /// threads of the machine may run in between.
    pub(crate) fn work(&self, instructions: u64, times: u64) {
        let half = instructions / 2;
        self.machine.execute(half);
        self.machine.inject_event(&self.event, times);
        self.machine.execute(instructions - half);
    }
}

/// The encoding of a name that is one event.
pub(crate) fn only(resolved: &Resolved) -> Encoding {
    resolved.encoding().expect("one event").clone()
}
