//! From an event's encoding to the occurrence that it selects.

use pacman_events::encode::{Companion, EscrChoice, Kind, NetBurst, TopDown};
use pacman_events::{Encoding, Family};

use super::clock::Clock;
use super::intrinsic::{filter, intrinsic, intrinsic_on_amd, intrinsic_on_intel};
use super::select::Select;
use super::signal::{NetBurstSignal, Signal, Upstream};

impl Signal {
    /// The occurrence that an encoding selects.
    ///
    /// `None` for events that no counter of a core counts: kernel events, events that only tag, and
    /// tagged events without their tag. `None` also for families that are not simulated.
    ///
    /// ```
    /// use pacman_sim::hardware::{Clock, Signal};
    /// use pacman_events::{CpuModel, resolve};
    ///
    /// let zen4 = CpuModel::named("zen4").unwrap();
    /// let cycles = resolve(zen4, "CYCLES").unwrap();
    /// assert_eq!(Signal::of(cycles.encoding().unwrap()), Some(Signal::Clock(Clock::Core)));
    /// ```
    pub fn of(encoding: &Encoding) -> Option<Signal> {
        match (encoding.kind, encoding.cpu.facts().family) {
            (Kind::Fixed, Family::Intel) => match encoding.fixed? {
                0 => Some(Signal::Instructions),
                1 => Some(Signal::Clock(Clock::Core)),
                2 => Some(Signal::Clock(Clock::Reference)),
                n => Some(Signal::Fixed(n)),
            },
            (Kind::Arch, Family::Intel) => Some(intel(encoding)),
            (Kind::TopDown, _) => match encoding.topdown()? {
                TopDown::Field(field) => Some(Signal::TopDown(field)),
                _ => None,
            },
            (Kind::Amd, Family::Amd) => {
                let select = Select::amd(encoding.evtsel);
                Some(intrinsic_on_amd(&select).unwrap_or(Signal::Select(select)))
            }
            (Kind::NetBurst, _) if !encoding.needs.tagging => {
                encoding.netburst.as_ref().and_then(netburst)
            }
            _ => None,
        }
    }
}

fn intel(encoding: &Encoding) -> Signal {
    let mut select = Select::intel(encoding.evtsel);
    if let Some(extra) = &encoding.extra {
        // Each twin of a register has its own selector. The first one stands for all.
        if let Some(first) = extra.choices().first() {
            select.event = first.select & 0xff;
            select.umask = first.select >> 8;
        }
        select.extra = Some(extra.value);
    }
    intrinsic_on_intel(encoding.cpu, &select).unwrap_or(Signal::Select(select))
}

fn netburst(event: &NetBurst) -> Option<Signal> {
    let signal = NetBurstSignal {
        unit: unit(event.halves)?,
        event: event.event_select,
        mask: event.event_mask,
        filter: filter(u64::from(event.filter)),
        upstream: event.companion.as_ref().and_then(upstream),
        replay: event.replay.map(|replay| (replay.pebs_enable, replay.matrix_vert)),
    };
    Some(intrinsic(&signal).unwrap_or(Signal::NetBurst(signal)))
}

fn upstream(companion: &Companion) -> Option<Upstream> {
    Some(Upstream {
        unit: unit(companion.halves)?,
        event: companion.event_select,
        mask: companion.event_mask,
    })
}

/// The two ESCRs of a unit differ in the lowest bit of their numbers.
fn unit(halves: [Option<EscrChoice>; 2]) -> Option<u32> {
    halves.into_iter().flatten().next().map(|choice| choice.escr.msr() & !1)
}
