//! The signals of a core, in the terms that program a counter for them.

use super::clock::Clock;
use super::select::Select;

/// Something that occurs and that a counter can be programmed to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Signal {
    /// A tick of a clock. A [`Slice`](super::Slice) has it in its cycles.
    Clock(Clock),
    /// The signal of Intel's fixed counter of this number, from 3 on: slots, and on efficient cores
    /// the topdown categories.
    Fixed(u8),
    /// An instruction retires. A [`Slice`](super::Slice) has it in its instructions.
    Instructions,
    /// The selection of an ESCR and a CCCR of NetBurst.
    NetBurst(NetBurstSignal),
    /// The selection of an Intel or AMD selector.
    Select(Select),
    /// A slot of this field of `PERF_METRICS`.
    TopDown(u8),
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
    /// The selection that tags it, or that must be programmed with it.
    pub upstream: Option<Upstream>,
    /// The replay tag it needs: bits of `MSR_PEBS_ENABLE` and `MSR_PEBS_MATRIX_VERT`.
    pub replay: Option<(u32, u32)>,
}

/// The selection in another ESCR without which no occurrence is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Upstream {
    /// The unit, by the number of its first ESCR.
    pub unit: u32,
    /// Event select.
    pub event: u8,
    /// Event mask.
    pub mask: u16,
}
