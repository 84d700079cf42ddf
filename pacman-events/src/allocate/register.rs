//! Registers other than counters for which events compete: ESCRs, shared value
//! registers, tag bits and per-counter ownership.

use std::borrow::Cow;
use std::fmt;

use crate::encode::Scope;
use crate::netburst_tables::ESCRS;

/// The kind of a register. The explanation of a conflict depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RegisterKind {
    /// A NetBurst event selection control register.
    Escr,
    /// One of the four execution tag bits of a NetBurst core. The tagging events are
    /// thread independent, so both logical processors see every tag (SDM Vol. 3,
    /// "Execution tagging").
    ExecutionTag,
    /// The PEBS front-end selector, MSR 0x3F7.
    Frontend,
    /// NetBurst's front-end tag, set through `uop_type`: one meaning per thread.
    FrontEndTag,
    /// The load-latency threshold, MSR 0x3F6.
    LoadLatency,
    /// The core of the node that uses counter *n* for a northbridge event (AMD K8 to
    /// family 14h).
    Northbridge,
    /// An off-core response register: OFFCORE_RSP, SNOOP_RSP or OMR.
    OffcoreResponse,
    /// Bits that choose the modes of all counters of a context: the trace bits of an UltraSPARC PCR,
    /// the freeze bits of POWER's MMCR0.
    ModeBits,
    /// NetBurst's MSR_PEBS_ENABLE and MSR_PEBS_MATRIX_VERT: one replay tag per core.
    Replay,
    /// Any other register that holds one value at a time.
    Other,
}

/// A register that can hold one value at a time.
///
/// Two events may use it together only with equal values. Registers of scope
/// [`Scope::Thread`] exist once per hardware context, so siblings never compete for
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Register {
    id: u32,
    kind: RegisterKind,
    shared: bool,
    half: Option<u8>,
}

impl Register {
    /// The model-specific register `msr`; `scope` says whether siblings share it.
    pub const fn msr(kind: RegisterKind, msr: u32, scope: Scope) -> Self {
        Register { id: msr, kind, shared: !matches!(scope, Scope::Thread), half: None }
    }

    /// The ESCR with this register number, in half 0 or 1 of a NetBurst core.
    pub const fn escr(msr: u32, half: u8) -> Self {
        Register { id: msr, kind: RegisterKind::Escr, shared: true, half: Some(half) }
    }

    /// A resource that acts like a register but has no number, such as a tag bit.
    /// `index` distinguishes several of one kind.
    pub const fn unnumbered(kind: RegisterKind, index: u8, scope: Scope) -> Self {
        let id = UNNUMBERED | (kind as u32) << 8 | index as u32;
        Register { id, kind, shared: !matches!(scope, Scope::Thread), half: None }
    }

    /// The number to write with WRMSR; `None` if there is no such register.
    pub const fn number(self) -> Option<u32> {
        if self.id & UNNUMBERED == 0 { Some(self.id) } else { None }
    }

    /// The kind of the register.
    pub const fn kind(self) -> RegisterKind {
        self.kind
    }

    /// Whether all contexts of the core (or node) share it.
    pub const fn is_shared(self) -> bool {
        self.shared
    }

    /// The half of a NetBurst core that it belongs to.
    pub const fn half(self) -> Option<u8> {
        self.half
    }

    /// Its name in the vendor's manual, or a description if it has no name.
    pub fn name(self) -> Cow<'static, str> {
        let index = self.id & 0xff;
        match self.kind {
            RegisterKind::Escr => match escr_name(self.id) {
                Some(name) => format!("MSR_{name}").into(),
                None => format!("ESCR {:#x}", self.id).into(),
            },
            RegisterKind::ExecutionTag => format!("execution tag {index}").into(),
            RegisterKind::Frontend => "MSR_PEBS_FRONTEND".into(),
            RegisterKind::FrontEndTag => "front-end tag".into(),
            RegisterKind::LoadLatency => "MSR_PEBS_LD_LAT_THRESHOLD".into(),
            RegisterKind::Northbridge => format!("northbridge use of counter {index}").into(),
            RegisterKind::OffcoreResponse => match self.id {
                0x1a6 => "OFFCORE_RSP_0".into(),
                0x1a7 => "OFFCORE_RSP_1".into(),
                0x3e0..=0x3e3 => format!("OMR_{}", self.id - 0x3e0).into(),
                other => format!("MSR {other:#x}").into(),
            },
            RegisterKind::ModeBits => "the mode bits of all counters".into(),
            RegisterKind::Replay => match self.id {
                0x3f1 => "MSR_PEBS_ENABLE".into(),
                0x3f2 => "MSR_PEBS_MATRIX_VERT".into(),
                other => format!("MSR {other:#x}").into(),
            },
            RegisterKind::Other => format!("MSR {:#x}", self.id).into(),
        }
    }
}

impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

/// MSR numbers stay below this bit on every model.
const UNNUMBERED: u32 = 1 << 31;

/// The name in the table of ESCRs; 0x3BF does not exist.
fn escr_name(msr: u32) -> Option<&'static str> {
    ESCRS.iter().find(|row| u32::from(row.msr) == msr).map(|row| row.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escr_names_follow_their_numbers() {
        for (msr, name) in [
            (0x3a0, "MSR_BSU_ESCR0"),
            (0x3b8, "MSR_CRU_ESCR0"),
            (0x3be, "MSR_SSU_ESCR0"),
            (0x3cd, "MSR_CRU_ESCR3"),
        ] {
            assert_eq!(Register::escr(msr, 0).name(), name);
        }
        assert_eq!(escr_name(0x3bf), None);
    }

    #[test]
    fn unnumbered_registers_differ_by_kind_and_index() {
        let tag = |i| Register::unnumbered(RegisterKind::ExecutionTag, i, Scope::Core);
        assert_ne!(tag(0), tag(1));
        assert_ne!(tag(0), Register::unnumbered(RegisterKind::ModeBits, 0, Scope::Core));
        assert_eq!(tag(3).number(), None);
    }
}
