//! Each clock's count of a context's activity.

use super::access::MAX_CONTEXTS;
use super::activity::{Activity, Ring};
use super::clock::Clock;

/// The clocks and instructions of a context's slice.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ContextCounts {
    /// `None` while halted.
    pub(super) ring: Option<Ring>,
    pub(super) instructions: u64,
    pub(super) core: u64,
    reference: u64,
    bus: u64,
    bus_alone: u64,
    bus_share: u64,
    core_share: u64,
}

impl ContextCounts {
    pub(super) fn of(activity: &Activity<'_>) -> ContextCounts {
        activity.slice().map_or(ContextCounts::default(), |slice| ContextCounts {
            ring: Some(slice.ring),
            instructions: slice.instructions,
            core: slice.core_cycles,
            reference: slice.reference_cycles,
            ..ContextCounts::default()
        })
    }

    /// The context's own count of a clock.
    pub(super) fn clock(&self, clock: Clock) -> u64 {
        match clock {
            Clock::Bus => self.bus,
            Clock::BusAlone => self.bus_alone,
            Clock::BusShare => self.bus_share,
            Clock::Core | Clock::NonSleep => self.core,
            Clock::CoreShare => self.core_share,
            Clock::Reference => self.reference,
        }
    }
}

/// All contexts of a core in one pass.
pub(super) struct Span {
    pub(super) contexts: [ContextCounts; MAX_CONTEXTS],
    /// Ticks of the slow clock while any context was active in the rings of the index.
    any_bus: [u64; 4],
}

impl Span {
    /// Ticks of a clock that AnyThread counts: the time in which any context was active in one of
    /// the rings. For clocks that contexts share or have alone, the result is the sum over the
    /// contexts.
    pub(super) fn any(&self, clock: Clock, rings: Rings) -> u64 {
        let counts =
            self.contexts.iter().filter(|it| rings.have(it.ring)).map(|it| it.clock(clock));
        match clock {
            Clock::Bus => self.any_bus[rings.index()],
            Clock::Core | Clock::NonSleep | Clock::Reference => counts.max().unwrap_or(0),
            Clock::BusAlone | Clock::BusShare | Clock::CoreShare => counts.sum(),
        }
    }
}

/// The rings in which a counter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rings {
    pub(super) user: bool,
    pub(super) kernel: bool,
}

impl Rings {
    /// Whether a context in this ring, or halted, is counted.
    pub(super) fn have(self, ring: Option<Ring>) -> bool {
        match ring {
            Some(Ring::User) => self.user,
            Some(Ring::Kernel) => self.kernel,
            None => false,
        }
    }

    fn index(self) -> usize {
        usize::from(self.user) | usize::from(self.kernel) << 1
    }

    const ALL: [Rings; 4] = [
        Rings { user: false, kernel: false },
        Rings { user: true, kernel: false },
        Rings { user: false, kernel: true },
        Rings { user: true, kernel: true },
    ];
}

/// The slow clock of an Intel core, and how far each of its users is into a tick.
#[derive(Clone, Debug)]
pub(super) struct Clocks {
    /// TSC ticks to a tick of the slow clock.
    pub(super) ratio: u64,
    /// Whether event 3Ch, unit mask 01h, counts TSC ticks rather than slow ones.
    pub(super) plain: bool,
    bus: [Phase; MAX_CONTEXTS],
    alone: [Phase; MAX_CONTEXTS],
    bus_share: [Phase; MAX_CONTEXTS],
    core_share: [Phase; MAX_CONTEXTS],
    any: [Phase; 4],
}

impl Clocks {
    pub(super) fn new(ratio: u64, plain: bool) -> Clocks {
        Clocks {
            ratio,
            plain,
            bus: Default::default(),
            alone: Default::default(),
            bus_share: Default::default(),
            core_share: Default::default(),
            any: Default::default(),
        }
    }

    /// The clocks and instructions of each context's activity; moves the clocks on.
    pub(super) fn pass(&mut self, activity: &[Activity<'_>]) -> Span {
        let mut contexts = [ContextCounts::default(); MAX_CONTEXTS];
        for (counts, activity) in contexts.iter_mut().zip(activity) {
            *counts = ContextCounts::of(activity);
        }
        let active = contexts.iter().filter(|it| it.ring.is_some()).count() as u64;
        let bus = if self.plain { 1 } else { self.ratio };
        for (n, counts) in contexts.iter_mut().enumerate().filter(|(_, it)| it.ring.is_some()) {
            counts.bus = self.bus[n].advance(counts.reference, bus);
            if active == 1 {
                counts.bus_alone = self.alone[n].advance(counts.reference, self.ratio);
            }
            let shares = SHARES / active;
            counts.bus_share =
                self.bus_share[n].advance(counts.reference * shares, self.ratio * SHARES);
            counts.core_share = self.core_share[n].advance(counts.core * shares, SHARES);
        }
        let mut any_bus = [0; 4];
        for (rings, (ticks, phase)) in Rings::ALL.iter().zip(any_bus.iter_mut().zip(&mut self.any))
        {
            let counted = contexts.iter().filter(|it| rings.have(it.ring)).map(|it| it.reference);
            *ticks = phase.advance(counted.max().unwrap_or(0), bus);
        }
        Span { contexts, any_bus }
    }
}

/// The elapsed part of a divided clock's next tick.
#[derive(Clone, Copy, Debug, Default)]
struct Phase(u64);

impl Phase {
    /// The ticks that `by` fast ones make, `ratio` fast ones each.
    fn advance(&mut self, by: u64, ratio: u64) -> u64 {
        let all = self.0 + by;
        self.0 = all % ratio;
        all / ratio
    }
}

/// Divisible by 1, 2, 3 and 4 active contexts.
const SHARES: u64 = 12;
