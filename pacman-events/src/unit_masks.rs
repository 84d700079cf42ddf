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
    arch::encode(cpu, &with_all_fields(cpu, all), modifiers)
}

/// The event with all bits of each field of its unit mask that has none: an empty field counts nothing.
///
/// Family 10h: requests and cores of the L3 cache's events, and the traffic of a HyperTransport link,
/// whose bit 7 selects the sublink (BKDG 31116). libpfm4 completes the masks in the same way.
pub(crate) fn with_all_fields(cpu: CpuModel, source: Source) -> Source {
    const FIELDS: &[(u64, &[u64])] = &[
        (0x4_0000_00e0, &[0x0700, 0xf000]),
        (0x4_0000_00e1, &[0x0700, 0xf000]),
        (0x4_0000_00e2, &[0x0f00, 0xf000]),
        (0xf6, &[0x3f00]),
        (0xf7, &[0x3f00]),
        (0xf8, &[0x3f00]),
        (0x1_0000_00f9, &[0x3f00]),
    ];
    if cpu.name() != "fam10h" {
        return source;
    }
    let fields = FIELDS.iter().find(|(event, _)| *event == source.select & 0xf_0000_00ff);
    let empty = fields.map_or(&[][..], |(_, fields)| fields).iter();
    let empty = empty.filter(|field| source.select & **field == 0);
    Source { select: empty.fold(source.select, |select, field| select | field), ..source }
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
