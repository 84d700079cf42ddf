//! The ESCRs of each counter, and the events of each ESCR.
//!
//! SDM Vol. 3, "Performance counter MSRs and associated CCCR and ESCR MSRs (processors
//! based on Intel NetBurst microarchitecture)".

/// The ESCR that a counter's CCCR selects, if that select value leads anywhere.
pub(in super::super) fn escr(counter: usize, select: u64, iq_escrs: bool) -> Option<u32> {
    let (group, half) = GROUPS.iter().enumerate().find_map(|(group, halves)| {
        let half = halves.iter().position(|counters| counters.contains(&counter))?;
        Some((group, half as u32))
    })?;
    let unit = UNITS.iter().find(|unit| unit.group == group && unit.select == select)?;
    let msr = unit.first + half;
    is_escr(msr, iq_escrs).then_some(msr)
}

/// The counters wired to an ESCR.
pub(in super::super) fn counters(escr: u32) -> &'static [usize] {
    let unit = UNITS.iter().find(|unit| unit.first == escr & !1);
    unit.map_or(&[], |unit| GROUPS[unit.group][(escr & 1) as usize])
}

/// Whether there is an ESCR of this number.
pub(super) fn is_escr(msr: u32, iq_escrs: bool) -> bool {
    let there = UNITS.iter().any(|unit| unit.first == msr & !1);
    there && msr != SSU_ESCR1 && (iq_escrs || msr & !1 != IQ_ESCR0)
}

/// Whether the event of this unit counts for both logical processors with any T bits. Source: SDM,
/// "Performance monitoring events and thread qualification"; for the last four events only
/// FreeBSD's driver.
pub(super) fn is_independent(unit: u32, event: u8) -> bool {
    matches!(
        (unit, event),
        (FIRM, _) | (TC | PMH, 0x01) | (DAC, 0x05) | (FSB, 0x17 | 0x16 | 0x08 | 0x06 | 0x04)
    )
}

/// Whether this ESCR of its unit can select the event: most can both.
pub(super) fn can_select(escr: u32, event: u8, late_ioq: bool) -> bool {
    match (escr & !1, event) {
        // BSQ_allocation, bsq_active_entries.
        (BSU, 0x05) => escr & 1 == 0,
        (BSU, 0x06) => escr & 1 == 1,
        // IOQ_active_entries, IOQ_allocation.
        (FSB, 0x1a) => escr & 1 == 1,
        (FSB, 0x03) => escr & 1 == 0 || late_ioq,
        _ => true,
    }
}

struct Unit {
    first: u32,
    select: u64,
    group: usize,
}

const fn unit(first: u32, select: u64, group: usize) -> Unit {
    Unit { first, select, group }
}

/// Counters of each group, by half; the second ESCR of a unit goes with the second half.
const GROUPS: [[&[usize]; 2]; 4] =
    [[&[0, 1], &[2, 3]], [&[4, 5], &[6, 7]], [&[8, 9], &[10, 11]], [&[12, 13, 16], &[14, 15, 17]]];
const BPU_GROUP: usize = 0;
const MS_GROUP: usize = 1;
const FLAME_GROUP: usize = 2;
const IQ_GROUP: usize = 3;

const BSU: u32 = 0x3a0;
const FSB: u32 = 0x3a2;
const FIRM: u32 = 0x3a4;
const DAC: u32 = 0x3a8;
const PMH: u32 = 0x3ac;
const TC: u32 = 0x3c4;
const IQ_ESCR0: u32 = 0x3ba;
/// The SSU has one ESCR.
const SSU_ESCR1: u32 = 0x3bf;

/// First ESCR, ESCR select, group.
const UNITS: [Unit; 23] = [
    unit(BSU, 7, BPU_GROUP),
    unit(FSB, 6, BPU_GROUP),
    unit(FIRM, 1, FLAME_GROUP),
    unit(0x3a6, 0, FLAME_GROUP), // FLAME
    unit(DAC, 5, FLAME_GROUP),
    unit(0x3aa, 2, BPU_GROUP), // MOB
    unit(PMH, 4, BPU_GROUP),
    unit(0x3ae, 2, FLAME_GROUP), // SAAT
    unit(0x3b0, 3, FLAME_GROUP), // U2L
    unit(0x3b2, 0, BPU_GROUP),   // BPU
    unit(0x3b4, 1, BPU_GROUP),   // IS
    unit(0x3b6, 3, BPU_GROUP),   // ITLB
    unit(0x3b8, 4, IQ_GROUP),    // CRU, 0 and 1
    unit(IQ_ESCR0, 0, IQ_GROUP),
    unit(0x3bc, 2, IQ_GROUP), // RAT
    unit(0x3be, 3, IQ_GROUP), // SSU
    unit(0x3c0, 0, MS_GROUP), // MS
    unit(0x3c2, 2, MS_GROUP), // TBPU
    unit(TC, 1, MS_GROUP),
    unit(0x3c8, 5, BPU_GROUP), // IX
    unit(0x3ca, 1, IQ_GROUP),  // ALF
    unit(0x3cc, 5, IQ_GROUP),  // CRU, 2 and 3
    unit(0x3e0, 6, IQ_GROUP),  // CRU, 4 and 5
];
