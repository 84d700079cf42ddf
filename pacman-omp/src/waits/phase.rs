//! Phases of a thread: the time that it waited in them, on processors and off.

use super::processor::{Ended, PhaseClock};
use super::state::WaitState;

/// The state of a thread when a phase begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PhaseBegin {
    waited: u64,
    clock: PhaseClock,
}

impl WaitState {
    /// A phase begins.
    pub(crate) fn begin_phase(&self, now: impl Fn() -> u64) -> PhaseBegin {
        self.read_in_phase(now);
        PhaseBegin { waited: self.waited.get(), clock: self.processor.begin_phase() }
    }

    /// A phase ends. Answers the ticks that the thread waited in it, and the processor time of the phase
    /// and of its waits.
    pub(crate) fn end_phase(
        &self,
        begun: PhaseBegin,
        now: impl Fn() -> u64,
    ) -> (u64, Option<[(u64, u64); 2]>) {
        self.read_in_phase(now);
        let clock = self.processor.end_phase(begun.clock, !self.part.get().is_none());
        (self.waited.get() - begun.waited, clock)
    }

    /// Reads the processor clock at the begin or the end of a phase.
    fn read_in_phase(&self, now: impl Fn() -> u64) {
        let is_waiting = self.open.get().frame != 0 || self.idle_since.get() != 0;
        let ended = if is_waiting { Ended::Waiting } else { Ended::Useful };
        let at = now();
        self.processor.read(ended, now, at);
    }
}
