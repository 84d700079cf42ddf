//! What occurs, in the terms in which a counter is programmed to see it.

use pacman_events::encode::{Companion, EscrChoice, Kind, NetBurst};
use pacman_events::{Encoding, Family};

use super::clock::Clock;
use super::netburst::{filter, intrinsic};
use super::rules;
use super::select::Select;

/// Something that occurs and that a counter can be programmed to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Signal {
    /// A tick of a clock. A [`Slice`](super::Slice) tells of it by its cycles.
    Clock(Clock),
    /// What Intel's fixed counter of this number counts, from 3 on: slots, and on
    /// efficient cores the topdown categories.
    Fixed(u8),
    /// An instruction retires. A [`Slice`](super::Slice) tells of it by its instructions.
    Instructions,
    /// What an ESCR and a CCCR of NetBurst select.
    NetBurst(NetBurstSignal),
    /// What a selector of Intel's or AMD's selects.
    Select(Select),
}

/// An occurrence on NetBurst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NetBurstSignal {
    /// The unit where it occurs, by the number of its first ESCR: 0x3A0 for the BSU.
    pub unit: u32,
    /// Event select, ESCR bits 30:25.
    pub event: u8,
    /// Event mask, ESCR bits 24:9.
    pub mask: u16,
    /// The CCCR's filter, bits 24:18: compare, complement, threshold, edge.
    pub filter: u32,
    /// What tags it, or must be selected beside it.
    pub upstream: Option<Upstream>,
    /// The replay tag it needs: bits of `MSR_PEBS_ENABLE` and `MSR_PEBS_MATRIX_VERT`.
    pub replay: Option<(u32, u32)>,
}

/// What must be selected in another ESCR for an occurrence to be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Upstream {
    /// The unit, by the number of its first ESCR.
    pub unit: u32,
    /// Event select.
    pub event: u8,
    /// Event mask.
    pub mask: u16,
}

impl Signal {
    /// The occurrence that an encoding selects.
    ///
    /// `None` for what no counter of a core counts: kernel events, events that only tag,
    /// tagged events without what tags them; and for families that are not simulated.
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
            (Kind::Amd, Family::Amd) => {
                let select = Select::amd(encoding.evtsel);
                Some(rules::told_on_amd(&select).unwrap_or(Signal::Select(select)))
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
        // Twins of a register have selectors of their own; the first stands for all.
        if let Some(first) = extra.choices().first() {
            select.event = first.select & 0xff;
            select.umask = first.select >> 8;
        }
        select.extra = Some(extra.value);
    }
    rules::told_on_intel(encoding.cpu, &select).unwrap_or(Signal::Select(select))
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
