//! The clocks that counters can count.

/// A clock that counters can count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Clock {
    /// Ticks of the slow clock while the context is active: event 3Ch, unit mask 01h, on
    /// Sandy Bridge to Ice Lake. Nehalem, Westmere and Golden Cove count TSC ticks there.
    Bus,
    /// Ticks of the slow clock while the context is active and no sibling is
    /// (`ONE_THREAD_ACTIVE`).
    BusAlone,
    /// Ticks of the slow clock, shared out evenly between the active contexts
    /// (`REF_DISTRIBUTED`).
    BusShare,
    /// Core cycles while the context is active.
    Core,
    /// Core cycles, shared out evenly between the active contexts (`DISTRIBUTED`).
    CoreShare,
    /// Core cycles while any context is active, with any ring and thread bits: NetBurst's non-sleep
    /// clock.
    NonSleep,
    /// TSC ticks while the context is active.
    Reference,
}
