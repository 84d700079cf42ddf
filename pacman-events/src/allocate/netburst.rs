//! NetBurst: one PMU per core, in two halves, and the resources that an event takes in addition to
//! a counter.
//!
//! A placement is a choice on two levels. The event gets an ESCR, of which most events have one in
//! each half. Then it gets any free counter of that half in the ESCR's group. T bits are in the
//! ESCR, so one ESCR never serves both logical processors separately. Its value differs with the
//! logical processor, and different values exclude each other.

use super::{Alternative, Claim, EventConstraints, Pmu, Register, RegisterKind};
use crate::CounterSet;
use crate::encode::{Companion, EscrChoice, NetBurst, Rings, Scope, Tag};

/// Counters of each half: SDM Vol. 3, table "Performance counter MSRs and associated
/// CCCR and ESCR MSRs (processors based on NetBurst)". No ESCR reaches both.
const HALVES: [CounterSet; 2] = [
    CounterSet::from_bits(0b01_0011_0011_0011_0011),
    CounterSet::from_bits(0b10_1100_1100_1100_1100),
];

/// Linux (arch/x86/events/intel/p4.c) warns if it is used; no other driver avoids it.
const BROKEN: CounterSet = CounterSet::only(1);

/// MSR_PEBS_ENABLE and MSR_PEBS_MATRIX_VERT. All logical processors of a core share them, so
/// different replay metrics exclude each other.
const REPLAY: [u32; 2] = [0x3f1, 0x3f2];

/// RAT ESCRs select `uop_type` only, which tags and never increments a counter.
const RAT: [u32; 2] = [0x3bc, 0x3bd];

/// Event select of `execution_event`, whose mask bits *i* and *i* + 4 read tag *i*.
const EXECUTION_EVENT: u8 = 0x0c;

/// The companion that tags for `front_end_event`.
const FRONT_END_TAGGER: &str = "uop_type";

impl Pmu {
    /// A NetBurst core with 1 context (Hyper-Threading off) or 2.
    ///
    /// 18 counters, shared; counter 1 is withheld unless
    /// [`allowing_all_counters`](Pmu::allowing_all_counters) is called.
    ///
    /// # Panics
    /// If `contexts` is 0 or more than 8.
    pub fn netburst(name: impl Into<String>, contexts: u8) -> Self {
        Pmu::per_core(name, contexts, HALVES)
            .withholding(BROKEN, "Linux calls its enable bit broken")
    }
}

/// The alternatives to count a NetBurst event.
pub(super) fn alternatives(event: &NetBurst, rings: Rings, contexts: u8) -> Vec<Alternative> {
    let mut alternatives = Vec::new();
    for lp in 0..contexts.min(2) {
        // Its own half first, so that the even split and the joint plan usually agree.
        for half in [lp, 1 - lp] {
            let Some(own) = event.halves[usize::from(half)] else { continue };
            for tag in tags(event) {
                own_ways(event, tag, own, half, lp, rings, &mut alternatives);
            }
        }
    }
    alternatives
}

/// Adds the alternatives with this ESCR and tag: one, or one per ESCR of the companion.
fn own_ways(
    event: &NetBurst,
    tag: Option<u8>,
    own: EscrChoice,
    half: u8,
    lp: u8,
    rings: Rings,
    alternatives: &mut Vec<Alternative>,
) {
    let mut select = *event;
    let mut companion = event.companion;
    if let (Some(tag), Some(tagger)) = (tag, companion.as_mut()) {
        select.event_mask = read_tag(event.event_mask, tag);
        tagger.tag = Some(Tag { value: 1 << tag });
    }
    let value = u64::from(select.escr(lp, rings.user, rings.kernel));
    let mut alternative = Alternative::general(own.counters)
        .claiming(Register::escr(own.escr.msr(), half), value)
        .on(lp);
    if RAT.contains(&own.escr.msr()) {
        alternative.general = CounterSet::EMPTY;
        alternative.awake = own.counters;
        alternative.claims.push(front_end_tag(event.event_mask));
    }
    if let Some(tag) = event.tag {
        alternative.claims.extend(execution_tag(tag, event.event_select, event.event_mask));
    }
    if let Some(replay) = event.replay {
        let [enable, matrix] =
            REPLAY.map(|msr| Register::msr(RegisterKind::Replay, msr, Scope::Core));
        alternative = alternative
            .claiming(enable, u64::from(replay.pebs_enable))
            .claiming(matrix, u64::from(replay.matrix_vert));
    }
    let Some(companion) = companion else {
        alternatives.push(alternative);
        return;
    };
    // The companion's ESCR in the event's own half first, for the same reason as above.
    for beside in [half, 1 - half] {
        if let Some(escr) = companion.halves[usize::from(beside)] {
            alternatives.push(beside_companion(
                alternative.clone(),
                &companion,
                escr,
                beside,
                lp,
                rings,
            ));
        }
    }
}

fn beside_companion(
    mut alternative: Alternative,
    companion: &Companion,
    escr: EscrChoice,
    half: u8,
    lp: u8,
    rings: Rings,
) -> Alternative {
    let value = u64::from(companion.escr(lp, rings.user, rings.kernel));
    alternative = alternative.claiming(Register::escr(escr.escr.msr(), half), value);
    alternative.awake = escr.counters;
    if let Some(tag) = companion.tag {
        alternative.claims.extend(execution_tag(tag, companion.event_select, companion.event_mask));
    }
    if companion.event == FRONT_END_TAGGER {
        alternative.claims.push(front_end_tag(companion.event_mask));
    }
    alternative
}

/// The tags that an event can be moved to.
///
/// A metric that reads exactly its companion's tag can use any of the four; other events keep
/// their own.
fn tags(event: &NetBurst) -> Vec<Option<u8>> {
    let given = event.companion.and_then(|companion| companion.tag);
    let Some(tag) = given.filter(|_| event.event_select == EXECUTION_EVENT) else {
        return vec![None];
    };
    let own = tag.value.trailing_zeros() as u16;
    if event.event_mask == 0 || event.event_mask & !(0x11 << own) != 0 {
        return vec![None];
    }
    let mut tags = vec![Some(own as u8)];
    tags.extend((0..4).filter(|other| u16::from(*other) != own).map(Some));
    tags
}

/// The mask that reads `tag` instead of the single tag that `mask` reads.
fn read_tag(mask: u16, tag: u8) -> u16 {
    let bogus = if mask & 0xf0 != 0 { 0x10 } else { 0 };
    let plain = u16::from(mask & 0x0f != 0);
    (bogus | plain) << tag
}

/// The tag bits belong to the core, and the FIRM events that set them see both logical processors.
/// So a tag has one meaning at a time.
fn execution_tag(tag: Tag, event_select: u8, event_mask: u16) -> impl Iterator<Item = Claim> {
    let meaning = u64::from(event_select) << 16 | u64::from(event_mask);
    (0..4u8).filter(move |bit| tag.value >> bit & 1 == 1).map(move |bit| Claim {
        register: Register::unnumbered(RegisterKind::ExecutionTag, bit, Scope::Core),
        value: meaning,
    })
}

/// `uop_type` is thread specific, so each logical processor has its own front-end tag. It has only
/// one: both RAT ESCRs set the same tag.
fn front_end_tag(event_mask: u16) -> Claim {
    let register = Register::unnumbered(RegisterKind::FrontEndTag, 0, Scope::Thread);
    Claim { register, value: u64::from(event_mask) }
}

/// The event of the NMI watchdog on a logical processor: cycles, on Linux's counter.
pub(super) fn watchdog(lp: u8) -> EventConstraints {
    let (escr, counter) = if lp == 0 { (0x3a2, 0) } else { (0x3a3, 2) };
    let alternative = Alternative::general(CounterSet::only(counter))
        .claiming(Register::escr(escr, lp & 1), u64::MAX - u64::from(lp))
        .on(lp);
    EventConstraints::new("the NMI watchdog", [alternative])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_cover_the_eighteen_counters_once() {
        assert_eq!(HALVES[0].iter().collect::<Vec<_>>(), [0, 1, 4, 5, 8, 9, 12, 13, 16]);
        assert_eq!(HALVES[1].iter().collect::<Vec<_>>(), [2, 3, 6, 7, 10, 11, 14, 15, 17]);
    }

    #[test]
    fn a_mask_follows_its_tag() {
        assert_eq!(read_tag(0x01, 0), 0x01);
        assert_eq!(read_tag(0x01, 3), 0x08);
        assert_eq!(read_tag(0x22, 2), 0x44);
        assert_eq!(read_tag(0x40, 0), 0x10);
    }
}
