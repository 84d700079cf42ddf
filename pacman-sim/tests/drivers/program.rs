//! The work of the tests' threads: known amounts of three kinds of things.

use pacman_core::platform::Platform;
use pacman_events::{CpuModel, Encoding, Resolved, resolve};
use pacman_sim::Machine;

/// An event that a program can cause, in addition to instructions and cycles.
pub(crate) const EVENT: &str = "BRANCHES";

/// The session's events, in order.
pub(crate) const EVENTS: &str = "CYCLES,INSTRUCTIONS,BRANCHES";

/// The scripted machine of this name. With `_arm64` or `_arm32` at its end, its kernel permits user
/// reads as on AArch64, of counters with 64 or 32 bits.
pub(crate) fn machine(name: &str) -> Machine {
    let (name, long) = match name.split_once("_arm") {
        Some((name, bits)) => (name, Some(bits == "64")),
        None => (name, None),
    };
    let machine = Machine::scripted(name).unwrap();
    if let Some(long) = long {
        machine.give_leave_on_request(long);
    }
    machine
}

/// A program on one machine.
#[derive(Clone)]
pub(crate) struct Program {
    pub(crate) machine: Machine,
    /// [`EVENT`] on each core type.
    events: Vec<Encoding>,
}

impl Program {
    pub(crate) fn on(name: &str) -> Program {
        let machine = machine(name);
        let mut models: Vec<CpuModel> = machine.core_types().iter().map(|it| it.model()).collect();
        if models.is_empty() {
            models.push(machine.cpu());
        }
        let event = |model| only(&resolve(model, EVENT).unwrap());
        let events = models.into_iter().map(event).collect();
        Program { machine, events }
    }

    /// The event as the core under the calling thread knows it.
    fn event(&self) -> &Encoding {
        let cpu = self.machine.current_cpu();
        let types = self.machine.core_types();
        let here = types.iter().position(|core_type| core_type.cpus().contains(cpu));
        &self.events[here.unwrap_or(0)]
    }

    /// Retires `instructions`, with `times` of [`EVENT`] among them, in two pieces: other
    /// threads of the machine may run in between.
    pub(crate) fn work(&self, instructions: u64, times: u64) {
        let half = instructions / 2;
        self.machine.execute(half);
        self.machine.inject_event(self.event(), times);
        self.machine.execute(instructions - half);
    }
}

/// The encoding of a name that is one event.
pub(crate) fn only(resolved: &Resolved) -> Encoding {
    resolved.encoding().expect("one event").clone()
}
