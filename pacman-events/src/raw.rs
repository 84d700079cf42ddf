//! Events with a code instead of a name: `r01c3010e`, or terms in perf's style.

use crate::encode::arch::{self, EN, INT, OS, Source, USR};
use crate::encode::netburst_encoder as netburst;
use crate::encode::{Encoding, Kind, Modifiers, Rings};
use crate::netburst_tables::EVENTS;
use crate::resolve_error::ResolveError;
use crate::{CpuModel, Family, db};

/// Bit 36: count cycles in which the increment equals the counter mask, in place of "at least".
const EQUAL: u64 = 1 << 36;

/// Whether CPUID leaf 23H can report `eq`: processors from Lion Cove and Skymont.
fn compares_equal(cpu: CpuModel) -> bool {
    let kinds = ["lioncove", "cougarcove", "coyotecove", "skymont", "darkmont", "arcticwolf"];
    let name = cpu.name();
    kinds.iter().any(|kind| name.ends_with(kind)) || ["cwf", "dmr"].contains(&name)
}

/// Encodes a raw selector of Intel or AMD for the counters that the event table allows.
///
/// A listed code gets the limits of its event. Any other code gets the common limits of the
/// listed events with the same event number. The code may contain ring bits.
pub(crate) fn select(
    cpu: CpuModel,
    asked: &str,
    code: u64,
    register: Option<u64>,
    modifiers: Modifiers,
) -> Result<Encoding, ResolveError> {
    let control = USR | OS | INT | EN;
    let select = code & !control;
    if cpu.family() == Family::Intel && select & EQUAL != 0 && !compares_equal(cpu) {
        let reason = "its counter mask has no eq (bit 36), which came with Lion Cove and Skymont";
        return Err(ResolveError::impossible(asked, cpu, reason));
    }
    let mut source = Source::raw(cpu, format!("r{code:x}"), select);
    match listed(cpu, select) {
        Some(listed) => {
            source = Source {
                name: source.name,
                select,
                value: 0,
                fixed: None,
                precise: false,
                ..listed
            };
        }
        None => {
            let same_event = |event: &db::Event| {
                event.fixed().is_none() && (event.select() ^ select) & event_bits(cpu) == 0
            };
            for event in db::events(cpu).filter(same_event) {
                if !source.counters.and(event.counters()).is_empty() {
                    source.counters = source.counters.and(event.counters());
                    source.smt_off = source.smt_off.and(event.counters_smt_off());
                }
            }
        }
    }
    match (source.choices[0].1, register) {
        (0, None) => {}
        (msr, None) => {
            let reason =
                format!("the value of MSR {msr:#x}: write cpu/config={select:#x},config1=VALUE/");
            return Err(ResolveError::needs(asked, cpu, reason));
        }
        (_, Some(value)) => source.value = value,
    }
    let mut encoding = arch::encode(cpu, &source, modifiers)?;
    encoding.rings.user |= code & USR != 0;
    encoding.rings.kernel |= code & OS != 0;
    if encoding.kind != Kind::Fixed {
        encoding.evtsel |= code & control;
    }
    Ok(encoding)
}

/// Finds the listed event of this code; an event with extra registers takes precedence.
///
/// The register with the requested selector comes first among the event's choices.
fn listed(cpu: CpuModel, select: u64) -> Option<Source> {
    let mut plain = None;
    for event in db::events(cpu).filter(|event| event.fixed().is_none()) {
        if let Some(at) =
            event.choices().position(|(twin, _)| u64::from(twin) == select & code_bits(cpu))
        {
            let mut source = Source::of(&event);
            source.choices[..=at].rotate_right(1);
            return Some(source);
        }
        if plain.is_none() && (event.select() ^ select) & code_bits(cpu) == 0 {
            plain = Some(event);
        }
    }
    plain.map(|event| Source::of(&event))
}

/// Decodes a raw Pentium 4 config as Linux packs it.
pub(crate) fn netburst(
    cpu: CpuModel,
    asked: &str,
    code: u64,
    modifiers: Modifiers,
) -> Result<Encoding, ResolveError> {
    let index = (code >> 57 & 0x3f) as u8;
    let Some(row) = EVENTS.iter().find(|row| row.linux == Some(index)) else {
        return Err(ResolveError::grammar(
            asked,
            format!("Linux has no NetBurst event number {index}"),
        ));
    };
    if code & 0x3f > 9 || code & 1 << 7 != 0 {
        return Err(ResolveError::grammar(
            asked,
            "bits 5:0 must be a replay metric from 0 to 9, and bit 7 must be 0",
        ));
    }
    let mask = (code >> 41) as u16;
    let mut encoding = netburst::encode_event(cpu, row, mask, modifiers)?;
    let tag_enable = code >> 36 & 1 == 1;
    if let Some(setup) = &mut encoding.netburst {
        setup.filter |= code as u32 & 0x01fc_0000;
        setup.tag = tag_enable.then_some(crate::encode::Tag { value: (code >> 37 & 0xf) as u8 });
        setup.replay = netburst::replay_of((code & 0x3f) as u8);
        if setup.replay.is_some() {
            encoding.needs.tagging = false;
        }
    }
    // The config leaves out the T bits, and the bits that Linux sets itself.
    let user_bits = 0x7fff_fff0_01ff_0fff;
    if let Some(perf) = &mut encoding.perf {
        perf.config |= code & user_bits;
    }
    let rings = code >> 32 & 0xf;
    encoding.rings = Rings {
        user: modifiers.user || rings & 0b0101 != 0,
        kernel: modifiers.kernel || rings & 0b1010 != 0,
    };
    Ok(encoding)
}

/// The bits of the event select. AMD's include bits 35:32, which are TSX filters on Intel.
fn event_bits(cpu: CpuModel) -> u64 {
    if cpu.family() == Family::Amd { 0xf_0000_00ff } else { 0xff }
}

/// The bits of the event select and of both unit masks.
fn code_bits(cpu: CpuModel) -> u64 {
    event_bits(cpu) | 0xff00_0000_ff00
}
