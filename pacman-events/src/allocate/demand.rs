//! The demands of one event on a core: the alternatives in which it can be counted.

use std::fmt;
use std::sync::Arc;

use super::Register;
use crate::CounterSet;

/// One counter of a hardware context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Counter {
    /// A counter that a selector programs; NetBurst's are numbered 0 to 17 over the
    /// whole core.
    General(u8),
    /// A counter that can count one event only.
    Fixed(u8),
}

impl Counter {
    /// One number for both kinds: general counters from 0, fixed counters from 32, as
    /// in the bitmaps of IA32_PERF_GLOBAL_CTRL.
    pub const fn number(self) -> u8 {
        match self {
            Counter::General(n) => n,
            Counter::Fixed(n) => 32 + n,
        }
    }
}

impl fmt::Display for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Counter::General(n) => write!(f, "counter {n}"),
            Counter::Fixed(n) => write!(f, "fixed counter {n}"),
        }
    }
}

/// A register that must hold `value` while the event counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Claim {
    /// The register.
    pub register: Register,
    /// The value. Two claims on one register agree only if their values are equal.
    pub value: u64,
}

/// The number of counters that an event takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CounterUse {
    /// The counter that counts it.
    #[default]
    One,
    /// The counter and the next one, which the hardware merges with it (AMD events
    /// that add more than 15 in one cycle).
    Pair,
    /// Every general counter of the context (perfmon's `TakenAlone`).
    Alone,
}

/// One way to count an event: any one of these counters, with these registers.
///
/// An alternative without a counter is legal: an event that only tags, or one that the operating
/// system counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alternative {
    /// General counters that may count it this way.
    pub general: CounterSet,
    /// Fixed counters that may count it this way.
    pub fixed: CounterSet,
    /// The number of counters that it takes.
    pub counter_use: CounterUse,
    /// Registers that must hold a value while the event counts.
    pub claims: Vec<Claim>,
    /// Counters of which one must be enabled for any event: those wired to a tagging ESCR
    /// without a counter of its own. Empty if the event needs no tagging.
    pub awake: CounterSet,
    /// The contexts that can count it this way; bit *n* is context *n*.
    pub contexts: u8,
}

impl Alternative {
    /// Any one of these general counters, on every context, without registers.
    pub fn general(counters: CounterSet) -> Self {
        Alternative { general: counters, contexts: u8::MAX, ..Alternative::default() }
    }

    /// Any one of these fixed counters, on every context, without registers.
    pub fn fixed(counters: CounterSet) -> Self {
        Alternative { fixed: counters, contexts: u8::MAX, ..Alternative::default() }
    }

    /// No counter, on every context.
    pub fn uncounted() -> Self {
        Alternative { contexts: u8::MAX, ..Alternative::default() }
    }

    /// The same alternative with one more register that must hold `value`.
    pub fn claiming(mut self, register: Register, value: u64) -> Self {
        self.claims.push(Claim { register, value });
        self
    }

    /// The same alternative on context `context` only.
    pub fn on(mut self, context: u8) -> Self {
        self.contexts = 1 << context;
        self
    }

    /// Whether it needs a counter.
    pub fn needs_counter(&self) -> bool {
        !self.general.is_empty() || !self.fixed.is_empty()
    }
}

/// One event, as the allocator sees it: a name and the alternatives to count it.
///
/// It is independent of any table of events, so that tests and other tools can describe their own
/// machines. [`EventConstraints::of`] makes one of an [`Encoding`](crate::Encoding).
///
/// ```
/// use pacman_events::CounterSet;
/// use pacman_events::allocate::{EventConstraints, Pmu, Alternative, allocate};
///
/// let pmu = Pmu::per_context("two counters", 1, CounterSet::first(2));
/// let anywhere = EventConstraints::new("anywhere", [Alternative::general(CounterSet::first(2))]);
/// let only_0 = EventConstraints::new("only 0", [Alternative::general(CounterSet::only(0))]);
/// let plan = allocate(&pmu, &[anywhere, only_0]).unwrap();
/// assert_eq!(plan.placements()[0].counter().unwrap().number(), 1);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventConstraints {
    pub(crate) name: Arc<str>,
    pub(crate) alternatives: Vec<Alternative>,
    pub(crate) excludes_sibling: bool,
    pub(crate) counts_core: bool,
    pub(crate) bundle: Option<u32>,
    pub(crate) smt_off: CounterSet,
}

impl EventConstraints {
    /// An event that can be counted in any of these alternatives, preferred first.
    ///
    /// A list without alternatives is legal: such an event is refused with the reason.
    pub fn new(
        name: impl Into<Arc<str>>,
        alternatives: impl IntoIterator<Item = Alternative>,
    ) -> Self {
        EventConstraints {
            name: name.into(),
            alternatives: alternatives.into_iter().collect(),
            excludes_sibling: false,
            counts_core: false,
            bundle: None,
            smt_off: CounterSet::EMPTY,
        }
    }

    /// Closes this event's counter number to the siblings while it runs, if the [`Pmu`](super::Pmu)
    /// has that erratum (BJ122, BV98, HSD29).
    pub fn excluding_sibling(mut self) -> Self {
        self.excludes_sibling = true;
        self
    }

    /// Marks a count that covers all contexts of the core, on any context that hosts it.
    ///
    /// Such a count is a NetBurst thread-independent event, or has the AnyThread bit. The
    /// sum of siblings' counts would count twice.
    pub fn counting_core(mut self) -> Self {
        self.counts_core = true;
        self
    }

    /// Puts the event in the same set as every other event of its thread with this bundle number.
    /// The terms of an expression share a bundle, so that the same executions count them.
    pub fn in_bundle(mut self, bundle: u32) -> Self {
        self.bundle = Some(bundle);
        self
    }

    /// The general counters that could count it with SMT off since reset; only the
    /// advice of a refusal uses them.
    pub fn with_smt_off(mut self, counters: CounterSet) -> Self {
        self.smt_off = counters;
        self
    }

    /// The event's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The alternatives to count it, preferred first.
    pub fn alternatives(&self) -> &[Alternative] {
        &self.alternatives
    }

    /// Whether the count covers the whole core, on any context that hosts it.
    pub fn counts_core(&self) -> bool {
        self.counts_core
    }
}
