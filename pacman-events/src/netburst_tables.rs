//! NetBurst's packed tables, which `build.rs` writes.

mod packed {
    use super::{EscrRow, EventRow, MaskStatus, MetricRow, Tags};
    include!(concat!(env!("OUT_DIR"), "/netburst.rs"));
}

pub(crate) use packed::{ESCRS, EVENTS, METRICS};

/// An event selection control register.
pub(crate) struct EscrRow {
    pub(crate) name: &'static str,
    pub(crate) msr: u16,
    pub(crate) counters: u64,
}

/// An event before its unit masks are chosen.
pub(crate) struct EventRow {
    pub(crate) name: &'static str,
    pub(crate) aliases: &'static [&'static str],
    pub(crate) text: &'static str,
    /// Linux's number of the event, which is not the hardware's select.
    pub(crate) linux: Option<u8>,
    pub(crate) event_select: u8,
    pub(crate) escr_select: u8,
    /// Positions in [`ESCRS`].
    pub(crate) halves: [Option<usize>; 2],
    pub(crate) independent: bool,
    /// Family-15 models with the event, as a bit set.
    pub(crate) models: u8,
    pub(crate) tags: Tags,
    pub(crate) masks: &'static [(u16, &'static str)],
    pub(crate) mask_aliases: &'static [(u16, &'static str)],
    /// The statuses of `masks`, in the same order.
    pub(crate) statuses: &'static [MaskStatus],
}

/// An event's relation to tagging, or to a partner.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tags {
    None,
    /// Must run together with the event at this position, with the same masks.
    Beside(usize),
    /// Counts micro-operations that another event tagged.
    Counted,
    /// Tags for another event, and never increments a counter.
    Only,
}

/// The documentation of a unit mask in the manual.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum MaskStatus {
    Documented,
    /// A bit of a field that selects by its value.
    Field,
    /// Only the table of thread qualification has it; the event's own table says reserved.
    Reserved,
    /// The manual gives the range of bits without names.
    Unnamed,
}

/// A tagging metric: the event that tags, and the event that counts the tagged.
pub(crate) struct MetricRow {
    pub(crate) name: &'static str,
    pub(crate) aliases: &'static [&'static str],
    pub(crate) text: &'static str,
    /// Linux's number of the replay metric.
    pub(crate) linux: Option<u8>,
    /// Values of `MSR_PEBS_ENABLE` and `MSR_PEBS_MATRIX_VERT`.
    pub(crate) replay: Option<(u32, u32)>,
    /// The event that tags and its masks.
    pub(crate) upstream: Option<(usize, u16)>,
    /// The ESCRs that the tagging event may use.
    pub(crate) halves: [Option<usize>; 2],
    pub(crate) downstream: usize,
    /// Whether a tag value must be chosen.
    pub(crate) tagged: bool,
}
