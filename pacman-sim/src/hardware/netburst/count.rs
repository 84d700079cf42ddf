//! The counts that ESCRs and CCCRs select.

use super::super::activity::Activity;
use super::super::clock::Clock;
use super::super::clocks::ContextCounts;
use super::super::intrinsic::{NON_SLEEP, filter, intrinsic};
use super::super::signal::{NetBurstSignal, Signal};
use super::tagging::{EXECUTION_EVENT, Escr};
use super::{COUNTERS, ENABLE, FORCE_OVF, NetBurst, OVF, WIDTH, wiring};

impl NetBurst {
    pub(in super::super) fn pass(&mut self, activity: &[Activity<'_>]) {
        let mut counted = [0; COUNTERS];
        for (n, counted) in counted.iter_mut().enumerate() {
            *counted = self.counted(n, activity);
        }
        for (n, counted) in counted.into_iter().enumerate().filter(|(_, counted)| *counted > 0) {
            self.pending[n] = None;
            let wrapped = self.counter[n].add(counted, WIDTH);
            if wrapped || self.cccr[n] & FORCE_OVF != 0 {
                self.cccr[n] |= OVF;
            }
        }
    }

    fn counted(&self, n: usize, activity: &[Activity<'_>]) -> u64 {
        let cccr = self.cccr[n];
        if cccr & ENABLE == 0 || !self.is_time(cccr, activity) {
            return 0;
        }
        let Some(msr) = wiring::escr(n, cccr >> 13 & 7, self.generation.iq_escrs) else { return 0 };
        let escr = self.escr(msr);
        let filter = filter(cccr);
        if filter == NON_SLEEP {
            // Any ESCR that selects an event suffices; rings and threads do not matter.
            let cycles = activity.iter().map(|it| ContextCounts::of(it).core);
            return if escr.event() == 0 { 0 } else { cycles.max().unwrap_or(0) };
        }
        if !wiring::can_select(msr, escr.event(), self.generation.late_ioq) {
            return 0;
        }
        let contexts = activity.iter().enumerate();
        contexts.map(|(context, activity)| self.heard(escr, filter, context, activity)).sum()
    }

    /// The CCCR's active-thread field: a condition on when to count, not on whose work. A
    /// halted logical processor is inactive. Without a sibling the field must be 3.
    fn is_time(&self, cccr: u64, activity: &[Activity<'_>]) -> bool {
        let active = activity.iter().filter(|it| it.slice().is_some()).count();
        match cccr >> 16 & 3 {
            3 => active > 0,
            _ if self.contexts == 1 => false,
            field => active as u64 == field,
        }
    }

    /// The occurrences that an ESCR sees of one logical processor's work.
    fn heard(&self, escr: Escr, filter: u32, context: usize, activity: &Activity<'_>) -> u64 {
        let Some(slice) = activity.slice() else { return 0 };
        if !escr.qualifies(context, slice.ring) {
            return 0;
        }
        let selected = NetBurstSignal {
            unit: escr.unit(),
            event: escr.event(),
            mask: escr.mask(),
            filter,
            upstream: None,
            replay: None,
        };
        let own = match intrinsic(&selected) {
            Some(Signal::Instructions) => slice.instructions,
            Some(Signal::Clock(Clock::Core)) => slice.core_cycles,
            _ => 0,
        };
        let heard = slice.signals.iter().filter(|(signal, _)| match signal {
            Signal::NetBurst(it) => {
                it.unit == selected.unit
                    && it.event == selected.event
                    && it.filter == filter
                    && masks_meet(it, selected.mask)
                    && self.is_fed(escr, it, context, slice.ring)
            }
            _ => false,
        });
        own + heard.map(|(_, times)| times).sum::<u64>()
    }
}

/// Whether the event masks share a bit. Signals of `execution_event` name tags. The program chooses
/// these in the tagging ESCR.
fn masks_meet(occurrence: &NetBurstSignal, mask: u16) -> bool {
    (occurrence.unit, occurrence.event) == EXECUTION_EVENT || occurrence.mask & mask != 0
}
