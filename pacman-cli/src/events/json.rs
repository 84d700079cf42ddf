//! The fixed JSON shape of an encoding: registers as "0x…" strings, null where a key
//! does not apply.

use pacman_events::encode::{Kind, PerfAttr};
use pacman_events::{CounterSet, ResolveError, Resolved};
use serde::Serialize;

use super::provenance::EventTable;
use super::register::has_selector;
use super::tables::Loaded;

/// The object of a name.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub(crate) enum Answer<'a> {
    Encoding(Box<Encoding>),
    Refusal(Refusal<'a>),
}

/// The encoding of an event, or of a sum of events.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Encoding<T = Option<Vec<Term>>> {
    /// Name as asked.
    event: String,
    /// The table's name.
    name: String,
    /// Name of the table.
    cpu: &'static str,
    /// Table that the event came from; null for a code, an event of the kernel or of a PMU in sysfs, and a sum of events,
    /// whose terms have theirs.
    table: Option<EventTable>,
    /// Family of encodings.
    kind: &'static str,
    /// Value of the selector.
    #[cfg_attr(test, schemars(extend("pattern" = r"^0x[0-9a-f]+$")))]
    evtsel: Option<String>,
    /// Extra registers.
    extra: Option<Vec<Extra>>,
    /// Number of the fixed counter.
    fixed: Option<u8>,
    /// Value of the ESCR.
    #[cfg_attr(test, schemars(extend("pattern" = r"^0x[0-9a-f]+$")))]
    escr: Option<String>,
    /// Value of the CCCR.
    #[cfg_attr(test, schemars(extend("pattern" = r"^0x[0-9a-f]+$")))]
    cccr: Option<String>,
    /// Register numbers of the ESCRs that can select it, one for each half.
    #[cfg_attr(test, schemars(inner(regex(pattern = r"^0x[0-9a-f]+$"))))]
    escr_msr: Option<[Option<String>; 2]>,
    /// Legal counters.
    counters: Option<Vec<u8>>,
    /// Legal counters with SMT off.
    counters_smt_off: Option<Vec<u8>>,
    /// Fields of `perf_event_attr`.
    perf: Option<Perf>,
    /// Terms of a sum; null for a single event and in a term.
    terms: T,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Extra {
    /// Number of the register.
    msr: String,
    /// Value of the register.
    value: String,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Perf {
    /// Number of the PMU; null if this system has none such.
    r#type: Option<u32>,
    /// Field `config`.
    #[cfg_attr(test, schemars(extend("pattern" = r"^0x[0-9a-f]+$")))]
    config: String,
    /// Field `config1`.
    #[cfg_attr(test, schemars(extend("pattern" = r"^0x[0-9a-f]+$")))]
    config1: String,
    /// Field `config2`.
    #[cfg_attr(test, schemars(extend("pattern" = r"^0x[0-9a-f]+$")))]
    config2: String,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Term {
    /// Factor of the term.
    coefficient: i64,
    /// Encoding of the event.
    encoding: Encoding<()>,
}

/// A name that is no event.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Refusal<'a> {
    /// Name as asked.
    event: &'a str,
    /// Reason for the refusal.
    error: String,
    /// Kind of the refusal.
    kind: &'static str,
    /// Similar names.
    nearest: &'a [String],
}

/// The object of a name that resolved.
pub(super) fn resolved(asked: &str, resolved: &Resolved, loaded: &Loaded) -> Answer<'static> {
    Answer::Encoding(Box::new(match resolved.encoding() {
        Some(event) => encoding(asked, event, loaded, None),
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
    let first = &resolved.terms().next().expect("a sum has terms").encoding;
    let terms = resolved.terms().map(|term| Term {
        coefficient: term.coefficient,
        encoding: encoding(&term.encoding.name.to_string(), &term.encoding, loaded, ()),
    });
    Encoding {
        event: asked.to_owned(),
        name: resolved.name(),
        cpu: first.cpu.name(),
        table: None,
        kind: kind(first.kind),
        evtsel: None,
        extra: None,
        fixed: None,
        escr: None,
        cccr: None,
        escr_msr: None,
        counters: None,
        counters_smt_off: None,
        perf: None,
        terms: Some(terms.collect()),
    }
}

fn encoding<T>(
    asked: &str,
    event: &pacman_events::Encoding,
    loaded: &Loaded,
    terms: T,
) -> Encoding<T> {
    let counted = event.kind != Kind::Perf;
    let set = |set: CounterSet| counted.then(|| set.iter().collect());
    let netburst = event.netburst.as_ref();
    // Thread 0 in user mode, unless other rings were asked for.
    let user = event.rings.user || !event.rings.kernel;
    Encoding {
        event: asked.to_owned(),
        name: event.name.to_string(),
        cpu: event.cpu.name(),
        table: EventTable::of(event, loaded),
        kind: kind(event.kind),
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
        terms,
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
        Kind::Code => "code",
        Kind::Fixed => "fixed",
        Kind::NetBurst => "netburst",
        Kind::Niagara => "niagara",
        _ => "perf",
    }
}

fn hex(value: u64) -> String {
    format!("{value:#x}")
}
