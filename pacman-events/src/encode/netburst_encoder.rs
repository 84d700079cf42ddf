//! Encodes a NetBurst event, its unit masks and modifiers as ESCR and CCCR.
//!
//! Sources: Intel SDM Vol. 3, tables of non-retirement and at-retirement events, of tagging metrics
//! and of thread qualification. `data/README.md` says which source is followed if they disagree.

use super::netburst::{Companion, EscrChoice, EscrId, NetBurst, Replay, Tag, ThreadKind};
use super::{CanonicalName, Encoding, Kind, Limits, Modifiers, Needs, PerfAttr, Rings, Scope};
use crate::netburst_tables::{ESCRS, EVENTS, EventRow, METRICS, MetricRow, Tags};
use crate::resolve_error::ResolveError;
use crate::spelling::compare;
use crate::{CounterSet, CpuModel, nearest};

/// The meaning of a name in a NetBurst table.
#[derive(Clone, Copy)]
pub(crate) enum Named {
    /// An event, which needs unit masks.
    Event(&'static EventRow),
    /// A tagging metric.
    Metric(&'static MetricRow),
}

/// `PERF_TYPE_RAW`.
const TYPE_RAW: u32 = 4;
/// CCCR bit 18: the threshold filter is on.
const COMPARE: u32 = 1 << 18;
/// CCCR bit 19: count if the threshold is not exceeded.
const COMPLEMENT: u32 = 1 << 19;
/// CCCR bit 24: count rising edges of the filter's output.
const EDGE: u32 = 1 << 24;

/// The event or metric with this name or alias, in any case.
pub(crate) fn named(base: &str) -> Option<Named> {
    let is = |name: &str| compare(name, base).is_eq();
    let event = EVENTS.iter().find(|row| is(row.name) || row.aliases.iter().any(|a| is(a)));
    if let Some(row) = event {
        return Some(Named::Event(row));
    }
    let metric = METRICS.iter().find(|row| is(row.name) || row.aliases.iter().any(|a| is(a)));
    metric.map(Named::Metric)
}

/// The replay setting of Linux's metric number; `None` for 0.
pub(crate) fn replay_of(metric: u8) -> Option<Replay> {
    let row = METRICS.iter().find(|row| metric != 0 && row.linux == Some(metric))?;
    row.replay.map(|(pebs_enable, matrix_vert)| Replay { metric, pebs_enable, matrix_vert })
}

/// Whether the processors of the table have the event.
///
/// `instr_completed` came with model 3.
pub(crate) fn has(cpu: CpuModel, event: &EventRow) -> bool {
    event.models & models_of(cpu) != 0
}

/// The family-15 models of a table, as a bit set.
fn models_of(cpu: CpuModel) -> u8 {
    match cpu.name() {
        "p4-willamette" => 0b11,
        "p4-northwood-early" | "p4-northwood" => 0b100,
        "p4-prescott" => 0b1_1000,
        _ => 0b100_0000,
    }
}

/// Whether every segment of `masks` is a unit mask of the event or metric.
pub(crate) fn knows(named: Named, masks: &str) -> bool {
    let (row, allowed) = match named {
        _ if masks.is_empty() => return true,
        Named::Event(row) => (row, u16::MAX),
        Named::Metric(row) if row.tagged => (&EVENTS[row.downstream], 0xf),
        Named::Metric(_) => return false,
    };
    let mut segments = masks.split([':', '.']);
    segments.all(|mask| {
        bit_of(row, mask).is_some_and(|bit| bit & allowed != 0) || tag_of(row, mask).is_some()
    })
}

/// An event with its unit masks (`A:B` or `A.B`; empty for none) and modifiers.
pub(crate) fn encode(
    cpu: CpuModel,
    named: Named,
    masks: &str,
    modifiers: Modifiers,
) -> Result<Encoding, ResolveError> {
    match named {
        Named::Event(row) => {
            let (mask, tag) = event_mask(cpu, row, masks)?;
            let mut encoding = encode_event(cpu, row, mask, modifiers)?;
            if let Some(tag) = tag {
                set_tag(&mut encoding, row, tag, modifiers);
            }
            Ok(encoding)
        }
        Named::Metric(row) => encode_metric(cpu, row, masks, modifiers),
    }
}

/// The unit masks as bits, and the tag that the event gives.
fn event_mask(
    cpu: CpuModel,
    row: &EventRow,
    masks: &str,
) -> Result<(u16, Option<Tag>), ResolveError> {
    let mut tag = None;
    let mut bits = 0;
    for mask in masks.split([':', '.']).filter(|mask| !mask.is_empty()) {
        if let Some(given) = tag_of(row, mask) {
            if tag.replace(given).is_some_and(|other| other != given) {
                let reason = "an event gives one tag";
                return Err(ResolveError::grammar(&format!("{}:{masks}", row.name), reason));
            }
            continue;
        }
        bits |= bit_of(row, mask).ok_or_else(|| {
            let all: Vec<_> =
                row.masks.iter().map(|(_, name)| format!("{}:{name}", row.name)).collect();
            let asked = format!("{}:{mask}", row.name);
            let near = nearest::among(&asked, all.iter().map(String::as_str));
            ResolveError::unknown(&asked, cpu, near)
        })?;
    }
    if bits == 0 {
        // A single unit mask leaves no choice. Among several, none is the usual one.
        if let [(bit, _)] = row.masks {
            return Ok((*bit, tag));
        }
        let all: Vec<_> = row.masks.iter().map(|(_, name)| *name).collect();
        return Err(ResolveError::needs(
            row.name,
            cpu,
            format!("a unit mask out of {}", all.join(", ")),
        ));
    }
    Ok((bits, tag))
}

fn bit_of(row: &EventRow, mask: &str) -> Option<u16> {
    let mut all = row.masks.iter().chain(row.mask_aliases);
    all.find(|(_, name)| name.eq_ignore_ascii_case(mask)).map(|(bit, _)| *bit)
}

/// The tag of a mask `TAG0` to `TAG3`, which perfmon2 and libpfm4 take on the events that tag for
/// `execution_event`.
fn tag_of(row: &EventRow, mask: &str) -> Option<Tag> {
    let tags = |metric: &MetricRow| {
        metric.tagged && metric.upstream.is_some_and(|(index, _)| EVENTS[index].name == row.name)
    };
    let bit =
        ["TAG0", "TAG1", "TAG2", "TAG3"].iter().position(|tag| tag.eq_ignore_ascii_case(mask))?;
    METRICS.iter().any(tags).then_some(Tag { value: 1 << bit })
}

/// Lets the event tag what it counts.
fn set_tag(encoding: &mut Encoding, row: &EventRow, tag: Tag, modifiers: Modifiers) {
    let Some(setup) = &mut encoding.netburst else { return };
    setup.tag = Some(tag);
    let masks = row.masks.iter().filter(|(bit, _)| setup.event_mask & bit == *bit);
    let name = masks.fold(row.name.to_owned(), |name, (_, mask)| name + ":" + mask);
    let name = format!("{name}:TAG{}", tag.value.trailing_zeros());
    encoding.name = CanonicalName::new(name, modifiers);
    if let (Some(perf), Some(linux)) = (&mut encoding.perf, row.linux) {
        perf.config = perf_config(setup, linux);
    }
}

/// An event with its unit masks as bits.
pub(crate) fn encode_event(
    cpu: CpuModel,
    row: &'static EventRow,
    mask: u16,
    modifiers: Modifiers,
) -> Result<Encoding, ResolveError> {
    let name = CanonicalName::with_masks(row.name, row.masks, mask, modifiers);
    if !has(cpu, row) {
        let with: Vec<_> = CpuModel::all()
            .filter(|other| other.family() == crate::Family::NetBurst && has(*other, row))
            .collect();
        return Err(ResolveError::other_model(row.name, cpu, with, Vec::new()));
    }
    let filter = filter(&name, modifiers)?;
    // The non-sleep trick counts every clock, tagged or not (SDM 18.17.2).
    let always = filter & (COMPARE | COMPLEMENT | 0xf << 20) == COMPARE | COMPLEMENT | 0xf << 20;
    let partner = match row.tags {
        Tags::Beside(index) => Some(&EVENTS[index]),
        _ => None,
    };
    let setup = NetBurst {
        halves: halves(cpu, row),
        event_select: row.event_select,
        event_mask: mask,
        escr_select: row.escr_select,
        filter,
        thread_kind: if row.independent { ThreadKind::Independent } else { ThreadKind::Specific },
        tag: None,
        companion: partner.map(|partner| Companion {
            event: partner.name,
            // The active-entries event uses the second ESCR; its partner is in the first.
            halves: [escr_choice(partner.halves[0]), None],
            event_select: partner.event_select,
            event_mask: mask,
            escr_select: partner.escr_select,
            tag: None,
        }),
        replay: None,
    };
    let mut encoding = assemble(cpu, name, setup, row.linux, modifiers);
    encoding.needs.tagging = row.tags == Tags::Only || row.tags == Tags::Counted && !always;
    if always {
        encoding.limits.counts = Scope::Core;
    }
    Ok(encoding)
}

fn encode_metric(
    cpu: CpuModel,
    row: &'static MetricRow,
    masks: &str,
    modifiers: Modifiers,
) -> Result<Encoding, ResolveError> {
    let downstream = &EVENTS[row.downstream];
    // Mask bit i of the downstream event selects tag bit i, so the unit mask NBOGUSi also selects
    // the tag.
    let bit = match (masks, row.tagged) {
        ("", _) => 1,
        (mask, true) => bit_of(downstream, mask).filter(|bit| *bit < 16).ok_or_else(|| {
            let tags = (0..4).map(|i| format!("{}:NBOGUS{i}", row.name)).collect();
            ResolveError::unknown(&format!("{}:{mask}", row.name), cpu, tags)
        })?,
        (mask, false) => {
            let reason = format!("it is a metric without unit masks, so {mask:?} says nothing");
            return Err(ResolveError::grammar(row.name, reason));
        }
    };
    let name = if masks.is_empty() {
        CanonicalName::new(row.name, modifiers)
    } else {
        CanonicalName::with_masks(row.name, downstream.masks, bit, modifiers)
    };
    let tag = row.tagged.then_some(Tag { value: bit as u8 });
    let companion = row.upstream.map(|(index, mask)| Companion {
        event: EVENTS[index].name,
        halves: row.halves.map(escr_choice),
        event_select: EVENTS[index].event_select,
        event_mask: mask,
        escr_select: EVENTS[index].escr_select,
        tag,
    });
    let setup = NetBurst {
        halves: halves(cpu, downstream),
        event_select: downstream.event_select,
        event_mask: bit,
        escr_select: downstream.escr_select,
        filter: filter(&name, modifiers)?,
        thread_kind: ThreadKind::Specific,
        tag: None,
        companion,
        replay: row.replay.map(|(pebs_enable, matrix_vert)| Replay {
            metric: row.linux.unwrap_or(0),
            pebs_enable,
            matrix_vert,
        }),
    };
    let mut encoding = assemble(cpu, name, setup, downstream.linux, modifiers);
    // Linux writes the replay registers itself, but does not program an upstream ESCR.
    if companion.is_some() {
        encoding.perf = None;
    }
    Ok(encoding)
}

fn assemble(
    cpu: CpuModel,
    name: CanonicalName,
    setup: NetBurst,
    linux: Option<u8>,
    modifiers: Modifiers,
) -> Encoding {
    let mut encoding = Encoding::new(cpu, name, Kind::NetBurst);
    let counters = setup
        .halves
        .iter()
        .flatten()
        .fold(CounterSet::EMPTY, |all, choice| all.or(choice.counters));
    let independent = setup.thread_kind == ThreadKind::Independent;
    encoding.rings = Rings { user: modifiers.user, kernel: modifiers.kernel };
    encoding.counters = counters;
    encoding.counters_smt_off = counters;
    encoding.limits = Limits {
        counts: if independent { Scope::Core } else { Scope::Thread },
        ..Limits::default()
    };
    encoding.needs = Needs { privilege: independent, ..Needs::default() };
    encoding.perf = linux.map(|index| PerfAttr {
        kind: TYPE_RAW,
        pmu: None,
        config: perf_config(&setup, index),
        config1: 0,
        config2: 0,
    });
    encoding.netburst = Some(setup);
    encoding
}

/// Linux's packed raw config: its own event number 62:57, event mask 56:41, tag 40:36,
/// CCCR filter 24:18 and the replay metric 5:0. The kernel fills in the rest.
fn perf_config(setup: &NetBurst, linux: u8) -> u64 {
    let tag = setup.tag.map_or(0, |tag| 1 | u64::from(tag.value) << 1);
    u64::from(linux) << 57
        | u64::from(setup.event_mask) << 41
        | tag << 36
        | u64::from(setup.filter)
        | setup.replay.map_or(0, |replay| u64::from(replay.metric))
}

fn filter(name: &CanonicalName, modifiers: Modifiers) -> Result<u32, ResolveError> {
    let refuse = |reason: &str| Err(ResolveError::grammar(&name.to_string(), reason));
    if modifiers.any_thread {
        return refuse("any is not NetBurst's; ask for the event on both logical processors");
    }
    if modifiers.invert || modifiers.cmask.is_some() {
        return refuse(
            "i and c=N are not NetBurst's; thr=N counts clocks above N, cmpl those up to N",
        );
    }
    if modifiers.complement && modifiers.threshold.is_none() {
        return refuse("cmpl turns a threshold round: add thr=N");
    }
    let threshold = modifiers.threshold.map_or(0, |t| COMPARE | u32::from(t) << 20);
    let complement = if modifiers.complement { COMPLEMENT } else { 0 };
    // Edge detection works on the filter's output, so it needs the filter (SDM, CCCR).
    let edge = if modifiers.edge { EDGE | COMPARE } else { 0 };
    Ok(threshold | complement | edge)
}

fn halves(cpu: CpuModel, row: &EventRow) -> [Option<EscrChoice>; 2] {
    let mut halves = row.halves.map(escr_choice);
    // FSB_ESCR1 counts IOQ_allocation from CPUID signature 0F27h only (SDM, note to
    // the event).
    let early = matches!(cpu.name(), "p4-willamette" | "p4-northwood-early");
    if early && row.name == "IOQ_allocation" {
        halves[1] = None;
    }
    halves
}

fn escr_choice(index: Option<usize>) -> Option<EscrChoice> {
    let row = &ESCRS[index?];
    Some(EscrChoice { escr: EscrId(row.msr), counters: CounterSet::from_bits(row.counters) })
}
