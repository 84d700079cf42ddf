//! Several unit masks of one event in one counter: `EVENT:UMASK:UMASK`.

use crate::encode::arch::{self, Source};
use crate::encode::{Encoding, Modifiers, niagara};
use crate::refusal::Refusal;
use crate::{CpuModel, Family, db};

/// The event with all these unit masks; `None` where one of them is unknown.
///
/// # Errors
/// Where the masks exist but cannot share a counter: another code, filter or register.
pub(crate) fn joined(
    cpu: CpuModel,
    base: &str,
    modifiers: Modifiers,
) -> Result<Option<Encoding>, Refusal> {
    let Some((event, masks)) = base.split_once([':', '.']) else {
        return Ok(None);
    };
    let mut all: Option<Source> = None;
    for mask in masks.split([':']) {
        let Some(next) = db::find(cpu, &format!("{event}.{mask}")) else {
            return Ok(None);
        };
        let next = Source::of(&next);
        all = Some(match all {
            None => next,
            Some(all) => union(all, next).ok_or_else(|| {
                let reason = format!("{mask} is not a unit mask that joins the others: its code, filter or register differs");
                Refusal::impossible(base, cpu, reason)
            })?,
        });
    }
    let Some(mut source) = all else { return Ok(None) };
    source.name = base.to_ascii_uppercase().into();
    if cpu.family() == Family::Niagara {
        let first = masks.split(':').next().unwrap_or(masks);
        let event = db::find(cpu, &format!("{event}.{first}"));
        let event = event.expect("found above");
        return niagara::encode(cpu, &event, source.select as u8, modifiers).map(Some);
    }
    arch::encode(cpu, &source, modifiers).map(Some)
}

/// Two events of one code as one with both unit masks; `None` where more differs.
fn union(one: Source, other: Source) -> Option<Source> {
    let masks = 0xff_0000_0000_ff00_u64;
    let same = (one.select ^ other.select) & !masks == 0
        && one.choices[0].1 == 0
        && other.choices[0].1 == 0
        && one.fixed.is_none()
        && other.fixed.is_none()
        && one.counter_pair == other.counter_pair;
    let counters = one.counters.and(other.counters);
    let smt_off = one.smt_off.and(other.smt_off);
    (same && !smt_off.is_empty()).then_some(Source {
        select: one.select | other.select,
        counters,
        smt_off,
        taken_alone: one.taken_alone || other.taken_alone,
        precise: one.precise && other.precise,
        ..one
    })
}
