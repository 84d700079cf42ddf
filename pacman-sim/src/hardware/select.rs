//! The fields of Intel's and AMD's selectors: `IA32_PERFEVTSELx` and `PERF_CTLx`.

/// The fields of a selector that choose the event, without those that choose the time.
///
/// Intel: event select 7:0, unit mask 15:8 (and 47:40 from Lion Cove on), edge 18, invert
/// 23, counter mask 31:24. AMD: the event select's upper four bits are 35:32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Select {
    /// Event select; 12 bits on AMD.
    pub event: u16,
    /// Unit mask, with the second one in the upper byte.
    pub umask: u16,
    /// Counter mask.
    pub cmask: u8,
    /// Whether the comparison with the counter mask is turned round.
    pub inv: bool,
    /// Whether rising edges are counted.
    pub edge: bool,
    /// The extra register's value: the request and response bits of an off-core event, a latency
    /// threshold, a front-end selector. `None` for an event that takes no register except its
    /// selector.
    pub extra: Option<u64>,
}

impl Select {
    /// The selection of an `IA32_PERFEVTSELx`, its extra register aside.
    pub(super) fn intel(selector: u64) -> Select {
        let umask = selector >> 8 & 0xff | selector >> 32 & 0xff00;
        Select { event: (selector & 0xff) as u16, umask: umask as u16, ..Select::filter(selector) }
    }

    /// The selection of a `PERF_CTLx`.
    pub(super) fn amd(selector: u64) -> Select {
        let event = selector & 0xff | selector >> 24 & 0xf00;
        let umask = selector >> 8 & 0xff;
        Select { event: event as u16, umask: umask as u16, ..Select::filter(selector) }
    }

    fn filter(selector: u64) -> Select {
        Select {
            cmask: (selector >> 24) as u8,
            inv: selector & INV != 0,
            edge: selector & EDGE != 0,
            ..Select::default()
        }
    }

    /// Whether a counter with this selection hears an occurrence of the other, extra
    /// registers aside.
    pub(super) fn hears(&self, occurrence: &Select) -> bool {
        self.event == occurrence.event
            && self.same_filter(occurrence)
            && (self.umask == occurrence.umask || self.umask & occurrence.umask != 0)
    }

    pub(super) fn same_filter(&self, other: &Select) -> bool {
        (self.cmask, self.inv, self.edge) == (other.cmask, other.inv, other.edge)
    }

    /// Unit mask and event select as the tables of extra registers have them.
    pub(super) fn code(&self) -> u16 {
        self.event & 0xff | self.umask << 8
    }
}

/// `IA32_PERFEVTSELx` and `PERF_CTLx` agree on these.
pub(super) const USR: u64 = 1 << 16;
pub(super) const OS: u64 = 1 << 17;
pub(super) const EDGE: u64 = 1 << 18;
pub(super) const INT: u64 = 1 << 20;
pub(super) const ENABLE: u64 = 1 << 22;
pub(super) const INV: u64 = 1 << 23;
