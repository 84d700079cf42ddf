//! Several unit masks of one event in one counter: `EVENT:UMASK:UMASK`.

use crate::encode::arch::{self, Source};
use crate::encode::{Encoding, Modifiers};
use crate::resolve_error::ResolveError;
use crate::{CpuModel, db};

/// The event with all these unit masks; `None` if one of them is unknown.
///
/// # Errors
/// If the masks exist but cannot share a counter: another code, filter or register.
pub(crate) fn joined(
    cpu: CpuModel,
    base: &str,
    modifiers: Modifiers,
) -> Result<Option<Encoding>, ResolveError> {
    let Some((event, masks)) = base.split_once([':', '.']) else {
        return Ok(None);
    };
    // A vendor's unit mask may contain a dot itself, so colons separate first.
    for separators in [&[':'][..], &[':', '.']] {
        let found = masks.split(separators).map(|mask| {
            let event = db::find(cpu, &format!("{event}.{mask}"))?;
            Some((mask, Source::of(&event)))
        });
        if let Some(sources) = found.collect::<Option<Vec<_>>>() {
            return all_of(cpu, base, sources, modifiers).map(Some);
        }
    }
    Ok(None)
}

fn all_of(
    cpu: CpuModel,
    base: &str,
    sources: Vec<(&str, Source)>,
    modifiers: Modifiers,
) -> Result<Encoding, ResolveError> {
    let mut sources = sources.into_iter();
    let (_, mut all) = sources.next().expect("a split has at least one part");
    let mut name = all.name.to_string();
    for (mask, next) in sources {
        let spelt = next.name.split_once([':', '.']).map_or("", |(_, mask)| mask).to_owned();
        all = union(all, next).ok_or_else(|| {
            let reason = format!("{mask} has another code, filter or register than the others");
            ResolveError::impossible(base, cpu, reason)
        })?;
        name.push(':');
        name.push_str(&spelt);
    }
    all.name = name.into();
    arch::encode(cpu, &all, modifiers)
}

/// Merges two events of one code into one with both unit masks; `None` if they differ in more.
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
