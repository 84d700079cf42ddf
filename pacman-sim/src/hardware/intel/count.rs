//! Counts as the registers of an architectural Intel PMU program it.

use super::super::activity::{Activity, Ring};
use super::super::clock::Clock;
use super::super::clocks::{Rings, Span};
use super::super::select::{ENABLE, OS, Select, USR};
use super::super::signal::Signal;
use super::{
    ANY, FIXED_ANY, FIXED_COUNTERS, FIXED_OS, FIXED_USR, GENERAL, Intel, MAX_CONTEXTS,
    METRICS_ENABLE, SLOTS,
};

impl Intel {
    pub(in super::super) fn pass(&mut self, activity: &[Activity<'_>]) {
        let span = self.clocks.pass(activity);
        let mut counted = [[0; GENERAL]; MAX_CONTEXTS];
        for (context, counted) in counted.iter_mut().enumerate().take(activity.len()) {
            for (n, counted) in counted.iter_mut().enumerate().take(self.general) {
                *counted = self.general(context, n, &span, activity);
            }
        }
        if self.leaks {
            counted = self.leaked(counted, activity.len());
        }
        for (context, counted) in counted.iter().enumerate().take(activity.len()) {
            for n in self.fixed.iter().map(usize::from) {
                let counted = self.fixed(context, n, &span, activity);
                let registers = &mut self.contexts[context];
                if registers.fixed[n].add(counted, self.width) {
                    registers.status |= 1 << (32 + n);
                }
            }
            for field in 0..self.metrics {
                let counted = self.metric(context, field, &span, activity);
                self.contexts[context].metrics.add(field, counted);
            }
            let registers = &mut self.contexts[context];
            for (n, counted) in counted.iter().enumerate().take(self.general) {
                if registers.general[n].add(*counted, self.width) {
                    registers.status |= 1 << n;
                }
            }
        }
    }

    fn general(&self, context: usize, n: usize, span: &Span, activity: &[Activity<'_>]) -> u64 {
        if !self.enabled(context, n) {
            return 0;
        }
        let selector = self.contexts[context].selector[n];
        let select = Select::intel(selector);
        let listener = Listener {
            context,
            rings: Rings { user: selector & USR != 0, kernel: selector & OS != 0 },
            any: selector & ANY != 0 || self.rules.is_core_wide(&select),
        };
        if let Some(signal) = self.rules.intrinsic(&select) {
            return listener.intrinsic(signal, span);
        }
        listener.count(span, activity, |signal| match signal {
            Signal::Select(occurrence) => self.hears(context, n, &select, occurrence),
            _ => false,
        })
    }

    /// Whether a counter with this selection hears an occurrence.
    fn hears(&self, context: usize, n: usize, select: &Select, occurrence: &Select) -> bool {
        let extra = self.rules.extra(select.code());
        let selected = match (extra, occurrence.extra) {
            (None, None) => select.hears(occurrence),
            (Some(extra), Some(wanted)) => {
                let twins = self.rules.extra(occurrence.code()).map(|it| it.twins);
                select.same_filter(occurrence)
                    && twins == Some(extra.twins)
                    && self.selects(context, extra.msr, wanted)
            }
            _ => false,
        };
        selected && self.rules.sees(n, occurrence)
    }

    /// Whether an extra register has the value that an occurrence needs. Request and response bits
    /// of an off-core register add up; thresholds and selectors are values.
    fn selects(&self, context: usize, msr: u32, wanted: u64) -> bool {
        let held = self.read(context, msr).unwrap_or(0);
        match msr {
            OFFCORE_RSP_0 | OFFCORE_RSP_1 | OMR_0..=OMR_3 => held & wanted == wanted,
            _ => held == wanted,
        }
    }

    fn fixed(&self, context: usize, n: usize, span: &Span, activity: &[Activity<'_>]) -> u64 {
        let Some(listener) = self.fixed_listener(context, n) else { return 0 };
        match FIXED_EVENTS.get(n) {
            Some(signal) => listener.intrinsic(*signal, span),
            None => listener.count(span, activity, |it| *it == Signal::Fixed(n as u8)),
        }
    }

    /// Slots of a field of `PERF_METRICS`, in the rings of fixed counter 3.
    fn metric(&self, context: usize, field: usize, span: &Span, activity: &[Activity<'_>]) -> u64 {
        let enabled = self.contexts[context].global_control >> METRICS_ENABLE & 1 == 1;
        let Some(listener) = self.fixed_listener(context, SLOTS).filter(|_| enabled) else {
            return 0;
        };
        listener.count(span, activity, |it| *it == Signal::TopDown(field as u8))
    }

    /// The contexts and rings that a fixed counter counts; `None` while it is off.
    fn fixed_listener(&self, context: usize, n: usize) -> Option<Listener> {
        let registers = &self.contexts[context];
        if registers.global_control >> (32 + n) & 1 == 0 {
            return None;
        }
        let control = registers.fixed_control >> (4 * n);
        Some(Listener {
            context,
            rings: Rings { user: control & FIXED_USR != 0, kernel: control & FIXED_OS != 0 },
            any: control & FIXED_ANY != 0,
        })
    }

    /// Adds the leaked counts of events D0 to D3 to the sibling's counter of the same number. That
    /// counter must be enabled; its event and rings do not matter. Sources: errata BJ122, BV98 and
    /// HSD29; Linux, arch/x86/events/intel/core.c, on exclusive events. They give no rate, so here
    /// every count leaks.
    fn leaked(
        &self,
        counted: [[u64; GENERAL]; MAX_CONTEXTS],
        contexts: usize,
    ) -> [[u64; GENERAL]; MAX_CONTEXTS] {
        let mut with_leaks = counted;
        for (context, counted) in counted.iter().enumerate().take(contexts) {
            for (n, counted) in counted.iter().enumerate().take(self.general) {
                let event = self.contexts[context].selector[n] & 0xff;
                if !(0xd0..=0xd3).contains(&event) {
                    continue;
                }
                for sibling in (0..contexts).filter(|it| *it != context) {
                    if self.enabled(sibling, n) {
                        with_leaks[sibling][n] += counted;
                    }
                }
            }
        }
        with_leaks
    }

    fn enabled(&self, context: usize, n: usize) -> bool {
        let registers = &self.contexts[context];
        registers.selector[n] & ENABLE != 0 && registers.global_control >> n & 1 != 0
    }
}

/// The contexts whose work a counter counts.
struct Listener {
    context: usize,
    rings: Rings,
    /// AnyThread: all contexts of the core that are in its rings.
    any: bool,
}

impl Listener {
    /// The occurrences in the fields of slices.
    fn intrinsic(&self, signal: Signal, span: &Span) -> u64 {
        let contexts = span.contexts.iter().enumerate();
        let heard = contexts.filter(|(context, counts)| self.listens(*context, counts.ring));
        match signal {
            Signal::Clock(clock) if self.any => span.any(clock, self.rings),
            Signal::Clock(clock) => heard.map(|(_, counts)| counts.clock(clock)).sum(),
            Signal::Instructions => heard.map(|(_, counts)| counts.instructions).sum(),
            _ => 0,
        }
    }

    /// The number of occurrences of the signals that it counts.
    fn count(
        &self,
        span: &Span,
        activity: &[Activity<'_>],
        hears: impl Fn(&Signal) -> bool,
    ) -> u64 {
        let contexts = activity.iter().zip(&span.contexts).enumerate();
        contexts
            .filter(|(context, (_, counts))| self.listens(*context, counts.ring))
            .flat_map(|(_, (activity, _))| activity.slice().map_or(&[][..], |it| it.signals))
            .filter(|(signal, _)| hears(signal))
            .map(|(_, times)| times)
            .sum()
    }

    fn listens(&self, context: usize, ring: Option<Ring>) -> bool {
        (self.any || context == self.context) && self.rings.have(ring)
    }
}

/// Of the first three fixed counters.
const FIXED_EVENTS: [Signal; 3] =
    [Signal::Instructions, Signal::Clock(Clock::Core), Signal::Clock(Clock::Reference)];
const _: () = assert!(FIXED_EVENTS.len() <= FIXED_COUNTERS);

const OFFCORE_RSP_0: u32 = 0x1a6;
const OFFCORE_RSP_1: u32 = 0x1a7;
const OMR_0: u32 = 0x3e0;
const OMR_3: u32 = 0x3e3;
