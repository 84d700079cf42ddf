//! NetBurst's registers: an event is an ESCR value, a CCCR value and a choice of both registers.
//!
//! 18 counters and 45 ESCRs belong to two halves; no ESCR reaches counters of both.
//! Register layouts: Intel SDM Vol. 3, "Performance monitoring (processors based on
//! Intel NetBurst microarchitecture)", figures of ESCR and CCCR for processors that
//! support Hyper-Threading.

use std::fmt;

use crate::CounterSet;
use crate::netburst_tables::ESCRS;

/// The ESCR and CCCR fields of a NetBurst event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NetBurst {
    /// The ESCR of each half that can select the event. A half without one cannot count it. Any
    /// counter of [`EscrChoice::counters`] can be used with the ESCR.
    pub halves: [Option<EscrChoice>; 2],
    /// Event select, ESCR bits 30:25.
    pub event_select: u8,
    /// Event mask, ESCR bits 24:9.
    pub event_mask: u16,
    /// ESCR select, CCCR bits 15:13.
    pub escr_select: u8,
    /// The CCCR's filter: compare, complement, threshold and edge (bits 24:18).
    pub filter: u32,
    /// Whether the T bits distinguish the logical processors.
    pub thread_kind: ThreadKind,
    /// Tag that this ESCR gives to the micro-operations it sees.
    pub tag: Option<Tag>,
    /// A second ESCR that must run with this one, without a counter of its own.
    pub companion: Option<Companion>,
    /// Replay tagging: the values of the core's two PEBS registers.
    pub replay: Option<Replay>,
}

/// One ESCR that can select an event, and the counters wired to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EscrChoice {
    /// The register.
    pub escr: EscrId,
    /// Counters that can count the selected event: 2, or 3 in the IQ group.
    pub counters: CounterSet,
}

/// An ESCR by its register number, which is unique: `MSR_BSU_ESCR0` is 0x3A0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EscrId(pub u16);

impl EscrId {
    /// The model-specific register's number.
    pub const fn msr(self) -> u32 {
        self.0 as u32
    }
}

/// The manual's name, such as `MSR_FSB_ESCR0`, or the number of an unknown register.
impl fmt::Display for EscrId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match ESCRS.iter().find(|row| row.msr == self.0) {
            Some(row) => write!(f, "MSR_{}", row.name),
            None => write!(f, "MSR {:#x}", self.0),
        }
    }
}

/// Whether an event distinguishes the two logical processors of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ThreadKind {
    /// "TS": counts for the logical processor whose T bits are set.
    Specific,
    /// "TI": counts for both, with any T bits.
    Independent,
}

/// An execution tag: ESCR bits 4 (enable) and 8:5 (value).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tag {
    /// One of 1, 2, 4, 8. The four tags are the core's, not a thread's.
    pub value: u8,
}

/// An ESCR that must be programmed in addition to an event's own.
///
/// It takes no counter, but some counter wired to it must be enabled. Its event tags (`uop_type`,
/// the FIRM events, port replays), or is a partner that the hardware requires (`IOQ_allocation`
/// for `IOQ_active_entries`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Companion {
    /// Name of the event the ESCR selects.
    pub event: &'static str,
    /// The ESCR of each half that can select the event. It may be in the other half than the event.
    pub halves: [Option<EscrChoice>; 2],
    /// Event select, ESCR bits 30:25.
    pub event_select: u8,
    /// Event mask, ESCR bits 24:9.
    pub event_mask: u16,
    /// The ESCR select of a CCCR that uses this ESCR.
    pub escr_select: u8,
    /// The tag that it sets, for execution tagging.
    pub tag: Option<Tag>,
}

/// Replay tagging: one setting per core, shared by both logical processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Replay {
    /// Number of the metric in Linux's raw config, 1 to 9.
    pub metric: u8,
    /// Value of `MSR_PEBS_ENABLE` (0x3F1) for counting without sampling.
    pub pebs_enable: u32,
    /// Value of `MSR_PEBS_MATRIX_VERT` (0x3F2).
    pub matrix_vert: u32,
}

/// CCCR bit 12.
const ENABLE: u32 = 1 << 12;
/// CCCR bits 17:16, "any": count while any logical processor is active.
const ACTIVE_THREAD_ANY: u32 = 3 << 16;
/// ESCR bit 4.
const TAG_ENABLE: u32 = 1 << 4;

impl NetBurst {
    /// The ESCR value for logical processor `lp` (bit 0 of its initial APIC ID), with the requested
    /// rings.
    ///
    /// The T bits of the other logical processor stay 0.
    pub fn escr(&self, lp: u8, user: bool, kernel: bool) -> u32 {
        escr_value(self.event_select, self.event_mask, self.tag) | thread_bits(lp, user, kernel)
    }

    /// The CCCR value: enabled, any active thread, this event's filter and select.
    pub fn cccr(&self) -> u32 {
        ENABLE | ACTIVE_THREAD_ANY | u32::from(self.escr_select) << 13 | self.filter
    }
}

impl Companion {
    /// The ESCR value for logical processor `lp`, with the requested rings.
    pub fn escr(&self, lp: u8, user: bool, kernel: bool) -> u32 {
        escr_value(self.event_select, self.event_mask, self.tag) | thread_bits(lp, user, kernel)
    }
}

fn escr_value(event_select: u8, event_mask: u16, tag: Option<Tag>) -> u32 {
    let tag = tag.map_or(0, |tag| TAG_ENABLE | u32::from(tag.value) << 5);
    u32::from(event_select) << 25 | u32::from(event_mask) << 9 | tag
}

/// Bits 3:0: T0_OS, T0_USR, T1_OS, T1_USR.
fn thread_bits(lp: u8, user: bool, kernel: bool) -> u32 {
    let rings = u32::from(user) | u32::from(kernel) << 1;
    if lp & 1 == 0 { rings << 2 } else { rings }
}
