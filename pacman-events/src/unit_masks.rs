//! Several unit masks of one event in one counter: `EVENT:UMASK:UMASK`.

use crate::encode::arch::{self, Source};
use crate::encode::{Encoding, Modifiers};
use crate::name::Spelling;
use crate::preset::Preset;
use crate::resolve_error::ResolveError;
use crate::{CpuModel, Family, alias, db, names};

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

/// The event, if a last segment `any` is a unit mask; `None` if there is none or it is the modifier.
///
/// Many events have a unit mask that is called ANY. The modifier counts the sibling too, so a guess would be
/// a wrong count. The modifier follows a whole event. Spelt in capitals, as tables do, it is a mask
/// if it can be joined with the others.
///
/// # Errors
/// If the name before it needs a unit mask, and ANY is none of the event's.
pub(crate) fn called_any(
    cpu: CpuModel,
    spelling: Spelling<'_>,
    users: impl Fn(&str) -> bool,
) -> Result<Option<Encoding>, ResolveError> {
    let Spelling { base, modifiers } = spelling;
    let Some((event, last)) = base.rsplit_once(':') else { return Ok(None) };
    if !last.eq_ignore_ascii_case("any") || cpu.family() == Family::NetBurst {
        return Ok(None);
    }
    let is_whole = Preset::named(event).is_some()
        || users(event)
        || db::find(cpu, event).is_some()
        || event.contains([':', '.']) && alias::meaning(cpu, event).is_some();
    if !is_whole {
        let masked: Vec<_> = names::with_unit_mask(cpu, event).collect();
        if !masked.is_empty() {
            return Err(ResolveError::needs_unit_mask(event, cpu, &masked));
        }
    }
    let mut masks = event.rsplit([':', '.']);
    if last == "ANY" && !masks.any(|mask| mask.eq_ignore_ascii_case("any")) {
        if let Ok(joined) = joined(cpu, base, modifiers) {
            return Ok(joined);
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
    let (first, mut all) = sources.next().expect("a split has at least one part");
    let mut name = all.name.to_string();
    for (mask, next) in sources {
        let spelt = next.name.split_once([':', '.']).map_or("", |(_, mask)| mask).to_owned();
        if two_values(cpu, all.select, next.select) {
            let reason = format!(
                "{mask} is another value of a field that {first} or a mask after it has set; \
                 count each by itself"
            );
            return Err(ResolveError::impossible(base, cpu, reason));
        }
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

/// A field of the unit mask of one event, as `fields.tsv` has it.
struct Field {
    /// The number of the table.
    model: u8,
    /// The event select, bits 7:0 and 35:32.
    code: u64,
    bits: u64,
    /// The bits for a name that has none of the field.
    empty: u64,
    /// The bits are a number, so two names cannot share them.
    one_value: bool,
}

mod packed {
    use super::Field;
    include!(concat!(env!("OUT_DIR"), "/fields.rs"));
}

/// The fields of a selector's event.
fn fields(cpu: CpuModel, select: u64) -> impl Iterator<Item = &'static Field> {
    let of_event = move |field: &&Field| {
        usize::from(field.model) == cpu.index() && field.code == select & 0xf_0000_00ff
    };
    packed::FIELDS.iter().filter(of_event)
}

/// The event with the default bits of each field of its unit mask that has none: an empty field counts
/// nothing.
pub(crate) fn with_all_fields(cpu: CpuModel, source: Source) -> Source {
    let empty = fields(cpu, source.select).filter(|field| source.select & field.bits == 0);
    Source { select: empty.fold(source.select, |select, field| select | field.empty), ..source }
}

/// Whether two unit masks have different values in one field: together they would be a third name's.
fn two_values(cpu: CpuModel, one: u64, other: u64) -> bool {
    fields(cpu, one).filter(|field| field.one_value).any(|field| {
        let (one, other) = (one & field.bits, other & field.bits);
        one != 0 && other != 0 && one != other
    })
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
