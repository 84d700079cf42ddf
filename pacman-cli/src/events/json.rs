//! The fixed JSON shape of an encoding: registers as "0x…" strings, null where a key
//! does not apply.

use pacman_events::encode::{Kind, PerfAttr};
use pacman_events::{CounterSet, ResolveError, Resolved};
use serde::Serialize;

use super::register::has_selector;
use super::tables::Loaded;

/// The object of a name.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Answer<'a> {
    Encoding(Box<Encoding>),
    Refusal(Refusal<'a>),
}

#[derive(Default, Serialize)]
pub(super) struct Encoding {
    event: String,
    name: String,
    cpu: Option<&'static str>,
    kind: Option<&'static str>,
    evtsel: Option<String>,
    extra: Option<Vec<Extra>>,
    fixed: Option<u8>,
    escr: Option<String>,
    cccr: Option<String>,
    escr_msr: Option<[Option<String>; 2]>,
    counters: Option<Vec<u8>>,
    counters_smt_off: Option<Vec<u8>>,
    perf: Option<Perf>,
    terms: Option<Vec<Term>>,
}

#[derive(Serialize)]
struct Extra {
    msr: String,
    value: String,
}

#[derive(Serialize)]
struct Perf {
    r#type: Option<u32>,
    config: String,
    config1: String,
    config2: String,
}

#[derive(Serialize)]
struct Term {
    coefficient: i64,
    encoding: Encoding,
}

#[derive(Serialize)]
pub(crate) struct Refusal<'a> {
    event: &'a str,
    error: String,
    kind: &'static str,
    nearest: &'a [String],
}

/// The object of a name that resolved.
pub(super) fn resolved(asked: &str, resolved: &Resolved, loaded: &Loaded) -> Answer<'static> {
    Answer::Encoding(Box::new(match resolved.encoding() {
        Some(event) => encoding(asked, event, loaded),
        None => sum(asked, resolved, loaded),
    }))
}

/// The object of a name that did not.
pub(crate) fn refusal<'a>(asked: &'a str, refusal: &'a ResolveError) -> Refusal<'a> {
    Refusal {
        event: asked,
        error: refusal.to_string(),
        kind: refusal.kind().as_str(),
        nearest: refusal.nearest(),
    }
}

fn sum(asked: &str, resolved: &Resolved, loaded: &Loaded) -> Encoding {
    let first = resolved.terms().next().map(|term| &term.encoding);
    let terms = resolved.terms().map(|term| Term {
        coefficient: term.coefficient,
        encoding: encoding(&term.encoding.name.to_string(), &term.encoding, loaded),
    });
    Encoding {
        event: asked.to_owned(),
        name: resolved.name(),
        cpu: first.map(|event| event.cpu.name()),
        kind: first.map(|event| kind(event.kind)),
        terms: Some(terms.collect()),
        ..Encoding::default()
    }
}

fn encoding(asked: &str, event: &pacman_events::Encoding, loaded: &Loaded) -> Encoding {
    let counted = event.kind != Kind::Perf;
    let set = |set: CounterSet| counted.then(|| set.iter().collect());
    let netburst = event.netburst.as_ref();
    // Thread 0 in user mode, unless other rings were asked for.
    let user = event.rings.user || !event.rings.kernel;
    Encoding {
        event: asked.to_owned(),
        name: event.name.to_string(),
        cpu: Some(event.cpu.name()),
        kind: Some(kind(event.kind)),
        evtsel: has_selector(event.kind).then(|| hex(event.evtsel)),
        extra: counted.then(|| extra(event)),
        fixed: event.fixed,
        escr: netburst.map(|setup| hex(setup.escr(0, user, event.rings.kernel).into())),
        cccr: netburst.map(|setup| hex(setup.cccr().into())),
        escr_msr: netburst
            .map(|setup| setup.halves.map(|half| half.map(|choice| hex(choice.escr.msr().into())))),
        counters: set(event.counters),
        counters_smt_off: set(event.counters_smt_off),
        perf: event.perf.as_ref().map(|attr| perf(attr, loaded)),
        terms: None,
    }
}

fn extra(event: &pacman_events::Encoding) -> Vec<Extra> {
    let entry = |msr: u32, value: u64| Extra { msr: hex(msr.into()), value: hex(value) };
    let preferred = event
        .extra
        .iter()
        .filter_map(|extra| extra.choices().first().map(|choice| entry(choice.msr, extra.value)));
    let replay = event.netburst.iter().filter_map(|setup| setup.replay).flat_map(|replay| {
        [entry(0x3f1, replay.pebs_enable.into()), entry(0x3f2, replay.matrix_vert.into())]
    });
    preferred.chain(replay).collect()
}

fn perf(attr: &PerfAttr, loaded: &Loaded) -> Perf {
    Perf {
        r#type: loaded.perf_type(attr),
        config: hex(attr.config),
        config1: hex(attr.config1),
        config2: hex(attr.config2),
    }
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Amd => "amd",
        Kind::Arch => "arch",
        Kind::Fixed => "fixed",
        Kind::NetBurst => "netburst",
        Kind::Niagara => "niagara",
        _ => "perf",
    }
}

fn hex(value: u64) -> String {
    format!("{value:#x}")
}
